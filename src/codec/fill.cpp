#include "codec/fill.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "codec/instant_text.hpp"

namespace tundish {
namespace {

std::string_view article_and_kind(TreeKind kind) {
  switch (kind) {
    case TreeKind::null: return "null";
    case TreeKind::flag: return "a flag";
    case TreeKind::integer: return "an integer";
    case TreeKind::real: return "a number";
    case TreeKind::list: return "a list";
    case TreeKind::map: return "an object";
    case TreeKind::text:
    case TreeKind::plain:
    case TreeKind::instant:
    case TreeKind::enumerator: break;
  }
  return "text";
}

std::string found(const TreeNode& node) {
  std::string out(article_and_kind(node.kind));
  const std::string value = scalar_text(node);
  if (!value.empty() && value.size() <= 40) out += " " + value;
  return out;
}

/// An unquoted 010 is 8 to some YAML readers and 10 to others, so it is no integer here.
std::optional<std::int64_t> integer_of(const TreeNode& node) {
  if (node.kind == TreeKind::integer) return node.integer;
  if (node.kind != TreeKind::plain) return std::nullopt;
  const std::size_t digits_at = node.text.starts_with('-') ? 1 : 0;
  if (node.text.size() > digits_at + 1 && node.text[digits_at] == '0') return std::nullopt;
  return parse_integer(node.text);
}

/// "2 min", "15m", "1,000": what people write where a plain number is meant.
std::string number_remedy(const TreeNode& node) {
  const bool begins = !node.text.empty() && node.text[0] >= '0' && node.text[0] <= '9';
  if (!begins || node.text.find_first_not_of("0123456789") == std::string::npos) return "";
  return "write digits only; the unit is the end of the field's name, as _s for seconds";
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

std::string name_list(std::span<const std::string_view> names) {
  std::vector<std::string> parts;
  for (const auto name : names) {
    if (!name.empty()) parts.emplace_back(name);
  }
  return join(parts, ", ");
}

std::string unknown_remedy(std::string_view name, std::span<const std::string_view> known) {
  if (known.empty()) return "no field is allowed here";
  constexpr std::size_t name_size_max = 64;  // bounds the work that a hostile name can cause
  std::string_view nearest;
  std::size_t nearest_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const auto candidate : known) {
    if (name.size() > name_size_max) break;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < nearest_distance) {
      nearest = candidate;
      nearest_distance = distance;
    }
  }
  if (nearest.empty()) return "valid fields: " + name_list(known);
  return "did you mean \"" + std::string(nearest) + "\"?";
}

/// Follows the document while a description is walked. A node that the document lacks, or that is
/// of another shape than the description, is nullptr.
class Cursor : public Sink {
 public:
  Cursor(const TreeNode& document, std::string_view file_name)
      : here_(&document), file_name_(file_name) {}

  std::optional<Error>& error() { return error_; }

  void begin(const FieldInfo& field) override {
    frames_.back().known.push_back(field.name);
    step({Step::In::structure, field.name});
    here_ = parent() != nullptr ? parent()->find(field.name) : nullptr;
  }
  void end() override {}
  void text(std::string&) override {}
  void integer(std::int64_t&) override {}
  void flag(bool&) override {}
  void instant(Instant&) override {}
  void enumerator(int&, std::span<const std::string_view>) override {}
  bool present(bool has) override { return has; }
  std::size_t begin_list(std::size_t size) override {
    open(TreeKind::list);
    return size;
  }
  void item(std::size_t index) override {
    step({Step::In::list, {}, index});
    const bool given = parent() != nullptr && index < parent()->children.size();
    here_ = given ? &parent()->children[index] : nullptr;
  }
  void end_list() override { frames_.pop_back(); }
  std::vector<std::string> begin_map(std::vector<std::string> keys) override {
    open(TreeKind::map);
    return keys;
  }
  void key(const std::string& name) override {
    step({Step::In::map, name});
    // Asked for in the order in which begin_map gave them: no search, maps may be large.
    const std::size_t index = frames_.back().next++;
    const bool given = parent() != nullptr && index < parent()->children.size() &&
                       parent()->children[index].key == name;
    here_ = given ? &parent()->children[index] : nullptr;
  }
  void end_map() override { frames_.pop_back(); }
  void begin_struct() override { open(TreeKind::map); }
  void end_struct() override { frames_.pop_back(); }

 protected:
  struct Step {
    enum class In { structure, list, map };
    In in;
    std::string_view name;
    std::size_t index = 0;
  };
  struct Frame {
    const TreeNode* node;
    std::size_t path_size;
    std::vector<std::string_view> known;
    std::size_t next = 0;
  };

