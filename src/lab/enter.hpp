#pragma once
// Programs run inside a node, for tests and `tundish lab exec`.
#include <string>
#include <vector>

#include "lab/topology.hpp"

namespace tundish::lab {

struct EnterNode {
  std::string node;
  int pid = 0;  ///< of node-init, as the caller counts it
  int uid = 0;
  std::vector<std::string> argv;
};

/// Command line that joins the node's control groups and namespaces and runs argv there with the
/// privileges a node has: the kernel log and clock of the machine stay out of reach.
std::vector<std::string> enter_argv(const LabSpec& spec, const EnterNode& enter);

}  // namespace tundish::lab
