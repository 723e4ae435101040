#pragma once
// The root file system of a node.
#include "base/result.hpp"
#include "lab/topology.hpp"

namespace tundish::lab {

/// Mounts everything and makes it this process's root. Nothing of the machine can be written
/// through it: the root is an overlay whose upper layer lies in the lab's folder.
Result<> enter_node_root(const LabSpec& spec, const LabNode& node);

}  // namespace tundish::lab
