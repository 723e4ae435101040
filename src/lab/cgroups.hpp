#pragma once
// Control groups of a lab's nodes: a CPU quota from the first day, and pressure per node.
#include <string>
#include <vector>

#include "lab/topology.hpp"

namespace tundish::lab {

struct CgroupReport {
  std::vector<std::string> folders;   ///< groups that the node's processes are in
  std::vector<std::string> problems;  ///< what this machine did not let us set
};
/// Best effort: a machine without a writable hierarchy still runs the lab, and says so.
CgroupReport place_node(const LabSpec& spec, const std::string& node, int pid);
/// Folders of the node's groups on this machine that exist.
std::vector<std::string> node_groups(const LabSpec& spec, const std::string& node);
/// Removes every group of the lab; returns those that would not go (a process still lives there).
std::vector<std::string> remove_groups(const LabSpec& spec);
/// Inside a node's mount namespace, below `root`: hierarchies the node is in show its own group as
/// their root; the others become read-only.
std::vector<std::string> mount_node_groups(const std::string& root);

}  // namespace tundish::lab
