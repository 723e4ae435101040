// How a person, or a maintenance window, ends an incident.
#include "model/ops/incident_ops.hpp"
#include "model/ops/incident_parts.hpp"
#include "model/ops/maintenance_ops.hpp"

namespace tundish {
namespace {

enum class Proved { no, yes };

/// A person's word ends an incident; it says nothing of the node, which nobody is given before it
/// is proved. One that serves goes on, as a service node always does; in a window the window proves
/// it.
void prove_again(Txn& txn, Node node, bool was_rma) {
  const bool free = node.status.allocation.empty() && node.status.phase != NodePhase::retired;
  const bool serves = node.spec.role == NodeRole::service || maintenance_over(txn.view(), node.id);
  if (!free || (serves && !was_rma)) return;
  node.status.phase = NodePhase::wiping;
  if (was_rma) node.status.accepted_gpus.clear();  // the vendor may have changed one: a new record
  node.status.phase_since = txn.now();
  node.status.attempts = 0;  // what failed before is no try of this proof
  txn.put(std::move(node));
}

OperationPtr close_it(IncidentId id, Proved proved) {
  const auto close = [id, proved](Txn& txn) -> Result<> {
    Incident incident = TRY(get_object(txn, id));
    if (incident.state == IncidentState::closed) return {};
    const bool was_rma = incident.state == IncidentState::rma;
    const bool over = incident.state != IncidentState::open && !was_rma;
    incident.state = IncidentState::closed;
    add_entry(incident, txn.now(), "closed", "by " + txn.actor());
    if (incident.node.empty()) {  // on a shared part: no node is out of service for it
      incident.resolved_at = txn.now();
      txn.put(std::move(incident));
      return {};
    }
    Node node = TRY(get_object(txn, incident.node));
    if (!incident.resolved_at.is_set()) incident.resolved_at = txn.now();
    end_claims(txn, incident.node, id, ClaimState::released);
    if (!over && (was_rma || proved == Proved::no)) prove_again(txn, std::move(node), was_rma);
    txn.put(std::move(incident));
    return {};
  };
  return make_operation("close_incident", "incident/" + id.str(), close);
}

}  // namespace

OperationPtr close_incident(IncidentId id) { return close_it(id, Proved::no); }

OperationPtr close_proved(IncidentId id) { return close_it(id, Proved::yes); }

}  // namespace tundish
