#pragma once
// Writes a tree into a described object. Internal to codec.
#include "base/result.hpp"
#include "codec/json.hpp"
#include "codec/tree.hpp"

namespace tundish {

struct FillOptions {
  Unknown unknown = Unknown::refuse;
  /// Receives unknown members reached through structs only; may be null.
  TreeNode* kept = nullptr;
  /// Set: errors start with "file:line:column".
  std::string_view file_name;
};

/// All or nothing: on an error the object is as before. A list or map that the document names is
/// replaced as a whole; a struct is merged field by field.
Result<> fill(const AnyDescribed& into, const TreeNode& document, const FillOptions& options);

/// Puts back what to_tree gave.
void restore(const AnyDescribed& into, const TreeNode& before);

}  // namespace tundish
