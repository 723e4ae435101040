#pragma once
// Steps of blame(). For src/control/health only.
#include <optional>
#include <tuple>

#include "control/health/blame.hpp"
#include "control/health/causes.hpp"

namespace tundish::control::health {

inline constexpr std::size_t no_cause = static_cast<std::size_t>(-1);

/// Sorted, without what is not believed, without codes that others stand for.
std::vector<Sighting> prepare(std::vector<Sighting> sightings, const BlameTimes& times);

/// When what it tells of now began: of events the newest run.
Instant began(const Sighting& sighting);

/// Users of a shared part during one symptom.
struct Users {
  int fine = 0;
  int hit = 0;
  Instant hit_at;   ///< when the last of them began to show it
  Instant look_by;  ///< until then some that were not heard before may still show it
};

/// What blame works on: `cause[i]` is the sighting that explains sighting i, or no_cause.
struct Case {
  const std::vector<Sighting>& seen;
  const Topology& topology;
  Instant now;
  const BlameTimes& times;
  std::vector<std::size_t> cause;
  std::map<NodeId, std::vector<std::size_t>> by_node;
  /// Counted once for all nodes that ask.
  mutable std::map<std::tuple<const Shared*, Resource, Origin>, Users> users;

  std::size_t root(std::size_t i) const {
    while (cause[i] != no_cause) i = cause[i];
    return i;
  }
  const Place& place(const NodeId& node) const {
    static const Place unknown;
    const auto it = topology.nodes.find(node);
    return it == topology.nodes.end() ? unknown : it->second;
  }
  /// As a user of the part: that it shows nothing means something.
  bool hears(const Shared& shared, const NodeId& node) const {
    return place(node).heard && !shared.speaks_at.contains(node);
  }
  bool is_strained(const NodeId& node) const;  ///< short of CPU or memory, by its own word
};

/// A lack of CPU or memory that makes others late.
bool is_strain(const Sighting& sighting);
/// Explanations on the node itself, and by a lost rank of the same job.
void find_causes(Case& given);

/// One shared part and what it would explain.
struct Fate {
  const Shared* shared = nullptr;
  std::set<std::size_t> explains;
  std::set<NodeId> affected;
  std::set<NodeId> unexplained;  ///< affected, and nothing else explains it there
  int heard = 0;                 ///< users that are heard, or affected
  int fine = 0;                  ///< users that are heard, have looked since and show nothing
  int unlooked = 0;              ///< users that are heard and may show it at their next look
  bool of_storage = false;       ///< clients that wait is all that is seen
  int elsewhere = 0;             ///< clients of its storage that do not hang on it otherwise
  Instant look_by;               ///< until then who shows nothing may still come to show it
  Instant open_until;            ///< what is not known yet is then; unset: the answer stands
  int kinds = 0;                 ///< different parts that it explains
  int row = 0;                   ///< of the table: lower is more usual
  std::string own_word;          ///< why it is known to be down, when it is
  Instant first;
};

/// Parts that a shared one explains.
using Parts = std::set<Resource>;
/// Whether the node would tell if the shared part were in trouble of that kind.
bool would_show(const Case& given, const Shared& shared, const Parts& parts, const NodeId& node);
/// Whether it had the time to.
bool has_looked(const Case& given, const Fate& fate, const NodeId& node);
/// What most ports of a leaf counted at the same time was the leaf's, and is over.
void drop_common_counts(const Case& given, std::set<std::size_t>& open);

/// Whether a device of a node hangs on it, and a row lets it cause what was seen there.
bool could_cause(const Shared& shared, const Sighting& sighting);
Fate fate_of(const Case& given, const Shared& shared, const std::set<std::size_t>& open);
/// The one that explains most, when one holds.
std::optional<Fate> best_fate(const Case& given, const std::set<std::size_t>& open);

Finding describe_fate(const Case& given, const Fate& fate);
/// A cause on one node, with everything that follows from it; nullopt: nobody asked.
std::optional<Finding> describe_node(const Case& given, std::size_t root,
                                     const std::vector<std::size_t>& follows);
/// A tray that leaks is its domain's matter as well, whatever becomes of the tray.
std::vector<Finding> find_leaks(const Case& given);
/// More than two trays of a domain are out: the rack.
std::vector<Finding> find_racks(const Case& given);

std::string subject_text(const Shared& shared);
std::string part_text(Resource part);
void rank(std::vector<BlameEvidence>& evidence);

}  // namespace tundish::control::health
