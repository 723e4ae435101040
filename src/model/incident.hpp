#pragma once
// Faults as stored: witnesses, claims, incidents.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/allocation.hpp"
#include "model/blame.hpp"
#include "model/witness.hpp"

namespace tundish {

struct Incident;
using IncidentId = Id<Incident>;

enum class ClaimState { active, released, overridden };
inline std::span<const std::string_view> enum_names(ClaimState) {
  static constexpr std::string_view names[] = {"active", "released", "overridden"};
  return names;
}

/// Why a node is out of service. It is in service only when no claim on it is active; a claim is
/// released by its holder, or forced by a person with a reason.
struct Claim {
  static constexpr std::string_view kind = "claim";
  Id<Claim> id;
  NodeId node;
  std::string holder;
  std::string reason;
  IncidentId incident;
  ClaimState state = ClaimState::active;
  bool permitted = false;
  Instant since;
  Instant until;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "node", node, "node that is out of service");
    f(3, "holder", holder, "who holds it: incident, maintenance, person:NAME, engine");
    f(4, "reason", reason, "why, for people");
    f(5, "incident", incident, "incident behind it; empty for people's claims");
    f(6, "state", state, "active, released or overridden");
    f(7, "since", since, "when it was taken");
    f(8, "until", until, "when it ended; empty while active");
    f(9, "meta", meta, "name, revision");
    f(10, "permitted", permitted,
      "engine and allocation may act on it; else it only blocks placement");
  }
};

enum class IncidentState { open, resolved, rma, overridden, closed };
inline std::span<const std::string_view> enum_names(IncidentState) {
  static constexpr std::string_view names[] = {"open", "resolved", "rma", "overridden", "closed"};
  return names;
}

/// Who the time of an interval belongs to, for the SLA clock.
enum class TimeOwner { provider, tenant, vendor, nobody };
inline std::span<const std::string_view> enum_names(TimeOwner) {
  static constexpr std::string_view names[] = {"provider", "tenant", "vendor", "nobody"};
  return names;
}

/// A line of the incident's timeline: a state entered, an act, a note.
struct TimelineEntry {
  Instant at;
  Instant until;
  std::string what;
  std::string detail;
  std::string key;
  StepOutcome outcome = StepOutcome::done;
  TimeOwner owner = TimeOwner::provider;
  Duration acting;
  void fields(Fields& f) {
    f(1, "at", at, "when it began");
    f(2, "until", until, "when it ended; empty while it runs");
    f(3, "what", what, "state, action or event");
    f(4, "detail", detail, "for people");
    f(5, "key", key, "identity of the act, for acts");
    f(6, "outcome", outcome, "of an act");
    f(7, "owner", owner, "whose time it is");
    f(8, "acting", acting,
      "microseconds in the control plane; the rest of the wall time was waited");
  }
};

/// What the incident did to the tenant's job.
struct JobImpact {
  std::string job;
  std::string nodes_before;
  std::string nodes_after;
  int restarts = 0;
  Instant running_again_at;
  void fields(Fields& f) {
    f(1, "job", job, "job id in the engine");
    f(2, "nodes_before", nodes_before, "node list when the fault was seen");
    f(3, "nodes_after", nodes_after, "node list when it ran again");
    f(4, "restarts", restarts, "restart count that the engine reports");
    f(5, "running_again_at", running_again_at, "first seen running after the requeue");
  }
};

struct Incident {
  static constexpr std::string_view kind = "incident";
  IncidentId id;
  NodeId node;
  std::string node_name;
  AllocationId allocation;
  std::string fault;
  std::string device;
  std::string action;
  bool device_lost = false;
  bool hardware_witness = false;
  bool drill = false;
  std::string blame;
  IncidentState state = IncidentState::open;
  std::string policy_state;
  Instant policy_since;
  std::map<std::string, int> entries;
  std::vector<Witness> witnesses;
  std::int64_t witnesses_dropped = 0;
  std::vector<TimelineEntry> timeline;
  std::vector<Verdict> verdicts;
  std::vector<JobImpact> jobs;
  std::string boot_id_at_entry;
  Instant last_witness_at;
  NodeId replacement;
  Instant opened_at;
  Instant detected_at;
  Instant resolved_at;
  Instant member_short_since;
  Instant member_restored_at;
  bool held = false;
  std::optional<Blame> blamed;
  SubjectKind subject_kind = SubjectKind::node;  ///< of all that is older than blame as well
  std::string subject;
  std::vector<NodeId> affected;
  std::vector<AllocationId> allocations;
  Meta meta;
  void fields(Fields& f);
};

}  // namespace tundish
