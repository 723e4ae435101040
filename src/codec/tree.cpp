#include "codec/tree.hpp"

#include <algorithm>

#include "codec/instant_text.hpp"

namespace tundish {
namespace {

class ToTree final : public Sink {
 public:
  explicit ToTree(TreeNode& root) : here_(&root) {}

  void begin(const FieldInfo& field) override { add().key = field.name; }
  void end() override {}
  void text(std::string& value) override {
    here_->kind = TreeKind::text;
    here_->text = value;
  }
  void integer(std::int64_t& value) override { set(TreeKind::integer, value); }
  void flag(bool& value) override { set(TreeKind::flag, value ? 1 : 0); }
  void instant(Instant& value) override { set(TreeKind::instant, value.us); }
  void enumerator(int& value, std::span<const std::string_view> names) override {
    set(TreeKind::enumerator, value);
    const bool named = value >= 0 && static_cast<std::size_t>(value) < names.size();
    here_->text =
        named ? std::string(names[static_cast<std::size_t>(value)]) : std::to_string(value);
  }
  bool present(bool has) override { return has; }
  std::size_t begin_list(std::size_t size) override {
    open(TreeKind::list);
    here_->children.reserve(size);
    return size;
  }
  void item(std::size_t) override { add(); }
  void end_list() override { open_.pop_back(); }
  std::vector<std::string> begin_map(std::vector<std::string> keys) override {
    open(TreeKind::map);
    return keys;
  }
  void key(const std::string& name) override { add().key = name; }
  void end_map() override { open_.pop_back(); }
  void begin_struct() override { open(TreeKind::map); }
  void end_struct() override { open_.pop_back(); }

 private:
  TreeNode& add() {
    here_ = &open_.back()->children.emplace_back();
    return *here_;
  }
  void set(TreeKind kind, std::int64_t value) {
    here_->kind = kind;
    here_->integer = value;
  }
  void open(TreeKind kind) {
    here_->kind = kind;
    open_.push_back(here_);
  }

  TreeNode* here_;
  /// Only ancestors of `here_`: their addresses hold while a child grows.
  std::vector<TreeNode*> open_;
};

}  // namespace

const TreeNode* TreeNode::find(std::string_view name) const {
  if (kind != TreeKind::map) return nullptr;
  for (const auto& child : children) {
    if (child.key == name) return &child;
  }
  return nullptr;
}

void walk(const AnyDescribed& object, Sink& sink) {
  Fields fields(sink);
  sink.begin_struct();
  object.fields(fields);
  sink.end_struct();
}

TreeNode to_tree(const AnyDescribed& object) {
  TreeNode root;
  ToTree sink(root);
  walk(object, sink);
  return root;
}

const TreeNode* find_repeated_key(const TreeNode& map) {
  std::vector<const TreeNode*> sorted;
  sorted.reserve(map.children.size());
  for (const auto& child : map.children) sorted.push_back(&child);
  const auto less = [](const TreeNode* a, const TreeNode* b) { return a->key < b->key; };
  std::stable_sort(sorted.begin(), sorted.end(), less);
  const auto same = [](const TreeNode* a, const TreeNode* b) { return a->key == b->key; };
  const auto at = std::adjacent_find(sorted.begin(), sorted.end(), same);
  return at == sorted.end() ? nullptr : *std::next(at);
}

std::string scalar_text(const TreeNode& node) {
  switch (node.kind) {
    case TreeKind::flag: return node.integer != 0 ? "true" : "false";
    case TreeKind::integer: return std::to_string(node.integer);
    case TreeKind::instant: return render_instant(Instant{node.integer});
    case TreeKind::real:
    case TreeKind::text:
    case TreeKind::plain:
    case TreeKind::enumerator: return node.text;
    case TreeKind::null:
    case TreeKind::list:
    case TreeKind::map: break;
  }
  return "";
}

}  // namespace tundish
