// Shared fate: the same symptom on many users of one part is that part.
#include <algorithm>
#include <tuple>

#include "control/health/blame_parts.hpp"

namespace tundish::control::health {
namespace {

constexpr int least_share_percent = 60;

bool hangs_on(const Shared& shared, const Sighting& sighting) {
  const auto user = shared.users.find(sighting.node);
  if (user == shared.users.end()) return false;
  if (!sighting.subject.empty() && sighting.subject == shared.name) return true;
  return sighting.device.empty() || user->second.empty() || user->second.contains(sighting.device);
}

bool is_burst(SubjectKind kind) { return kind == SubjectKind::domain || kind == SubjectKind::job; }

/// Events of one cause come together: the most nodes within `times.burst`, the earliest of equals.
std::set<std::size_t> keep_burst(const Case& given, const std::set<std::size_t>& all) {
  std::vector<std::size_t> list(all.begin(), all.end());
  std::stable_sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
    return began(given.seen[a]) < began(given.seen[b]);
  });
  const auto at = [&](std::size_t i) { return began(given.seen[list[i]]); };
  std::map<NodeId, int> nodes;
  std::size_t begin = 0, best_begin = 0, best_end = 0, best_count = 0;
  for (std::size_t end = 0; end < list.size(); ++end) {
    ++nodes[given.seen[list[end]].node];
    for (; at(end) - at(begin) > given.times.burst; ++begin) {
      const auto left = nodes.find(given.seen[list[begin]].node);
      if (--left->second == 0) nodes.erase(left);
    }
    if (nodes.size() < best_count || (nodes.size() == best_count && best_begin != begin)) continue;
    best_count = nodes.size();
    best_begin = begin;
    best_end = end + 1;
  }
  return {list.begin() + static_cast<std::ptrdiff_t>(best_begin),
          list.begin() + static_cast<std::ptrdiff_t>(best_end)};
}

std::set<std::size_t> symptoms_of(const Case& given, const Shared& shared,
                                  const std::set<std::size_t>& open) {
  std::set<std::size_t> out;
  for (const auto& [node, devices] : shared.users) {
    const auto mine = given.by_node.find(node);
    if (mine == given.by_node.end()) continue;
    for (const std::size_t i : mine->second) {
      if (open.contains(i) && could_cause(shared, given.seen[i])) out.insert(i);
    }
  }
  return is_burst(shared.kind) ? keep_burst(given, out) : out;
}

/// Words of a node that mean the whole NVLink domain and not that node.
std::vector<std::size_t> words_on(const Case& given, const Shared& shared,
                                  const std::set<std::size_t>& open) {
  std::vector<std::size_t> out;
  if (shared.kind != SubjectKind::domain || shared.part != Resource::nvswitch) return out;
  for (const auto& [node, devices] : shared.users) {
    const auto mine = given.by_node.find(node);
    if (mine == given.by_node.end()) continue;
    for (const std::size_t i : mine->second) {
      const Sighting& s = given.seen[i];
      const bool meant = s.of_switch_domain || s.part == Resource::nvswitch;
      if (meant && open.contains(i)) out.push_back(i);
    }
  }
  return out;
}

/// Its own word, or a node's that means the whole part.
std::string own_word_of(const Case& given, const Fate& fate, const std::set<std::size_t>& open) {
  const Shared& shared = *fate.shared;
  const auto words = words_on(given, shared, open);
  if (!words.empty()) return given.seen[words.front()].says;
  // What has its management away may still serve: its word counts when no user is fine.
  const bool managed =
      shared.kind == SubjectKind::network_switch || shared.kind == SubjectKind::storage;
  const bool weak = managed && fate.fine > 0;
  return shared.down_since.is_set() && !weak && !fate.unexplained.empty() ? shared.down_says : "";
}

bool explains_itself(const Case& given, const Fate& fate, std::size_t i) {
  const std::size_t root = given.root(i);
  if (root == i) return true;
  if (given.seen[root].node != given.seen[i].node) return false;
  return could_cause(*fate.shared, given.seen[root]);
}

