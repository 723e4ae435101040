#pragma once
// What operations on incidents share. For src/model/ops only.
#include <string>

#include "model/ops/common.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish {

std::string action_name(FaultAction action);
/// How the fault of an incident begins that checks opened; their names follow.
inline constexpr std::string_view checks_failed_fault = "checks failed: ";
void add_entry(Incident& incident, Instant now, std::string what, std::string detail);
/// On a node, open as of now. Not stored.
Incident new_incident(Txn& txn, const Node& node, const std::string& fault);
void claim_for(Txn& txn, const Incident& incident);
/// The active claims of one incident on one node end in `state`.
void end_claims(Txn& txn, const NodeId& node, const IncidentId& incident, ClaimState state);
/// As close_incident(), of a node that was proved meanwhile.
OperationPtr close_proved(IncidentId id);
/// Its checks passed: what an earlier run said is over, and the GPUs that it has are on record.
void mark_proved(Node& node);

}  // namespace tundish
