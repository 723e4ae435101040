#pragma once
#include "model/ops/common.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish {

/// What one witness asks for. Pure; the catalogue is data.
struct Judgement {
  bool opens = false;     ///< takes the node out of service
  std::string fault;      ///< "xid 79"
  std::string device;
  FaultAction action = FaultAction::none;
  bool device_lost = false;
  bool hardware = false;  ///< cannot be forged by a tenant's root
  std::string why;
};
Judgement judge_witness(const XidCatalogue& catalogue, const Witness& witness);

/// Stores what an agent saw, each witness exactly once, and opens or extends the node's incident.
/// A claim is taken in the same transaction. Witnesses that ask for nothing only move the cursor.
OperationPtr record_witnesses(NodeId node, std::vector<Witness> witnesses,
                              const XidCatalogue& catalogue);
/// A failed check of a node's own life cycle: opens an incident with a probe witness.
OperationPtr open_probe_incident(NodeId node, std::vector<Verdict> failed);

/// The runner executed the permit to act on the claims of an incident.
OperationPtr permit_claims(IncidentId incident);
OperationPtr enter_policy_state(IncidentId incident, std::string from, std::string to,
                                std::string action, std::string doc, TimeOwner owner);
OperationPtr finish_act(IncidentId incident, std::string key, StepOutcome outcome,
                        std::string detail, Duration acting);
OperationPtr record_incident_verdicts(IncidentId incident, std::string key,
                                      std::vector<Verdict> verdicts, StepOutcome outcome);
/// Ends of the policy.
OperationPtr return_node(IncidentId incident);
OperationPtr open_rma(IncidentId incident, std::string reason);

OperationPtr record_job_hit(IncidentId incident, JobImpact job);
OperationPtr record_job_back(IncidentId incident, std::string job, std::string nodes_after,
                             int restarts);
OperationPtr record_restored(IncidentId incident);
OperationPtr note_incident(IncidentId incident, std::string what, std::string detail);
OperationPtr set_incident_held(IncidentId incident, bool held);
/// A person ends an incident that waits (RMA done, override): claims are released.
OperationPtr close_incident(IncidentId incident);
/// A person resumed the node in the engine: its claims are overridden, one notice.
OperationPtr override_claims(NodeId node, std::string reason);

OperationPtr take_claim(NodeId node, std::string holder, std::string reason);
/// By its holder, or by force with a reason.
OperationPtr release_claim(Id<Claim> claim, ClaimState state);

/// The current act of an incident: its newest timeline entry with a key.
const TimelineEntry* current_act(const Incident& incident);
/// Identity of the act of the current policy state: repeated after a crash it is the same act.
std::string act_key(const Incident& incident);

}  // namespace tundish
