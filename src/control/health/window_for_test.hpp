#pragma once
// Evidence for tests: a small site and what its nodes show.
#include <string>

#include "control/health/blame.hpp"

namespace tundish::control::health {

inline constexpr Instant noon{1'700'000'000'000'000};

/// Nodes n1 .. nN on leaf1 (odd) and leaf2 (even), clients of server nas1.
class Window {
 public:
  explicit Window(int nodes) {
    for (int i = 1; i <= nodes; ++i) {
      Place place;
      place.name = "n" + std::to_string(i);
      place.rack = i % 2 == 1 ? "r1" : "r2";
      place.heard = true;
      const std::string leaf = i % 2 == 1 ? "leaf1" : "leaf2";
      place.ports["eth0"] = leaf + "/swp" + std::to_string(i);
      topology.nodes[id(i)] = place;
      share(SubjectKind::network_switch, leaf, Resource::leaf).users[id(i)] = {"eth0"};
      share(SubjectKind::storage, "nas1", Resource::storage_server).users[id(i)] = {"/data"};
    }
  }

  static NodeId id(int n) { return NodeId("node-" + std::to_string(n)); }

  Shared& share(SubjectKind kind, const std::string& name, Resource part) {
    for (auto& one : topology.shared) {
      if (one.kind == kind && one.name == name) return one;
    }
    Shared one;
    one.kind = kind;
    one.name = name;
    one.part = part;
    topology.shared.push_back(one);
    return topology.shared.back();
  }
  Shared& job(const std::string& name, std::initializer_list<int> nodes) {
    Shared& one = share(SubjectKind::job, name, Resource::process);
    for (const int n : nodes) one.users[id(n)];
    return one;
  }
  Shared& domain(const std::string& name, int first, int last) {
    Shared& one = share(SubjectKind::domain, name, Resource::nvswitch);
    for (int n = first; n <= last; ++n) one.users[id(n)];
    return one;
  }

  /// A check of node `n` that fails since `since` after noon.
  Sighting& fails(int n, Resource part, const std::string& device = "", Duration since = {}) {
    Sighting s;
    s.node = id(n);
    s.part = part;
    s.what = "check";
    s.device = device;
    s.first = noon + since;
    s.last = now;
    s.says = "does not answer";
    seen.push_back(s);
    return seen.back();
  }
  Sighting& hangs(int n, Duration since = {}) {
    return fails(n, Resource::storage_client, "/data", since);
  }
  Sighting& starves(int n, Duration since = {}) {
    Sighting& s = fails(n, Resource::cpu, "", since);
    s.what = "pressure";
    s.says = "tasks waited 83 % of the time for a CPU";
    return s;
  }
  /// A kernel line: evidence, which takes no node out by itself here.
  Sighting& says(int n, int xid, Resource part, const std::string& device = "", Duration at = {}) {
    Sighting& s = fails(n, part, device, at);
    s.what = "xid " + std::to_string(xid);
    s.code = xid;
    s.last = s.first;
    s.level = Level::note;
    s.origin = Origin::event;
    return s;
  }

  std::vector<Finding> judge() const { return blame(seen, topology, now); }
  std::vector<Finding> judge_after(Duration time) const {
    auto later = seen;
    for (auto& s : later) {
      if (s.origin == Origin::verdict) s.last = noon + time;
    }
    return blame(later, topology, noon + time);
  }

  Topology topology;
  std::vector<Sighting> seen;
  Instant now = noon + minutes(2);
};

inline const Finding* find(const std::vector<Finding>& all, Resource part,
                           const std::string& object = "") {
  for (const auto& one : all) {
    if (one.blame.part == part && (object.empty() || one.blame.object == object)) return &one;
  }
  return nullptr;
}

/// One line per finding: what tests compare.
inline std::string brief(const std::vector<Finding>& all) {
  std::string out;
  for (const auto& one : all) {
    out += std::string(enum_names(
               one.blame.subject_kind)[static_cast<std::size_t>(one.blame.subject_kind)]) +
           " " + one.blame.object + " " +
           std::string(enum_names(one.blame.part)[static_cast<std::size_t>(one.blame.part)]) + " " +
           one.blame.rule + (one.claims ? " claims" : "") + "\n";
  }
  return out;
}

}  // namespace tundish::control::health
