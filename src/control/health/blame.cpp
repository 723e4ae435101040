#include "control/health/blame.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "control/health/blame_parts.hpp"

namespace tundish::control::health {
namespace {

using Part = std::tuple<NodeId, Resource, std::string>;
struct Group {
  std::size_t root = no_cause;
  std::vector<std::size_t> follows;  ///< the root among them
};

using Groups = std::map<Part, Group>;

/// The device that a check of all such parts of the node is about: the one that somebody names. Not
/// one whose trouble is over already, as if a new fault of another were its.
Groups::iterator find_named(const Case& given, Groups& groups, Groups::iterator whole) {
  const auto& [node, part, none] = whole->first;
  for (auto it = std::next(whole); it != groups.end(); ++it) {
    if (std::get<0>(it->first) != node || std::get<1>(it->first) != part) break;
    const auto& says = it->second.follows;
    const bool over = std::all_of(says.begin(), says.end(),
                                  [&](std::size_t i) { return given.seen[i].answered; });
    if (!over) return it;
  }
  return groups.end();
}

/// One part of one node is one finding, however many of its sightings stand for themselves: a
/// check that speaks of the node's GPUs is about the GPU that the kernel names.
Groups group_by_part(const Case& given, const std::set<std::size_t>& open) {
  Groups out;
  for (const std::size_t i : open) {
    const std::size_t root = given.root(i);
    const Sighting& s = given.seen[root];
    Group& group = out[{s.node, s.part, s.part == Resource::cpu ? "" : s.device}];
    group.follows.push_back(i);
    // A lack of CPU speaks for itself, and not the check that tells the same as a warning.
    const auto weight = [&](std::size_t r) { return std::pair(!is_strain(given.seen[r]), r); };
    if (group.root == no_cause || weight(root) < weight(group.root)) group.root = root;
  }
  for (auto it = out.begin(); it != out.end();) {
    const auto& [node, part, device] = it->first;
    // Memory that is short has no device, and a module that fails is another matter.
    const bool whole = device.empty() && part != Resource::memory;
    const auto named = whole ? find_named(given, out, it) : out.end();
    if (named != out.end()) {
      auto& all = named->second;
      all.root = std::min(all.root, it->second.root);
      all.follows.insert(all.follows.end(), it->second.follows.begin(), it->second.follows.end());
      it = out.erase(it);
    } else {
      ++it;
    }
  }
  return out;
}

}  // namespace

std::vector<Finding> blame(std::vector<Sighting> sightings, const Topology& topology, Instant now,
                           const BlameTimes& times) {
  const std::vector<Sighting> seen = prepare(std::move(sightings), times);
  Case given{seen, topology, now, times, {}, {}, {}};
  find_causes(given);
  std::vector<Finding> out;
  std::set<std::size_t> open;
  for (std::size_t i = 0; i < seen.size(); ++i) open.insert(i);
  drop_common_counts(given, open);
  while (const auto fate = best_fate(given, open)) {
    out.push_back(describe_fate(given, *fate));
    for (const std::size_t i : fate->explains) open.erase(i);
  }
  for (auto& [key, group] : group_by_part(given, open)) {
    std::sort(group.follows.begin(), group.follows.end());
    if (auto finding = describe_node(given, group.root, group.follows)) {
      if (finding->device.empty()) finding->device = std::get<2>(key);
      out.push_back(std::move(*finding));
    }
  }
  for (auto& leak : find_leaks(given)) out.push_back(std::move(leak));
  for (auto& rack : find_racks(given)) out.push_back(std::move(rack));
  return out;
}

}  // namespace tundish::control::health
