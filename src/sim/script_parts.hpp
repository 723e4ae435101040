#pragma once
// What both halves of the fixed story are told with.
#include "sim/site.hpp"

namespace tundish::sim {

/// The first node of that role in the cluster; nullptr: none, or tundishd is down.
SimNode* find_node(Site& site, const std::string& cluster, MemberRole role);

struct Blow {
  std::string cluster;
  MemberRole role = MemberRole::member;
  int xid = 79;
  bool sticky = false;
};
void strike(Site& site, Duration at, Blow blow);

ClusterSpec spec_of(int nodes, int spares);

/// Windows, reports, a fault that comes back, a node that the vendor brings back.
void plan_script_of_people(Site& site);

}  // namespace tundish::sim
