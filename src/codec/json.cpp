#include "codec/json.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "codec/fill.hpp"
#include "codec/tree.hpp"

namespace tundish {
namespace {

using Json = nlohmann::ordered_json;

/// Builds the tree while nlohmann reads: its own tree would drop repeated keys silently.
class TreeBuilder {
 public:
  explicit TreeBuilder(TreeNode& root) : root_(&root) {}

  const std::string& fault() const { return fault_; }

  bool null() { return add(TreeKind::null) != nullptr; }
  bool boolean(bool value) { return number(TreeKind::flag, value ? 1 : 0, {}); }
  bool number_integer(std::int64_t value) { return number(TreeKind::integer, value, {}); }
  bool number_unsigned(std::uint64_t value) {
    const bool fits = value <= std::numeric_limits<std::int64_t>::max();
    return fits ? number(TreeKind::integer, static_cast<std::int64_t>(value), {})
                : number(TreeKind::real, 0, std::to_string(value));
  }
  bool number_float(double, const std::string& digits) { return number(TreeKind::real, 0, digits); }
  bool string(std::string& value) {
    TreeNode* node = add(TreeKind::text);
    node->text = std::move(value);
    return true;
  }
  bool binary(Json::binary_t&) { return fail("binary values are not JSON"); }
  bool start_object(std::size_t) { return open(TreeKind::map); }
  bool key(std::string& value) {
    key_ = std::move(value);
    return true;
  }
  bool end_object() {
    const TreeNode* repeated = find_repeated_key(*open_.back());
    if (repeated != nullptr) return fail("field \"" + repeated->key + "\" is given twice");
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) { return open(TreeKind::list); }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    const std::string_view what = error.what();
    const auto tag_end = what.find("] ");  // "[json.exception.parse_error.101] "
    return fail(std::string(tag_end == what.npos ? what : what.substr(tag_end + 2)));
  }

 private:
  TreeNode* add(TreeKind kind) {
    TreeNode* node = open_.empty() ? root_ : &open_.back()->children.emplace_back();
    node->kind = kind;
    node->key = std::exchange(key_, {});
    return node;
  }
  bool number(TreeKind kind, std::int64_t value, std::string digits) {
    TreeNode* node = add(kind);
    node->integer = value;
    node->text = std::move(digits);
    return true;
  }
  bool open(TreeKind kind) {
    if (open_.size() >= tree_depth_max) return fail("nested deeper than 64 levels");
    open_.push_back(add(kind));
    return true;
  }
  bool fail(std::string what) {
    fault_ = std::move(what);
    return false;
  }

  TreeNode* root_;
  std::vector<TreeNode*> open_;
  std::string key_;
  std::string fault_;
};

/// The message quotes the input's last token, which may be any bytes.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) out += (c >= ' ' && c <= '~') ? c : '?';
  return out;
}

Result<TreeNode> parse_tree(std::string_view text) {
  // nlohmann takes a zero byte for the end of the input and would accept what follows.
  if (text.find('\0') != text.npos) {
    return make_error(Code::invalid, "not valid JSON: a zero byte in the text");
  }
  TreeNode root;
  TreeBuilder builder(root);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    return make_error(Code::invalid, "not valid JSON: " + printable(builder.fault()));
  }
  return root;
}

void append_quoted(std::string& out, std::string_view text) {
  const bool simple = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (simple) {
    out.append("\"").append(text).append("\"");
  } else {
    out += Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const TreeNode& node, int depth) {
    switch (node.kind) {
      case TreeKind::null: text_ += "null"; break;
      case TreeKind::flag:
      case TreeKind::integer:
      case TreeKind::real: text_ += scalar_text(node); break;
      case TreeKind::text:
      case TreeKind::plain:
      case TreeKind::instant:
      case TreeKind::enumerator: append_quoted(text_, scalar_text(node)); break;
      case TreeKind::list: container(node, depth, "[]"); break;
      case TreeKind::map: container(node, depth, "{}"); break;
    }
  }

  std::string take() { return std::move(text_); }

 private:
  void container(const TreeNode& node, int depth, std::string_view brackets) {
    text_ += brackets[0];
    bool first = true;
    for (const auto& child : node.children) {
      if (!first) text_ += ',';
      first = false;
      new_line(depth + 1);
      if (node.kind == TreeKind::map) {
        append_quoted(text_, child.key);
        text_ += indent_ < 0 ? ":" : ": ";
      }
      write(child, depth + 1);
    }
    if (!first) new_line(depth);
    text_ += brackets[1];
  }
  void new_line(int depth) {
    if (indent_ < 0) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_ * depth), ' ');
  }

  int indent_;
  std::string text_;
};

/// A word that this version does not know, and what the field was read as.
bool is_unknown_word(const TreeNode& kept) {
  return kept.kind == TreeKind::map && kept.find(unknown_word_key) != nullptr &&
         kept.find(read_as_key) != nullptr;
}

