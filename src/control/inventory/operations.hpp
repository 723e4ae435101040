#pragma once
// Registry operations that only the import needs.
#include "model/operation.hpp"

namespace tundish::control::inventory {

struct Rename {
  NodeId node;
  std::string from;
  std::string to;
};

/// The same node under another name; its cables follow.
OperationPtr rename_node(Rename rename);
/// The record of a cable whose end another declared cable took.
OperationPtr remove_cable(Id<Cable> cable);

}  // namespace tundish::control::inventory
