#include "codec/columns.hpp"

#include <map>

#include "codec/tree.hpp"

namespace tundish {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

void add_lines(Lines& out, const TreeNode& node, const std::string& path) {
  if (node.kind == TreeKind::null) return;
  if (node.kind != TreeKind::list && node.kind != TreeKind::map) {
    out.emplace_back(path, scalar_text(node));
    return;
  }
  std::size_t index = 0;
  for (const auto& child : node.children) {
    if (node.kind == TreeKind::list) {
      add_lines(out, child, path + "[" + std::to_string(index++) + "]");
    } else {
      add_lines(out, child, path.empty() ? child.key : path + "." + child.key);
    }
  }
}

std::string shown(const std::string& value) { return value.empty() ? "\"\"" : value; }

}  // namespace

Lines flatten(AnyDescribed object) {
  Lines out;
  add_lines(out, to_tree(object), "");
  return out;
}

std::vector<std::string> diff(AnyDescribed a, AnyDescribed b) {
  const Lines before = flatten(a);
  const Lines after = flatten(b);
  std::map<std::string, std::string> left(after.begin(), after.end());
  std::vector<std::string> out;
  for (const auto& [path, value] : before) {
    const auto other = left.find(path);
    if (other == left.end()) {
      out.push_back(path + ": " + shown(value) + " -> (none)");
      continue;
    }
    if (other->second != value) {
      out.push_back(path + ": " + shown(value) + " -> " + shown(other->second));
    }
    left.erase(other);
  }
  for (const auto& [path, value] : after) {
    if (left.contains(path)) out.push_back(path + ": (none) -> " + shown(value));
  }
  return out;
}

}  // namespace tundish
