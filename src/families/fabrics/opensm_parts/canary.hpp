#pragma once
// The fabric in miniature on which a new partitions.conf is tried: the real opensm over ibsim, with
// the members of the partitions as its ports, and one port that is a member of nothing.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/fabric_state.hpp"

namespace tundish::fabrics {

struct Canary {
  std::string net;           ///< ibsim's network file
  std::string manager_node;  ///< ibsim's name of the node that opensm runs on
  std::string manager_guid;
  std::vector<std::string> guids;  ///< port GUIDs of the members that are on it
};

/// At most `limit` members, some of every partition. `text` is the whole new file, whose GUIDs the
/// canary's own ports avoid.
Canary make_canary(const FabricState& desired, const std::string& text, int limit);

/// Judges what the canary printed: opensm took the file, and every port has just what it should.
Result<> judge_canary(const std::string& output, const FabricState& desired, const Canary& canary,
                      const FabricOwnership& ownership, const std::string& text);

}  // namespace tundish::fabrics
