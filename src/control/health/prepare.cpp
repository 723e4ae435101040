// Order, belief and paired codes; then what explains what on one node and within one job.
#include <algorithm>
#include <tuple>

#include "control/health/blame_parts.hpp"

namespace tundish::control::health {
namespace {

/// A cause that is older explains nothing any more.
constexpr Duration horizon = minutes(10);

auto order_of(const Sighting& s) {
  return std::tie(s.first, s.node, s.part, s.what, s.device, s.subject, s.last);
}

bool is_near(const Sighting& a, const Sighting& b, Duration within) {
  return a.first <= b.last + within && b.first <= a.last + within;
}

bool may_be_one_device(const Sighting& a, const Sighting& b) {
  return a.node == b.node && (a.device == b.device || a.device.empty() || b.device.empty());
}

/// Whether `s` is only the detail, the echo or the end of `of`.
/// Source: facts/health.md sections 1 and 1b, 6 (#1252); checked 2026-11
bool is_covered(const Sighting& s, const Sighting& of, const BlameTimes& times) {
  if (!may_be_one_device(s, of) || !is_near(s, of, times.burst)) return false;
  if ((s.code == 171 || s.code == 172) && of.code == 48) return true;
  if (s.code == 163 && of.code == 162 && of.last >= s.last) return true;
  if (s.sxid == 20034 && (of.code == 79 || of.code == 74)) return true;
  // A removal that follows another fault of the device is its consequence, by the line's own word
  // or by its place in time.
  const bool other = of.code != 0 && of.code != 45;
  return s.code == 45 && other && of.part != Resource::process &&
         (s.parent_code == of.code || of.first <= s.first + times.slack);
}

bool explains(const Case& given, const CauseRow& row, const Sighting& cause,
              const Sighting& effect) {
  const bool strain = cause.part == Resource::cpu || cause.part == Resource::memory;
  // A GPU's driver numbers no fault because tasks are late.
  if (strain && (!is_strain(cause) || effect.code != 0)) return false;
  switch (row.match) {
    case Match::overlap: return is_near(cause, effect, given.times.slack);
    case Match::same_device:
      if (cause.device.empty() || cause.device != effect.device) return false;
      break;
    case Match::before: break;
  }
  return cause.first <= effect.first + given.times.slack && effect.first - cause.first <= horizon;
}

using ByNode = std::map<NodeId, std::vector<std::size_t>>;

ByNode index_nodes(const std::vector<Sighting>& seen) {
  ByNode out;
  for (std::size_t i = 0; i < seen.size(); ++i) out[seen[i].node].push_back(i);
  return out;
}

/// The best row so far wins; of one row, the earliest sighting.
class Search {
 public:
  Search(const Case& given, std::size_t effect) : given_(given), effect_(effect) {}

  void look_at(const std::vector<std::size_t>& among, Reach reach) {
    const Sighting& effect = given_.seen[effect_];
    for (const std::size_t j : among) {
      if (j == effect_) continue;
      const Sighting& cause = given_.seen[j];
      if (effect.starved) {  // by its own word, whatever it looks at
        const bool named = reach == Reach::same_node && is_strain(cause) && found_ == no_cause;
        if (named) found_ = j;
        continue;
      }
      const CauseRow* row = find_cause(cause.part, effect.part, reach);
      if (!row || (best_ && row >= best_) || !explains(given_, *row, cause, effect)) continue;
      best_ = row;
      found_ = j;
    }
  }
  std::size_t found() const { return found_; }

 private:
  const Case& given_;
  std::size_t effect_;
  const CauseRow* best_ = nullptr;
  std::size_t found_ = no_cause;
};

/// Nodes with a fault that ends the other ranks of a job: few, even in a storm.
std::set<NodeId> wounded_nodes(const std::vector<Sighting>& seen) {
  std::set<NodeId> out;
  for (const auto& s : seen) {
    if (find_cause(s.part, Resource::process, Reach::job)) out.insert(s.node);
  }
  return out;
}

/// Those of `among` that ran a job together with `node`.
std::set<NodeId> job_peers(const Topology& topology, const NodeId& node,
                           const std::set<NodeId>& among) {
  std::set<NodeId> out;
  if (among.empty()) return out;
  for (const auto& one : topology.shared) {
    if (one.kind != SubjectKind::job || !one.users.contains(node)) continue;
    for (const auto& peer : among) {
      if (peer != node && one.users.contains(peer)) out.insert(peer);
    }
  }
  return out;
}

}  // namespace

Instant began(const Sighting& s) { return s.run_began.is_set() ? s.run_began : s.first; }

/// A DIMM that fails is broken; nobody waits for it.
bool is_strain(const Sighting& s) {
  return (s.part == Resource::cpu || s.part == Resource::memory) && s.level == Level::fail &&
         s.locality != Locality::device_local;
}

std::vector<Sighting> prepare(std::vector<Sighting> sightings, const BlameTimes& times) {
  // What a tenant's root could have written excuses nothing and accuses nobody.
  std::erase_if(sightings, [](const Sighting& s) { return s.trust == Trust::forgeable; });
  std::sort(sightings.begin(), sightings.end(),
            [](const Sighting& a, const Sighting& b) { return order_of(a) < order_of(b); });
  const ByNode index = index_nodes(sightings);
  std::vector<Sighting> out;
  for (std::size_t i = 0; i < sightings.size(); ++i) {
    const Sighting& s = sightings[i];
    const auto& mine = index.at(s.node);
    const bool covered = std::any_of(mine.begin(), mine.end(), [&](std::size_t j) {
      return j != i && is_covered(s, sightings[j], times);
    });
    // The end of a pair says nothing more once its beginning is gone.
    if (!covered && s.code != 162) out.push_back(s);
  }
  return out;
}

bool Case::is_strained(const NodeId& node) const {
  const auto mine = by_node.find(node);
  if (mine == by_node.end()) return false;
  return std::any_of(mine->second.begin(), mine->second.end(),
                     [&](std::size_t i) { return is_strain(seen[i]); });
}

void find_causes(Case& given) {
  const auto& seen = given.seen;
  const ByNode& index = given.by_node = index_nodes(seen);
  given.cause.assign(seen.size(), no_cause);
  const std::set<NodeId> wounded = wounded_nodes(seen);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].locality == Locality::device_local) continue;  // the part itself must be broken
    Search search(given, i);
    search.look_at(index.at(seen[i].node), Reach::same_node);
    const bool of_job = seen[i].part == Resource::process && seen[i].origin == Origin::event;
    if (of_job && search.found() == no_cause) {
      for (const auto& peer : job_peers(given.topology, seen[i].node, wounded)) {
        const auto there = index.find(peer);
        if (there != index.end()) search.look_at(there->second, Reach::job);
      }
    }
    given.cause[i] = search.found();
  }
}

}  // namespace tundish::control::health
