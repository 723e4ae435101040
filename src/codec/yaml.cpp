#include "codec/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <istream>
#include <optional>
#include <sstream>

#include "base/text.hpp"
#include "codec/fill.hpp"
#include "codec/tree.hpp"
#include "codec/utf8.hpp"
#include "codec/yaml_place.hpp"

namespace tundish {
namespace {

/// Builds the tree from events: yaml-cpp's own tree drops repeated keys and scalar styles.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(TreeNode& root) : root_(&root) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (wants_key()) fail(mark, "a key is missing");
    add(mark, TreeKind::null);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark, "aliases (*name) are not taken; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    if (wants_key()) {
      key_ = Key{value, mark};
      return;
    }
    const bool plain = tag == "?" || tag.empty();
    if (!plain && tag != "!" && tag != "tag:yaml.org,2002:str") {
      fail(mark, "tag " + tag + " is not taken; the field decides the type");
    }
    add(mark, plain ? TreeKind::plain : TreeKind::text).text = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, TreeKind::list);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, TreeKind::map);
  }
  void OnMapEnd() override {
    const TreeNode* repeated = find_repeated_key(*open_.back());
    if (repeated != nullptr) {
      YAML::Mark mark;
      mark.line = repeated->line - 1;
      mark.column = repeated->column - 1;
      fail(mark, "field \"" + repeated->key + "\" is given twice");
    }
    open_.pop_back();
  }

 private:
  struct Key {
    std::string text;
    YAML::Mark mark;
  };

  bool wants_key() const { return !open_.empty() && open_.back()->kind == TreeKind::map && !key_; }
  TreeNode& add(const YAML::Mark& mark, TreeKind kind) {
    TreeNode& node = open_.empty() ? *root_ : open_.back()->children.emplace_back();
    // A member is reported where its key stands: that is what people search for.
    const YAML::Mark& place = key_ ? key_->mark : mark;
    node.kind = kind;
    node.line = place.line + 1;
    node.column = place.column + 1;
    if (key_) node.key = std::move(key_->text);
    key_.reset();
    return node;
  }
  void open(const YAML::Mark& mark, TreeKind kind) {
    if (wants_key()) fail(mark, "a key must be a text");
    if (open_.size() >= tree_depth_max) fail(mark, "nested deeper than 64 levels");
    open_.push_back(&add(mark, kind));
  }
  /// The only way to stop yaml-cpp between events; caught in parse_tree.
  [[noreturn]] static void fail(const YAML::Mark& mark, const std::string& what) {
    throw YAML::ParserException(mark, what);
  }

  TreeNode* root_;
  std::vector<TreeNode*> open_;
  std::optional<Key> key_;
};

class NoEvents final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    throw YAML::ParserException(mark, "a second document; give one per file");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

Error fault_at(std::string_view file_name, const YAML::Mark& mark, const std::string& what) {
  const auto place = [](int value) { return std::to_string(std::max(value, 0) + 1); };
  return make_error(Code::invalid, std::string(file_name) + ":" + place(mark.line) + ":" +
                                       place(mark.column) + ": " + what);
}

YAML::Mark mark_of(std::string_view text, std::size_t offset) {
  YAML::Mark mark;
  const auto before = text.substr(0, offset);
  const auto line_start = before.rfind('\n') + 1;
  mark.line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  mark.column = static_cast<int>(offset - line_start);
  return mark;
}

Result<TreeNode> parse_tree(std::string_view text, std::string_view file_name) {
  if (const auto offset = find_invalid_utf8(text)) {
    return fault_at(file_name, mark_of(text, *offset), "not UTF-8")
        .with_remedy("save the file as UTF-8");
  }
  if (const auto offset = text.find('\0'); offset != text.npos) {
    return fault_at(file_name, mark_of(text, offset), "a zero byte in the text");
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeNode root;
    TreeBuilder builder(root);
    if (!parser.HandleNextDocument(builder)) {
      return make_error(Code::invalid, std::string(file_name) + ": the file is empty");
    }
    NoEvents rest;
    parser.HandleNextDocument(rest);
    return root;
  } catch (const YAML::Exception& error) {
    return fault_at(file_name, error.mark, error.msg);
  } catch (const std::exception& error) {
    return make_error(Code::invalid, std::string(file_name) + ": " + error.what());
  }
}

/// Whether every YAML reader takes the unquoted text for a text.
bool is_plain_safe(std::string_view text) {
  constexpr std::array<std::string_view, 9> words{"true", "false", "yes", "no", "on",
                                                  "off",  "null",  "y",   "n"};
  const std::string lower = to_lower(text);
  if (std::find(words.begin(), words.end(), lower) != words.end()) return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  if (lower.empty() || !letter(lower.front())) return false;
  return std::all_of(lower.begin(), lower.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
  });
}

void emit_text(YAML::Emitter& out, const std::string& text) {
  if (!is_plain_safe(text)) out << YAML::DoubleQuoted;
  out << text;
}

void emit(YAML::Emitter& out, const TreeNode& node) {
  switch (node.kind) {
    case TreeKind::null: out << YAML::Null; return;
    case TreeKind::flag:
    case TreeKind::integer:
    case TreeKind::real: out << scalar_text(node); return;
    case TreeKind::text:
    case TreeKind::plain:
    case TreeKind::instant:
    case TreeKind::enumerator: emit_text(out, scalar_text(node)); return;
    case TreeKind::list:
      out << YAML::BeginSeq;
      for (const auto& child : node.children) emit(out, child);
      out << YAML::EndSeq;
      return;
    case TreeKind::map: break;
  }
  out << YAML::BeginMap;
  for (const auto& child : node.children) {
    out << YAML::Key;
    emit_text(out, child.key);
    out << YAML::Value;
    emit(out, child);
  }
  out << YAML::EndMap;
}

}  // namespace

Result<> parse_yaml(std::string_view text, AnyDescribed into, std::string_view file_name) {
  const TreeNode document = TRY(parse_tree(text, file_name));
  FillOptions options;
  options.file_name = file_name;
  return fill(into, document, options);
}

std::string render_yaml(AnyDescribed object) {
  YAML::Emitter out;
  emit(out, to_tree(object));
  return std::string(out.c_str()) + "\n";
}

std::string yaml_place(std::string_view text, std::string_view file,
                       const std::vector<std::string>& path) {
  const auto document = parse_tree(text, file);
  const std::string name(file);
  if (!document) return name + ": ";
  const TreeNode* at = &*document;
  int line = at->line;
  for (const auto& step : path) {
    const auto index = parse_integer(step);
    const bool in_list = at->kind == TreeKind::list && index && *index >= 0 &&
                         static_cast<std::size_t>(*index) < at->children.size();
    at = in_list ? &at->children[static_cast<std::size_t>(*index)] : at->find(step);
    if (at == nullptr) break;
    line = at->line;
  }
  return name + ":" + std::to_string(line) + ": ";
}

}  // namespace tundish
