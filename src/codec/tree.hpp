#pragma once
// The neutral tree between a described object and a text format. Internal to codec: one reader and
// one writer over it serve JSON, YAML, flattening and diffs.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

enum class TreeKind {
  null,
  flag,
  integer,
  real,  ///< `text` keeps the digits as written, so that nothing is lost on the way back
  text,
  plain,       ///< an unquoted YAML scalar: the field decides what it is
  instant,     ///< `integer` holds microseconds
  enumerator,  ///< `integer` holds the value, `text` its name
  list,
  map
};

struct TreeNode {
  TreeKind kind = TreeKind::null;
  int line = 0;  ///< 1-based; 0 where the format gives no place
  int column = 0;
  std::int64_t integer = 0;  ///< also 0 or 1 for a flag
  std::string key;           ///< when the parent is a map
  std::string text;
  std::vector<TreeNode> children;

  const TreeNode* find(std::string_view name) const;
};

/// Walks the object as one struct.
void walk(const AnyDescribed& object, Sink& sink);
/// Every field of the object; an absent optional is a null. Leaves the object alone.
TreeNode to_tree(const AnyDescribed& object);
/// JSON text. `indent` below zero: one line. Invalid UTF-8 becomes U+FFFD.
std::string render_tree(const TreeNode& node, int indent);
/// The first key that occurs twice, nullptr when there is none.
const TreeNode* find_repeated_key(const TreeNode& map);
/// A scalar as a person reads it; "" for null and for containers.
std::string scalar_text(const TreeNode& node);

inline constexpr std::size_t tree_depth_max = 64;
/// What is kept of a word that an enum does not have: the word, and what it was read as.
inline constexpr std::string_view unknown_word_key = "?word";
inline constexpr std::string_view read_as_key = "?read_as";

}  // namespace tundish
