#include "control/health/blame.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "control/health/blame_parts.hpp"

namespace tundish::control::health {

std::vector<Finding> blame(std::vector<Sighting> sightings, const Topology& topology, Instant now,
                           const BlameTimes& times) {
  const std::vector<Sighting> seen = prepare(std::move(sightings), times);
  Case given{seen, topology, now, times, {}, {}, {}};
  find_causes(given);
  std::vector<Finding> out;
  std::set<std::size_t> open;
  for (std::size_t i = 0; i < seen.size(); ++i) open.insert(i);
  while (const auto fate = best_fate(given, open)) {
    out.push_back(describe_fate(given, *fate));
    for (const std::size_t i : fate->explains) open.erase(i);
  }
  std::map<std::size_t, std::vector<std::size_t>> by_root;
  for (const std::size_t i : open) by_root[given.root(i)].push_back(i);
  // One part of one node is one finding, however many of its sightings stand for themselves.
  std::map<std::tuple<NodeId, Resource, std::string>, std::vector<std::size_t>> by_part;
  std::map<std::tuple<NodeId, Resource, std::string>, std::size_t> firsts;
  for (const auto& [root, follows] : by_root) {
    const Sighting& s = seen[root];
    const std::string device = s.part == Resource::cpu ? "" : s.device;
    auto& group = by_part[{s.node, s.part, device}];
    firsts.emplace(std::tuple(s.node, s.part, device), root);
    group.insert(group.end(), follows.begin(), follows.end());
  }
  for (auto& [key, follows] : by_part) {
    std::sort(follows.begin(), follows.end());
    if (auto finding = describe_node(given, firsts.at(key), follows)) {
      out.push_back(std::move(*finding));
    }
  }
  for (auto& rack : find_racks(given)) out.push_back(std::move(rack));
  return out;
}

}  // namespace tundish::control::health
