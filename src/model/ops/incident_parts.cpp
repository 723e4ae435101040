#include "model/ops/incident_parts.hpp"

#include <algorithm>

namespace tundish {

std::string action_name(FaultAction action) {
  return std::string(enum_names(action)[static_cast<std::size_t>(action)]);
}

void add_entry(Incident& incident, Instant now, std::string what, std::string detail) {
  TimelineEntry entry;
  entry.at = entry.until = now;
  entry.what = std::move(what);
  entry.detail = std::move(detail);
  incident.timeline.push_back(std::move(entry));
}

Incident new_incident(Txn& txn, const Node& node, const std::string& fault) {
  Incident incident;
  incident.id = txn.make_id<Incident>();
  incident.meta.name = incident.id.str();
  // Kept beside the allocation: whose it was is known when that is gone.
  const Allocation* held = txn.view().find(node.status.allocation);
  if (held) incident.meta.tenant = held->meta.tenant;
  incident.node = node.id;
  incident.allocation = node.status.allocation;
  incident.fault = fault;
  incident.boot_id_at_entry = node.status.boot_id;
  incident.opened_at = txn.now();
  incident.detected_at = txn.now();
  return incident;
}

void claim_for(Txn& txn, const Incident& incident) {
  Claim claim;
  claim.id = txn.make_id<Claim>();
  claim.meta.name = claim.id.str();
  claim.node = incident.node;
  claim.holder = "incident";
  claim.reason = incident.fault;
  claim.incident = incident.id;
  claim.since = txn.now();
  txn.put(std::move(claim));
}

void end_claims(Txn& txn, const NodeId& node, const IncidentId& incident, ClaimState state) {
  std::vector<Claim> ended;
  for (const auto& id : txn.view().claims_on(node)) {
    const Claim* claim = txn.view().find(id);
    if (claim && claim->incident == incident) ended.push_back(*claim);
  }
  for (auto& claim : ended) {
    claim.state = state;
    claim.until = txn.now();
    txn.put(std::move(claim));
  }
}

}  // namespace tundish