/// Adds what `into` lacks; true when something was added.
bool add_missing(TreeNode& into, const TreeNode& from) {
  bool added = false;
  for (const auto& child : from.children) {
    const auto same = [&](const TreeNode& mine) { return mine.key == child.key; };
    const auto mine = std::find_if(into.children.begin(), into.children.end(), same);
    if (is_unknown_word(child)) {
      const bool untouched = mine != into.children.end() && mine->kind == TreeKind::text &&
                             mine->text == child.find(read_as_key)->text;
      if (!untouched) continue;
      mine->text = child.find(unknown_word_key)->text;
      added = true;
    } else if (mine == into.children.end()) {
      into.children.push_back(child);
      added = true;
    } else if (mine->kind == TreeKind::map && child.kind == TreeKind::map) {
      added = add_missing(*mine, child) || added;
    }
  }
  return added;
}

}  // namespace

std::string render_tree(const TreeNode& node, int indent) {
  Writer writer(indent);
  writer.write(node, 0);
  return writer.take();
}

std::string render_json(AnyDescribed object, int indent) {
  return render_tree(to_tree(object), indent);
}

std::string render_json_list(const std::vector<AnyDescribed>& objects, int indent) {
  TreeNode list;
  list.kind = TreeKind::list;
  list.children.reserve(objects.size());
  for (const auto& object : objects) list.children.push_back(to_tree(object));
  return render_tree(list, indent);
}

Result<> parse_json(std::string_view text, AnyDescribed into, Unknown unknown, std::string* kept) {
  const TreeNode document = TRY(parse_tree(text));
  TreeNode unknown_members;
  unknown_members.kind = TreeKind::map;
  FillOptions options;
  options.unknown = unknown;
  options.kept = kept != nullptr ? &unknown_members : nullptr;
  TRY_VOID(fill(into, document, options));
  if (kept != nullptr) {
    *kept = unknown_members.children.empty() ? "" : render_tree(unknown_members, -1);
  }
  return {};
}

std::string merge_json(std::string_view object, std::string_view kept) {
  if (kept.empty()) return std::string(object);
  auto mine = parse_tree(object);
  const auto other = parse_tree(kept);
  const bool usable = mine && other && mine->kind == TreeKind::map && other->kind == TreeKind::map;
  if (!usable || !add_missing(*mine, *other)) return std::string(object);
  return render_tree(*mine, -1);
}

Result<JsonValue> JsonValue::parse(std::string_view text) {
  auto root = std::make_shared<const TreeNode>(TRY(parse_tree(text)));
  const TreeNode* node = root.get();
  return JsonValue(std::move(root), node);
}

JsonValue::Kind JsonValue::kind() const {
  if (node_ == nullptr) return Kind::absent;
  switch (node_->kind) {
    case TreeKind::null: return Kind::null;
    case TreeKind::flag: return Kind::flag;
    case TreeKind::integer: return Kind::integer;
    case TreeKind::real: return Kind::real;
    case TreeKind::list: return Kind::list;
    case TreeKind::map: return Kind::object;
    case TreeKind::text:
    case TreeKind::plain:
    case TreeKind::instant:
    case TreeKind::enumerator: break;
  }
  return Kind::text;
}

JsonValue JsonValue::at(std::string_view key) const {
  return {root_, node_ != nullptr ? node_->find(key) : nullptr};
}

JsonValue JsonValue::at(std::size_t index) const {
  return {root_, index < size() ? &node_->children[index] : nullptr};
}

std::size_t JsonValue::size() const { return node_ != nullptr ? node_->children.size() : 0; }

std::vector<JsonValue> JsonValue::items() const {
  std::vector<JsonValue> out;
  for (std::size_t i = 0; i < size(); ++i) out.push_back(at(i));
  return out;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  std::vector<std::pair<std::string, JsonValue>> out;
  if (kind() != Kind::object) return out;
  for (const auto& child : node_->children) out.emplace_back(child.key, JsonValue(root_, &child));
  return out;
}

std::optional<std::string> JsonValue::as_text() const {
  if (kind() != Kind::text) return std::nullopt;
  return node_->text;
}

std::optional<std::int64_t> JsonValue::as_integer() const {
  if (kind() != Kind::integer) return std::nullopt;
  return node_->integer;
}

std::optional<bool> JsonValue::as_flag() const {
  if (kind() != Kind::flag) return std::nullopt;
  return node_->integer != 0;
}

std::optional<double> JsonValue::as_real() const {
  if (kind() == Kind::integer) return static_cast<double>(node_->integer);
  if (kind() != Kind::real) return std::nullopt;
  return std::strtod(node_->text.c_str(), nullptr);
}

std::string JsonValue::render(int indent) const {
  return node_ != nullptr ? render_tree(*node_, indent) : "";
}

}  // namespace tundish