  /// The document's value for what is visited next.
  const TreeNode* here() const { return error_ ? nullptr : here_; }
  const TreeNode* parent() const { return frames_.back().node; }
  const Frame& frame() const { return frames_.back(); }
  const std::vector<Step>& path() const { return path_; }

  std::string path_text(std::size_t size) const {
    std::string out;
    for (const auto& part : std::span(path_).first(size)) {
      if (part.in == Step::In::list) {
        out += "[" + std::to_string(part.index) + "]";
      } else {
        if (!out.empty()) out += '.';
        out += part.name;
      }
    }
    return out;
  }

  void fail(const TreeNode& at, const std::string& what, std::string remedy) {
    if (error_) return;
    std::string place;
    if (!file_name_.empty()) {
      place = std::string(file_name_) + ":" + std::to_string(at.line) + ":" +
              std::to_string(at.column) + ": ";
    }
    error_ = make_error(Code::invalid, place + what).with_remedy(std::move(remedy));
  }
  void fail_here(const std::string& what, std::string remedy = {}) {
    const std::string where = path_text(path_.size());
    fail(*here(), (where.empty() ? "the document" : where) + ": " + what, std::move(remedy));
  }
  void expected(std::string_view what, std::string remedy = {}) {
    fail_here("expected " + std::string(what) + ", found " + found(*here()), std::move(remedy));
  }

 private:
  void open(TreeKind kind) {
    const bool fits = here() != nullptr && here()->kind == kind;
    frames_.push_back({fits ? here() : nullptr, path_.size(), {}, 0});
  }
  void step(Step next) {
    path_.resize(frames_.back().path_size);
    path_.push_back(next);
  }

  const TreeNode* here_;
  std::string_view file_name_;
  std::vector<Frame> frames_;
  std::vector<Step> path_;
  std::optional<Error> error_;
};

/// Empties every list and map that the document replaces, so that a new item does not inherit from
/// the old one at its place.
class Clear final : public Cursor {
 public:
  using Cursor::Cursor;
  std::size_t begin_list(std::size_t size) override {
    const std::size_t kept = Cursor::begin_list(size);
    return parent() != nullptr ? 0 : kept;
  }
  std::vector<std::string> begin_map(std::vector<std::string> keys) override {
    auto kept = Cursor::begin_map(std::move(keys));
    return parent() != nullptr ? std::vector<std::string>() : kept;
  }
};

/// A Sink sees every integer as 64 bits wide; a field of 32 bits shows only after the fact.
class VerifyIntegers final : public Cursor {
 public:
  using Cursor::Cursor;
  void integer(std::int64_t& value) override {
    if (here() == nullptr || integer_of(*here()) == value) return;
    fail_here("expected an integer of 32 bits, found " + found(*here()));
  }
};

class Read final : public Cursor {
 public:
  Read(const TreeNode& document, const FillOptions& options)
      : Cursor(document, options.file_name), unknown_(options.unknown), kept_(options.kept) {}

  bool saw_wide_integer() const { return saw_wide_integer_; }

  void text(std::string& value) override {
    if (here() == nullptr) return;
    if (here()->kind != TreeKind::text && here()->kind != TreeKind::plain) {
      expected("text", here()->kind == TreeKind::null ? "write \"\" for empty text" : "");
    } else {
      value = here()->text;
    }
  }
  void integer(std::int64_t& value) override {
    if (here() == nullptr) return;
    const auto given = integer_of(*here());
    if (!given) return expected("an integer of 64 bits", number_remedy(*here()));
    value = *given;
    using Narrow = std::numeric_limits<std::int32_t>;
    if (*given < Narrow::min() || *given > Narrow::max()) saw_wide_integer_ = true;
  }
  void flag(bool& value) override {
    if (here() == nullptr) return;
    const TreeNode& node = *here();
    if (node.kind == TreeKind::flag) {
      value = node.integer != 0;
    } else if (node.kind == TreeKind::plain && (node.text == "true" || node.text == "false")) {
      value = node.text == "true";
    } else {
      expected("true or false");
    }
  }
  void instant(Instant& value) override {
    if (here() == nullptr) return;
    if (here()->kind == TreeKind::instant) {
      value = Instant{here()->integer};
      return;
    }
    const bool is_text = here()->kind == TreeKind::text || here()->kind == TreeKind::plain;
    const auto given = is_text ? parse_instant(here()->text) : std::nullopt;
    if (!given) return expected("a time", "write it as 2026-11-30T08:00:00Z");
    value = *given;
  }
  void enumerator(int& value, std::span<const std::string_view> names) override {
    if (here() == nullptr) return;
    const TreeNode& node = *here();
    if (node.kind == TreeKind::enumerator) {
      value = static_cast<int>(node.integer);
      return;
    }
    const bool is_text = node.kind == TreeKind::text || node.kind == TreeKind::plain;
    const auto at = std::find(names.begin(), names.end(), std::string_view(node.text));
    if (is_text && !node.text.empty() && at != names.end()) {
      value = static_cast<int>(at - names.begin());
    } else if (is_text && !node.text.empty() && unknown_ == Unknown::keep_out) {
      take_unknown_word(node, value, names);
    } else {
      expected("one of " + name_list(names));
    }
  }
  bool present(bool has) override {
    return here() != nullptr ? here()->kind != TreeKind::null : has;
  }
  std::size_t begin_list(std::size_t size) override {
    require(TreeKind::list);
    Cursor::begin_list(size);
    return parent() != nullptr ? parent()->children.size() : size;
  }
  std::vector<std::string> begin_map(std::vector<std::string> keys) override {
    require(TreeKind::map);
    keys = Cursor::begin_map(std::move(keys));
    if (parent() == nullptr) return keys;
    keys.clear();
    for (const auto& child : parent()->children) keys.push_back(child.key);
    return keys;
  }
  void begin_struct() override {
    require(TreeKind::map);
    Cursor::begin_struct();
  }
  void end_struct() override {
    if (parent() != nullptr && !error()) find_unknown();
    Cursor::end_struct();
  }