void count_users(const Case& given, Fate& fate) {
  for (const auto& [node, devices] : fate.shared->users) {
    const bool hit = fate.affected.contains(node);
    const bool heard = given.place(node).heard;
    fate.heard += hit || heard ? 1 : 0;
    fate.fine += !hit && heard && !given.is_strained(node) ? 1 : 0;
  }
}

bool holds(const Fate& fate) {
  if (!fate.own_word.empty()) return true;
  const int unexplained = static_cast<int>(fate.unexplained.size());
  const int affected = static_cast<int>(fate.affected.size());
  switch (fate.shared->kind) {
    case SubjectKind::domain:
      if (fate.shared->part == Resource::cooling) return false;  // find_leaks() tells it
      return unexplained >= std::min(3, std::max(2, fate.heard));
    // All of it: a part of a job's nodes has something in common that the job has not.
    case SubjectKind::job: return unexplained >= 2 && unexplained == fate.heard;
    default: return unexplained >= 2 && affected * 100 >= fate.heard * least_share_percent;
  }
}

auto score(const Fate& fate) {
  const int share =
      fate.heard > 0 ? static_cast<int>(fate.affected.size()) * 10000 / fate.heard : 0;
  return std::tuple(!fate.own_word.empty(), fate.unexplained.size(), fate.kinds, share, -fate.row);
}

/// With whatever follows from what it explains.
void add_consequences(const Case& given, const std::set<std::size_t>& open, Fate& fate) {
  for (const std::size_t i : open) {
    for (std::size_t at = given.cause[i]; at != no_cause; at = given.cause[at]) {
      if (fate.explains.contains(at)) fate.explains.insert(i);
    }
  }
}

}  // namespace

bool could_cause(const Shared& shared, const Sighting& sighting) {
  if (!find_cause(shared.part, sighting.part, Reach::users)) return false;
  // A check that did not get to run saw nothing, neither here nor behind a switch.
  if (sighting.locality == Locality::device_local || sighting.starved) return false;
  // Of programs only the driver's numbered word counts: tasks hang for many reasons.
  if (sighting.part == Resource::process && sighting.code == 0) return false;
  return hangs_on(shared, sighting);
}

Fate fate_of(const Case& given, const Shared& shared, const std::set<std::size_t>& open) {
  Fate fate;
  fate.shared = &shared;
  fate.explains = symptoms_of(given, shared, open);
  std::set<Resource> parts;
  fate.row = static_cast<int>(cause_rows().size());
  for (const std::size_t i : fate.explains) {
    const Sighting& s = given.seen[i];
    fate.affected.insert(s.node);
    if (!fate.first.is_set() || s.first < fate.first) fate.first = s.first;
    if (!explains_itself(given, fate, i)) continue;
    fate.unexplained.insert(s.node);
    parts.insert(s.part);
    const CauseRow* row = find_cause(shared.part, s.part, Reach::users);
    fate.row = std::min(fate.row, static_cast<int>(row - cause_rows().data()));
  }
  fate.kinds = static_cast<int>(parts.size());
  count_users(given, fate);
  fate.own_word = own_word_of(given, fate, open);
  return fate;
}

std::optional<Fate> best_fate(const Case& given, const std::set<std::size_t>& open) {
  std::optional<Fate> best;
  for (const auto& shared : given.topology.shared) {
    Fate fate = fate_of(given, shared, open);
    if (!holds(fate)) continue;
    if (best && score(fate) <= score(*best)) continue;
    best = std::move(fate);
  }
  if (!best) return std::nullopt;
  for (const std::size_t i : words_on(given, *best->shared, open)) {
    const Sighting& s = given.seen[i];
    best->explains.insert(i);
    best->affected.insert(s.node);
    if (!best->first.is_set() || s.first < best->first) best->first = s.first;
  }
  add_consequences(given, open, *best);
  return best;
}

}  // namespace tundish::control::health
