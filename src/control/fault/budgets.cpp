#include "control/fault/budgets.hpp"

#include <algorithm>

#include "control/fault/leave.hpp"
#include "control/fault/policy.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::control {
namespace {

/// The same part of the same node: whatever the complaint when both name the part, else the same
/// complaint. What a drill spends is no real fault's, and the other way round.
bool is_same_fault(const Incident& a, const Incident& b) {
  if (a.node != b.node || a.drill != b.drill) return false;
  if (!a.device.empty() && !b.device.empty()) return a.device == b.device;
  return a.fault == b.fault;
}

/// What an incident did itself: its entries hold what it was charged for others as well, and an act
/// that never got leave cost nothing.
void count_own(const RemediationPolicy& policy, const Incident& incident,
               std::map<std::string, int>& out) {
  for (const auto& entry : incident.timeline) {
    if (entry.key.empty() || waits_for_leave(entry)) continue;
    const auto known = policy.states.find(entry.what);
    if (known == policy.states.end()) continue;
    if (is_disruptive_action(known->second.action)) ++out[entry.what];
  }
}

}  // namespace

std::map<std::string, int> spent_before(const View& view, const Incident& incident) {
  std::map<std::string, int> out;
  const auto& budgets = view.policy.budgets;
  if (budgets.kept_in != BudgetKeeper::history || budgets.window_h == 0) return out;
  // A line that a user wrote is answered by checks alone: it spends nothing.
  if (!incident.hardware_witness) return out;
  const Instant since = view.now - hours(budgets.window_h);
  for (const auto& [id, other] : view.reg.all<Incident>()) {
    if (id == incident.id) continue;
    // After an RMA, or a person's close, it is another part: its purse is its own.
    const bool same_part =
        other.state == IncidentState::resolved || other.state == IncidentState::overridden;
    if (!same_part) continue;
    if (other.opened_at < since || !is_same_fault(other, incident)) continue;
    count_own(view.policy, other, out);
  }
  return out;
}

OperationPtr carry_budgets(IncidentId id, std::map<std::string, int> spent) {
  const auto carry = [id, spent = std::move(spent)](Txn& txn) -> Result<> {
    Incident incident = TRY(get_object(txn, id));
    for (const auto& [state, times] : spent) {
      incident.entries[state] = std::max(incident.entries[state], times);
    }
    txn.put(std::move(incident));
    return {};
  };
  return make_operation("carry_budgets", "incident/" + id.str(), carry);
}

OperationPtr override_others(IncidentId id, std::string reason) {
  return make_operation("override_others", "incident/" + id.str(), [=](Txn& txn) -> Result<> {
    const Incident incident = TRY(get_object(txn, id));
    std::vector<Claim> others;
    for (const auto& claim_id : txn.view().claims_on(incident.node)) {
      const Claim* claim = txn.view().find(claim_id);
      if (claim && claim->incident != id) others.push_back(*claim);
    }
    for (auto& claim : others) {
      claim.state = ClaimState::overridden;
      claim.until = txn.now();
      claim.reason += "; " + reason;
      txn.put(std::move(claim));
    }
    return {};
  });
}

}  // namespace tundish::control