 private:
  void require(TreeKind kind) {
    if (here() != nullptr && here()->kind != kind) expected(article_and_kind(kind));
  }
  /// A word of a newer version: read as "unknown" where the enum has that word, else as what the
  /// field starts with. The word itself is kept, and stands again as long as the field is not set.
  void take_unknown_word(const TreeNode& node, int& value,
                         std::span<const std::string_view> names) {
    const auto unknown = std::find(names.begin(), names.end(), std::string_view("unknown"));
    if (unknown != names.end()) value = static_cast<int>(unknown - names.begin());
    if (kept_ == nullptr || value < 0 || static_cast<std::size_t>(value) >= names.size()) return;
    TreeNode word;
    word.kind = TreeKind::map;
    word.key = node.key;
    for (const auto& [name, text] :
         {std::pair{unknown_word_key, node.text},
          std::pair{read_as_key, std::string(names[static_cast<std::size_t>(value)])}}) {
      TreeNode& part = word.children.emplace_back();
      part.kind = TreeKind::text;
      part.key = name;
      part.text = text;
    }
    keep(word, path().size() - 1);
  }
  void find_unknown() {
    const auto& known = frame().known;
    for (const auto& child : parent()->children) {
      if (std::find(known.begin(), known.end(), child.key) != known.end()) continue;
      if (unknown_ == Unknown::refuse) return refuse(child);
      if (kept_ != nullptr) keep(child, frame().path_size);
    }
  }
  void refuse(const TreeNode& child) {
    std::string where = path_text(frame().path_size);
    if (!where.empty()) where += '.';
    fail(child, where + child.key + ": unknown field", unknown_remedy(child.key, frame().known));
  }
  /// Not inside lists and maps: an item may have moved or gone by the time of the merge.
  void keep(const TreeNode& child, std::size_t depth) {
    const auto above = std::span(path()).first(depth);
    const auto moves = [](const Step& step) { return step.in != Step::In::structure; };
    if (std::any_of(above.begin(), above.end(), moves)) return;
    TreeNode* into = kept_;
    for (const auto& step : above) {
      const auto same = [&](const TreeNode& node) { return node.key == step.name; };
      auto at = std::find_if(into->children.begin(), into->children.end(), same);
      if (at == into->children.end()) {
        at = into->children.emplace(at);
        at->kind = TreeKind::map;
        at->key = step.name;
      }
      into = &*at;
    }
    into->children.push_back(child);
  }

  Unknown unknown_;
  TreeNode* kept_;
  bool saw_wide_integer_ = false;
};

}  // namespace

Result<> fill(const AnyDescribed& into, const TreeNode& document, const FillOptions& options) {
  const TreeNode before = to_tree(into);
  Clear clear(document, {});
  walk(into, clear);
  Read read(document, options);
  walk(into, read);
  auto error = read.error();
  if (!error && read.saw_wide_integer()) {
    VerifyIntegers verify(document, options.file_name);
    walk(into, verify);
    error = verify.error();
  }
  if (!error) return {};
  // A description cannot be walked without being written to, so the old state is put back.
  restore(into, before);
  return std::move(*error);
}

void restore(const AnyDescribed& into, const TreeNode& before) {
  Clear clear(before, {});
  walk(into, clear);
  Read read(before, {});
  walk(into, read);
}

}  // namespace tundish
