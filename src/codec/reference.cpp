#include "codec/reference.hpp"

#include <vector>

#include "base/text.hpp"
#include "codec/fill.hpp"
#include "codec/tree.hpp"

namespace tundish {
namespace {

enum class Shape { unseen, text, integer, flag, instant, enumerator, list, map, structure };

struct Schema {
  Shape shape = Shape::unseen;
  bool may_be_absent = false;
  std::string name;
  std::string doc;
  std::vector<std::string> names;  ///< of an enumerator
  std::vector<Schema> children;    ///< fields, or the one kind of item
};

/// A type may hold a list of itself; deeper than this only what is there is followed.
constexpr std::size_t forced_depth_max = 12;

class ToSchema final : public Sink {
 public:
  explicit ToSchema(Schema& root) : here_(&root) {}

  void begin(const FieldInfo& field) override {
    add();
    here_->name = field.name;
    here_->doc = field.doc;
  }
  void end() override {}
  void text(std::string&) override { here_->shape = Shape::text; }
  void integer(std::int64_t&) override { here_->shape = Shape::integer; }
  void flag(bool&) override { here_->shape = Shape::flag; }
  void instant(Instant&) override { here_->shape = Shape::instant; }
  void enumerator(int&, std::span<const std::string_view> names) override {
    here_->shape = Shape::enumerator;
    here_->names.assign(names.begin(), names.end());
  }
  bool present(bool has) override {
    here_->may_be_absent = true;
    return may_force() || has;
  }
  std::size_t begin_list(std::size_t size) override {
    open(Shape::list);
    return may_force() ? 1 : size;
  }
  void item(std::size_t) override { add(); }
  void end_list() override { open_.pop_back(); }
  std::vector<std::string> begin_map(std::vector<std::string> keys) override {
    open(Shape::map);
    return may_force() ? std::vector<std::string>{"*"} : keys;
  }
  void key(const std::string&) override { add(); }
  void end_map() override { open_.pop_back(); }
  void begin_struct() override { open(Shape::structure); }
  void end_struct() override { open_.pop_back(); }

 private:
  bool may_force() const { return open_.size() <= forced_depth_max; }
  void add() { here_ = &open_.back()->children.emplace_back(); }
  void open(Shape shape) {
    here_->shape = shape;
    open_.push_back(here_);
  }

  Schema* here_;
  std::vector<Schema*> open_;
};

Schema make_schema(const AnyDescribed& scratch) {
  const TreeNode before = to_tree(scratch);
  Schema root;
  ToSchema sink(root);
  walk(scratch, sink);
  restore(scratch, before);
  return root;
}

std::string type_text(const Schema& schema) {
  const auto item = [&] {
    return schema.children.empty() ? "more" : type_text(schema.children[0]);
  };
  std::string out;
  switch (schema.shape) {
    case Shape::unseen: out = "more"; break;
    case Shape::text: out = "text"; break;
    case Shape::integer: out = "integer"; break;
    case Shape::flag: out = "true or false"; break;
    case Shape::instant: out = "time"; break;
    case Shape::enumerator: out = join(schema.names, ", "); break;
    case Shape::list: out = "list of " + item(); break;
    case Shape::map: out = "map of " + item(); break;
    case Shape::structure: out = "object"; break;
  }
  return schema.may_be_absent ? out + ", optional" : out;
}

std::string table_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void add_rows(std::string& out, const Schema& schema, const std::string& path) {
  if (schema.shape == Shape::list || schema.shape == Shape::map) {
    const std::string inner = path + (schema.shape == Shape::list ? "[]" : ".*");
    for (const auto& child : schema.children) add_rows(out, child, inner);
    return;
  }
  if (schema.shape != Shape::structure) return;
  for (const auto& field : schema.children) {
    const std::string inner = path.empty() ? field.name : path + "." + field.name;
    out += "| `" + inner + "` | " + table_cell(type_text(field)) + " | " + table_cell(field.doc) +
           " |\n";
    add_rows(out, field, inner);
  }
}

TreeNode& put(TreeNode& map, std::string_view key, TreeKind kind) {
  TreeNode& node = map.children.emplace_back();
  node.key = key;
  node.kind = kind;
  return node;
}

void put_text(TreeNode& map, std::string_view key, std::string_view text) {
  put(map, key, TreeKind::text).text = text;
}

void put_type(TreeNode& out, const Schema& schema, std::string_view type) {
  if (!schema.may_be_absent) return put_text(out, "type", type);
  TreeNode& types = put(out, "type", TreeKind::list);
  put_text(types, "", type);
  put_text(types, "", "null");
}

void put_names(TreeNode& out, const Schema& schema) {
  TreeNode& names = put(out, "enum", TreeKind::list);
  for (const auto& name : schema.names) {
    if (!name.empty()) put_text(names, "", name);
  }
  if (schema.may_be_absent) put(names, "", TreeKind::null);
}

void put_schema(TreeNode& out, const Schema& schema);

void put_item(TreeNode& out, const Schema& schema, std::string_view key) {
  TreeNode& item = put(out, key, TreeKind::map);
  if (!schema.children.empty()) put_schema(item, schema.children[0]);
}

void put_fields(TreeNode& out, const Schema& schema) {
  TreeNode& properties = put(out, "properties", TreeKind::map);
  for (const auto& field : schema.children) {
    put_schema(put(properties, field.name, TreeKind::map), field);
  }
  put(out, "additionalProperties", TreeKind::flag);
}

void put_schema(TreeNode& out, const Schema& schema) {
  out.kind = TreeKind::map;
  if (!schema.doc.empty()) put_text(out, "description", schema.doc);
  switch (schema.shape) {
    case Shape::unseen: break;
    case Shape::text: put_type(out, schema, "string"); break;
    case Shape::flag: put_type(out, schema, "boolean"); break;
    case Shape::integer:
      put_type(out, schema, "integer");
      put_text(out, "format", "int64");
      break;
    case Shape::instant:
      put_type(out, schema, "string");
      put_text(out, "format", "date-time");
      break;
    case Shape::enumerator:
      put_type(out, schema, "string");
      put_names(out, schema);
      break;
    case Shape::list:
      put_type(out, schema, "array");
      put_item(out, schema, "items");
      break;
    case Shape::map:
      put_type(out, schema, "object");
      put_item(out, schema, "additionalProperties");
      break;
    case Shape::structure:
      put_type(out, schema, "object");
      put_fields(out, schema);
      break;
  }
}

}  // namespace

std::string render_reference(std::string_view type_name, AnyDescribed scratch) {
  std::string out = "## " + std::string(type_name) + "\n\n";
  out += "| Field | Type | Meaning |\n|---|---|---|\n";
  add_rows(out, make_schema(scratch), "");
  return out;
}

std::string render_openapi_schema(AnyDescribed scratch, int indent) {
  TreeNode out;
  put_schema(out, make_schema(scratch));
  return render_tree(out, indent);
}

}  // namespace tundish
