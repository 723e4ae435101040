// Shared fate: the same symptom on many users of one part is that part.
#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "control/health/blame_parts.hpp"

namespace tundish::control::health {
namespace {

constexpr int least_share_percent = 60;

/// Waits for a storage that is cabled to it, while it does not answer.
bool is_cut_off(const Shared& shared, const Sighting& sighting) {
  return shared.down_since.is_set() && sighting.part == Resource::storage_client &&
         shared.clients.contains(sighting.node);
}

bool hangs_on(const Shared& shared, const Sighting& sighting) {
  if (is_cut_off(shared, sighting)) return true;
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

bool is_managed(const Shared& shared) {
  return shared.kind == SubjectKind::network_switch || shared.kind == SubjectKind::storage;
}

/// A count of what happened before the last look: it says nothing of now.
bool is_past(const Case& given, const Sighting& s) {
  return s.counted_at.is_set() && given.now - s.counted_at > given.times.look;
}

/// When everybody else had time to show the same.
Instant looked_by(const Case& given, const Sighting& s) {
  const bool event = s.origin == Origin::event;
  return began(s) + (event ? given.times.settle : given.times.look);
}

bool is_fine_by(const Case& given, const NodeId& node, Instant look_by) {
  const Instant heard = given.place(node).heard_since + given.times.look;
  return std::max(look_by, heard) <= given.now;
}

/// Nodes that wait for its storage from elsewhere, unless others there reach that.
void add_clients(const Case& given, const Shared& shared, const std::set<std::size_t>& open,
                 std::set<std::size_t>& out) {
  if (!shared.down_since.is_set()) return;
  std::set<std::size_t> waiting;
  std::set<NodeId> others;
  Instant look_by;
  for (const auto& node : shared.clients) {
    if (shared.users.contains(node)) continue;
    const std::size_t before = waiting.size();
    const auto mine = given.by_node.find(node);
    for (const std::size_t i : mine == given.by_node.end() ? std::vector<std::size_t>{}
                                                           : mine->second) {
      if (!open.contains(i) || !could_cause(shared, given.seen[i])) continue;
      waiting.insert(i);
      look_by = std::max(look_by, looked_by(given, given.seen[i]));
    }
    const bool may_speak = given.place(node).heard && !given.is_strained(node);
    if (waiting.size() == before && may_speak) others.insert(node);
  }
  const bool reached = std::any_of(others.begin(), others.end(), [&](const NodeId& node) {
    return is_fine_by(given, node, look_by);
  });
  if (!reached) out.insert(waiting.begin(), waiting.end());
}

std::set<std::size_t> symptoms_of(const Case& given, const Shared& shared,
                                  const std::set<std::size_t>& open) {
  std::set<std::size_t> out;
  for (const auto& [node, devices] : shared.users) {
    const auto mine = given.by_node.find(node);
    if (mine == given.by_node.end()) continue;
    for (const std::size_t i : mine->second) {
      const bool meant = open.contains(i) && could_cause(shared, given.seen[i]);
      if (meant && !is_past(given, given.seen[i])) out.insert(i);
    }
  }
  add_clients(given, shared, open, out);
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
  const bool weak = is_managed(shared) && fate.fine > 0;
  return shared.down_since.is_set() && !weak && !fate.unexplained.empty() ? shared.down_says : "";
}

bool explains_itself(const Case& given, const Fate& fate, std::size_t i) {
  const std::size_t root = given.root(i);
  if (root == i) return true;
  if (given.seen[root].node != given.seen[i].node) return false;
  return could_cause(*fate.shared, given.seen[root]);
}

void count_users(const Case& given, const Parts& parts, Fate& fate) {
  const Shared& shared = *fate.shared;
  for (const std::size_t i : fate.explains) {
    fate.look_by = std::max(fate.look_by, looked_by(given, given.seen[i]));
  }
  for (const auto& [node, devices] : shared.users) {
    const bool hit = fate.affected.contains(node);
    const bool heard = given.hears(shared, node) && would_show(given, shared, parts, node);
    fate.heard += hit || heard ? 1 : 0;
    if (hit || !heard || given.is_strained(node)) continue;
    ++(has_looked(given, fate, node) ? fate.fine : fate.unlooked);
  }
  int waiting = 0, others = 0;
  for (const auto& node : shared.clients) {
    if (shared.users.contains(node)) continue;
    const bool hit = fate.affected.contains(node);
    waiting += hit ? 1 : 0;
    others += !hit && given.place(node).heard ? 1 : 0;
  }
  fate.elsewhere = waiting;
  if (waiting == 0) return;  // nobody there asks whose it is
  fate.heard += waiting + others;
  fate.unlooked += others;
}

/// A switch on the way that was not asked since may be the one that is gone.
Instant asked_by(const Case& given, const Fate& fate) {
  for (const auto& leaf : given.topology.shared) {
    const bool waits = leaf.kind == SubjectKind::network_switch && leaf.asked_at.is_set() &&
                       !leaf.down_since.is_set() && leaf.asked_at < fate.first;
    if (!waits) continue;
    const bool on_way =
        std::any_of(fate.affected.begin(), fate.affected.end(), [&](const NodeId& node) {
          return leaf.users.contains(node) || leaf.clients.contains(node);
        });
    if (on_way) return fate.first + given.times.answer;
  }
  return {};
}

/// Clients of the same storage that had no time to look: the leaf of those that wait is to blame
/// only when others reach it.
Instant others_look_by(const Case& given, const Fate& fate, const std::set<std::size_t>& open) {
  Instant out;
  if (fate.shared->kind != SubjectKind::network_switch) return out;
  for (const auto& shared : given.topology.shared) {
    if (shared.kind != SubjectKind::storage) continue;
    const Fate other = fate_of(given, shared, open);
    const bool same = std::includes(other.explains.begin(), other.explains.end(),
                                    fate.explains.begin(), fate.explains.end());
    if (same && other.unlooked > 0) out = std::max(out, other.look_by);
  }
  return out;
}

/// Until when the answer waits for looks that are on their way; unset: for none.
Instant open_until(const Case& given, const Fate& fate, const std::set<std::size_t>& open) {
  if (!is_managed(*fate.shared)) return {};
  Instant out;
  if (!fate.own_word.empty()) {
    const auto affected = static_cast<int>(fate.affected.size());
    const bool few = affected < 2 || affected * 2 < fate.heard;
    if (few && fate.unlooked > 0) out = fate.look_by;
  } else if (fate.of_storage) {
    out = std::max(asked_by(given, fate), others_look_by(given, fate, open));
  }
  return out > given.now ? out : Instant{};
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

bool would_show(const Case& given, const Shared& shared, const Parts& parts, const NodeId& node) {
  if (shared.kind != SubjectKind::network_switch) return true;
  const Place& place = given.place(node);
  return std::any_of(parts.begin(), parts.end(), [&](Resource part) {
    if (part == Resource::link) return place.shows_links;
    return part != Resource::storage_client || place.uses_storage;
  });
}

bool has_looked(const Case& given, const Fate& fate, const NodeId& node) {
  return is_fine_by(given, node, fate.look_by);
}

void drop_common_counts(const Case& given, std::set<std::size_t>& open) {
  std::set<std::size_t> common;
  for (const auto& shared : given.topology.shared) {
    if (shared.kind != SubjectKind::network_switch) continue;
    std::vector<std::size_t> counts;
    for (const std::size_t i : open) {
      const Sighting& s = given.seen[i];
      if (s.counted_at.is_set() && could_cause(shared, s)) counts.push_back(i);
    }
    for (const std::size_t i : counts) {
      if (!is_past(given, given.seen[i])) continue;
      std::set<NodeId> with;
      for (const std::size_t j : counts) {
        const auto apart = std::abs(given.seen[j].counted_at.us - given.seen[i].counted_at.us);
        if (apart <= given.times.look.us) with.insert(given.seen[j].node);
      }
      const auto users = std::count_if(shared.users.begin(), shared.users.end(), [&](auto& user) {
        const bool heard = given.hears(shared, user.first) &&
                           would_show(given, shared, {Resource::link}, user.first);
        return heard || with.contains(user.first);
      });
      const auto many = static_cast<std::ptrdiff_t>(with.size());
      if (many >= 2 && many * 100 >= users * least_share_percent) common.insert(i);
    }
  }
  for (const std::size_t i : common) open.erase(i);
}

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
  Parts parts, all;
  fate.row = static_cast<int>(cause_rows().size());
  for (const std::size_t i : fate.explains) {
    const Sighting& s = given.seen[i];
    fate.affected.insert(s.node);
    all.insert(s.part);
    if (!fate.first.is_set() || s.first < fate.first) fate.first = s.first;
    if (!explains_itself(given, fate, i)) continue;
    fate.unexplained.insert(s.node);
    parts.insert(s.part);
    const CauseRow* row = find_cause(shared.part, s.part, Reach::users);
    fate.row = std::min(fate.row, static_cast<int>(row - cause_rows().data()));
  }
  fate.kinds = static_cast<int>(parts.size());
  fate.of_storage = all == Parts{Resource::storage_client};
  count_users(given, all, fate);
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
  best->open_until = open_until(given, *best, open);
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
