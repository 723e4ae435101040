#include "model/ops/maintenance_ops.hpp"

#include <algorithm>

#include "base/quote.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/node_report.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/incident_parts.hpp"
#include "model/ops/incident_proof.hpp"
#include "model/ops/rma_ops.hpp"

namespace tundish {
namespace {

constexpr int tries_before_incident = 2;

std::string about(const MaintenanceId& id) { return "maintenance/" + id.str(); }

Result<> change_maintenance(Txn& txn, const MaintenanceId& id,
                            const std::function<Result<bool>(Maintenance&)>& change) {
  Maintenance maintenance = TRY(get_object(txn, id));
  if (TRY(change(maintenance))) txn.put(std::move(maintenance));
  return {};
}

std::optional<Claim> claim_of(const Registry& view, const MaintenanceId& id, const NodeId& node) {
  for (const auto& claim_id : view.claims_on(node)) {
    const Claim* claim = view.find(claim_id);
    if (claim && claim->holder == maintenance_holder(id)) return *claim;
  }
  return std::nullopt;
}

void claim_node(Txn& txn, const Maintenance& maintenance, const NodeId& node) {
  if (claim_of(txn.view(), maintenance.id, node)) return;
  Claim claim;
  claim.id = txn.make_id<Claim>();
  claim.meta.name = claim.id.str();
  claim.node = node;
  claim.holder = maintenance_holder(maintenance.id);
  claim.reason = "maintenance: " + maintenance.reason;
  claim.since = txn.now();
  txn.put(std::move(claim));
}

void release_claim_on(Txn& txn, const MaintenanceId& id, const NodeId& node) {
  auto claim = claim_of(txn.view(), id, node);
  if (!claim) return;
  claim->state = ClaimState::released;
  claim->until = txn.now();
  txn.put(std::move(*claim));
}

bool meets(const Maintenance& other, const MaintenanceOrder& order, Instant now) {
  // One that is under way lasts until it is ended, whatever its window says.
  const Instant until = is_under_way(other) ? std::max(other.end, now + hours(1)) : other.end;
  return order.begin < until && other.begin < order.end;
}

Result<> check_window(const MaintenanceOrder& order, Instant now) {
  if (order.reason.empty()) {
    return make_error(Code::invalid, "a maintenance needs a reason")
        .with_remedy("add --reason TEXT");
  }
  if (!order.begin.is_set() || !order.end.is_set() || order.end <= order.begin) {
    return make_error(Code::invalid, "the window ends at " + render_utc(order.end) +
                                         ", which is not after its begin at " +
                                         render_utc(order.begin))
        .with_remedy("give an end after the begin");
  }
  if (order.end <= now) {
    return make_error(Code::invalid, "the window is past: it ends at " + render_utc(order.end))
        .with_remedy("give a window that ends later than now");
  }
  return {};
}

Result<> check_overlap(const Txn& txn, const NodeId& node, const MaintenanceOrder& order) {
  for (const auto& id : txn.view().windows_of(node)) {
    const Maintenance* other = txn.view().find(id);
    if (!other || !meets(*other, order, txn.now())) continue;
    const Node* found = txn.view().find(node);
    return make_error(Code::conflict, "node " + (found ? found->meta.name : node.str()) + " has " +
                                          other->meta.name + " from " + render_utc(other->begin) +
                                          " to " + render_utc(other->end))
        .about(about(id))
        .with_remedy("choose another window, or end that one: tundish maintenance end " +
                     other->meta.name);
  }
  return {};
}

/// Open incidents of the node that were seen in the window.
std::vector<IncidentId> open_in_window(const Txn& txn, const Maintenance& maintenance,
                                       const NodeId& node) {
  std::vector<IncidentId> out;
  for (const auto& id : maintenance.recorded) {
    const Incident* incident = txn.view().find(id);
    const bool open = incident && incident->state == IncidentState::open;
    if (open && incident->node == node) out.push_back(id);
  }
  return out;
}

/// Why they are not over yet: what showed them was not measured, or is still bad. Empty: they are.
std::string unproved_in_window(const Txn& txn, const std::vector<IncidentId>& open,
                               const std::vector<Verdict>& verdicts) {
  for (const auto& id : open) {
    const std::string why = unproved(proof_of(*txn.view().find(id)), verdicts);
    if (!why.empty()) return why;
  }
  return "";
}

/// A tenant's report that led to it said that the node is taken out: it was mended instead.
void correct_reports(Txn& txn, const IncidentId& incident, const std::string& window) {
  std::vector<NodeReport> changed;
  for (const auto& [id, report] : txn.view().all<NodeReport>()) {
    if (report.incident == incident && report.state == ReportState::swapped) {
      changed.push_back(report);
    }
  }
  for (auto& report : changed) {
    report.state = ReportState::sound;
    report.conclusion += "; not swapped: " + window + " mended it, and what was found is measured "
                         "to be over";
    txn.put(std::move(report));
  }
}

/// What was seen while people worked on the node, and nothing else, is over with the proof.
Result<> close_recorded(Txn& txn, const Maintenance& maintenance,
                        const std::vector<IncidentId>& open) {
  for (const auto& id : open) {
    const std::string why =
        maintenance.meta.name + ": seen in its window; what showed it passed after";
    TRY_VOID(note_incident(id, "closed by maintenance", why)->perform(txn));
    TRY_VOID(close_proved(id)->perform(txn));
    correct_reports(txn, id, maintenance.meta.name);
  }
  return {};
}

/// A node that was switched off lost what runs on it for its cluster: it is set up again.
Result<> set_up_again(Txn& txn, const MaintenanceNode& one) {
  const Node* node = txn.view().find(one.node);
  if (!node || node->status.boot_id == one.boot_id) return {};
  const Allocation* held = txn.view().find(node->status.allocation);
  const AllocationNode* member = held ? find_member(*held, one.node) : nullptr;
  if (!member || !member->joined) return {};
  const bool serves = member->role == MemberRole::member || member->role == MemberRole::login;
  if (!serves) return {};
  return mark_joined(held->id, one.node, false, "")->perform(txn);
}

void settle(Txn& txn, Maintenance& maintenance) {
  const bool done = std::all_of(maintenance.nodes.begin(), maintenance.nodes.end(),
                                [](const MaintenanceNode& one) {
                                  return one.state == MaintenanceNodeState::proved ||
                                         one.state == MaintenanceNodeState::faulty;
                                });
  if (!done || maintenance.state != MaintenanceState::revalidating) return;
  maintenance.state = MaintenanceState::ended;
  maintenance.state_since = maintenance.ended_at = txn.now();
}

std::vector<Verdict> failed_of(const std::vector<Verdict>& verdicts) {
  std::vector<Verdict> out;
  for (const auto& verdict : verdicts) {
    if (verdict.state == VerdictState::fail) out.push_back(verdict);
  }
  return out;
}

/// What the BMC says of the node by itself, as of a leak: the agent's checks do not see it. The
/// incident of it opens when the window lets go of the node.
std::string accused_by_bmc(const Txn& txn, const NodeId& id) {
  const Node* node = txn.view().find(id);
  for (const auto& verdict : node ? node->status.bmc_verdicts : std::vector<Verdict>{}) {
    const bool local = verdict.locality == Locality::device_local;
    if (local && verdict.state == VerdictState::fail) return verdict.check + ": " + verdict.reason;
  }
  return "";
}

Result<> judge_checks(Txn& txn, Maintenance& maintenance, MaintenanceNode& one,
                      const std::vector<Verdict>& verdicts) {
  const auto failed = failed_of(verdicts);
  const bool passed =
      !verdicts.empty() &&
      std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
        return verdict.state == VerdictState::ok || verdict.state == VerdictState::warn;
      });
  ++one.tries;
  one.tried_at = txn.now();
  one.since = txn.now();
  if (const std::string accused = accused_by_bmc(txn, one.node); !accused.empty()) {
    one.reason = accused;
    if (one.tries < tries_before_incident) return {};
    one.state = MaintenanceNodeState::faulty;
    release_claim_on(txn, maintenance.id, one.node);
    return {};
  }
  const auto open = open_in_window(txn, maintenance, one.node);
  const std::string unproven = passed ? unproved_in_window(txn, open, verdicts) : "";
  if (passed && unproven.empty()) {
    one.state = MaintenanceNodeState::proved;
    one.reason.clear();
    TRY_VOID(close_recorded(txn, maintenance, open));
    TRY_VOID(set_up_again(txn, one));
    release_claim_on(txn, maintenance.id, one.node);
    return {};
  }
  one.reason = "checks gave no answer";
  for (const auto& verdict : verdicts) {
    if (verdict.state == VerdictState::ok || verdict.state == VerdictState::warn) continue;
    one.reason = verdict.check + ": " + verdict.reason;
    if (verdict.state == VerdictState::fail) break;
  }
  if (!unproven.empty()) one.reason = unproven;
  // An incident of the window whose proof fails goes on by the policy, with the window's end.
  const bool open_fault = !unproven.empty() && !open.empty();
  if ((failed.empty() && !open_fault) || one.tries < tries_before_incident) return {};
  if (open.empty()) {
    TRY_VOID(open_probe_incident(one.node, failed)->perform(txn));
  }
  one.state = MaintenanceNodeState::faulty;
  release_claim_on(txn, maintenance.id, one.node);
  return {};
}

}  // namespace

std::optional<std::vector<NodeId>> nodes_of_scope(const Registry& view, const std::string& scope) {
  const auto colon = scope.find(':');
  const std::string kind = scope.substr(0, colon);
  const std::string name = colon == std::string::npos ? "" : scope.substr(colon + 1);
  const bool known = kind == "node" || kind == "rack" || kind == "switch" || kind == "site";
  if (!known || name.empty()) return std::nullopt;
  std::vector<NodeId> out;
  for (const auto& [id, node] : view.all<Node>()) {
    if (node.status.phase == NodePhase::retired) continue;
    const bool cabled = std::any_of(node.spec.ports.begin(), node.spec.ports.end(),
                                    [&](const Port& port) { return port.switch_name == name; });
    const bool inside = (kind == "node" && node.meta.name == name) ||
                        (kind == "rack" && node.spec.rack == name) ||
                        (kind == "site" && node.spec.site == name) || (kind == "switch" && cabled);
    if (inside) out.push_back(id);
  }
  return out;
}

OperationPtr create_maintenance(MaintenanceOrder order) {
  const std::string object = "maintenance/" + order.scope;
  return make_operation("create_maintenance", object, [=](Txn& txn) -> Result<> {
    TRY_VOID(check_window(order, txn.now()));
    const auto nodes = nodes_of_scope(txn.view(), order.scope);
    if (!nodes) {
      return make_error(Code::invalid, in_quotes(order.scope) + " is no scope of a maintenance")
          .with_remedy("use node:NAME, rack:NAME, switch:NAME or site:NAME");
    }
    if (nodes->empty()) {
      return make_error(Code::invalid, "no node is in " + order.scope)
          .with_remedy("see `tundish node list`, or set a hold on it instead");
    }
    Maintenance made;
    for (const auto& node : *nodes) {
      TRY_VOID(check_overlap(txn, node, order));
      made.nodes.push_back({node, MaintenanceNodeState::waiting, txn.now(), "", 0, {}});
    }
    made.id = txn.make_id<Maintenance>();
    made.meta.name = made.id.str();
    made.scope = order.scope;
    made.reason = order.reason;
    made.begin = order.begin;
    made.end = order.end;
    made.owner = order.owner;
    made.state_since = txn.now();
    txn.put(std::move(made));
    return {};
  });
}

OperationPtr advance_maintenance(MaintenanceId id, MaintenanceState from, MaintenanceState to) {
  return make_operation("advance_maintenance", about(id), [=](Txn& txn) {
    return change_maintenance(txn, id, [&](Maintenance& maintenance) -> Result<bool> {
      if (maintenance.state != from) {
        return make_error(Code::conflict, maintenance.meta.name + " left that state");
      }
      maintenance.state = to;
      maintenance.state_since = txn.now();
      if (to != MaintenanceState::active) return true;
      maintenance.begun_at = txn.now();
      for (auto& one : maintenance.nodes) {
        claim_node(txn, maintenance, one.node);
        if (const Node* node = txn.view().find(one.node)) one.boot_id = node->status.boot_id;
      }
      return true;
    });
  });
}

OperationPtr permit_maintenance(MaintenanceId id, NodeId node) {
  return make_operation("permit_maintenance", about(id), [=](Txn& txn) -> Result<> {
    auto claim = claim_of(txn.view(), id, node);
    if (!claim || claim->permitted) return {};
    claim->permitted = true;
    txn.put(std::move(*claim));
    return note_maintenance_node(id, node, MaintenanceNodeState::draining, "")->perform(txn);
  });
}

OperationPtr note_maintenance_node(MaintenanceId id, NodeId node, MaintenanceNodeState state,
                                   std::string reason) {
  return make_operation("note_maintenance_node", about(id), [=](Txn& txn) {
    return change_maintenance(txn, id, [&](Maintenance& maintenance) -> Result<bool> {
      MaintenanceNode* one = find_node(maintenance, node);
      if (!one || (one->state == state && one->reason == reason)) return false;
      if (one->state != state) one->since = txn.now();
      one->state = state;
      one->reason = reason;
      return true;
    });
  });
}

OperationPtr mark_overrun(MaintenanceId id) {
  return make_operation("mark_overrun", about(id), [=](Txn& txn) {
    return change_maintenance(txn, id, [&](Maintenance& maintenance) -> Result<bool> {
      if (maintenance.overrun_since.is_set() || is_over(maintenance)) return false;
      maintenance.overrun_since = maintenance.end;
      return true;
    });
  });
}

OperationPtr end_maintenance(MaintenanceId id) {
  return make_operation("end_maintenance", about(id), [=](Txn& txn) {
    return change_maintenance(txn, id, [&](Maintenance& maintenance) -> Result<bool> {
      if (is_over(maintenance)) {
        return make_error(Code::conflict, maintenance.meta.name + " is over").about(about(id));
      }
      if (maintenance.state == MaintenanceState::revalidating) return false;
      const bool begun = maintenance.state == MaintenanceState::active;
      maintenance.state = begun ? MaintenanceState::revalidating : MaintenanceState::cancelled;
      maintenance.state_since = txn.now();
      maintenance.ended_by = txn.actor();
      if (!begun) maintenance.ended_at = txn.now();
      return true;
    });
  });
}

OperationPtr record_maintenance_checks(MaintenanceId id, NodeId node,
                                       std::vector<Verdict> verdicts) {
  return make_operation("record_maintenance_checks", about(id), [=](Txn& txn) -> Result<> {
    Maintenance maintenance = TRY(get_object(txn, id));
    MaintenanceNode* one = find_node(maintenance, node);
    const bool awaited = one && maintenance.state == MaintenanceState::revalidating &&
                         one->state != MaintenanceNodeState::proved &&
                         one->state != MaintenanceNodeState::faulty;
    if (!awaited) return {};
    TRY_VOID(judge_checks(txn, maintenance, *one, verdicts));
    settle(txn, maintenance);
    txn.put(std::move(maintenance));
    return {};
  });
}

OperationPtr leave_to_vendor(MaintenanceId id, NodeId node) {
  return make_operation("leave_to_vendor", about(id), [=](Txn& txn) -> Result<> {
    Maintenance maintenance = TRY(get_object(txn, id));
    MaintenanceNode* one = find_node(maintenance, node);
    const Incident* incident = find_at_vendor(txn.view(), node);
    if (!one || !incident || maintenance.state != MaintenanceState::revalidating) return {};
    one->state = MaintenanceNodeState::faulty;
    one->since = txn.now();
    one->reason = "the vendor has it for " + incident->id.str() + ": proved when it comes back";
    release_claim_on(txn, id, node);
    settle(txn, maintenance);
    txn.put(std::move(maintenance));
    return {};
  });
}

OperationPtr record_in_window(MaintenanceId id, IncidentId incident) {
  return make_operation("record_in_window", about(id), [=](Txn& txn) {
    return change_maintenance(txn, id, [&](Maintenance& maintenance) -> Result<bool> {
      auto& known = maintenance.recorded;
      if (std::find(known.begin(), known.end(), incident) != known.end()) return false;
      known.push_back(incident);
      return true;
    });
  });
}

MaintenanceNode* find_node(Maintenance& maintenance, const NodeId& node) {
  for (auto& one : maintenance.nodes) {
    if (one.node == node) return &one;
  }
  return nullptr;
}

const MaintenanceNode* find_node(const Maintenance& maintenance, const NodeId& node) {
  return find_node(const_cast<Maintenance&>(maintenance), node);  // NOLINT: only looks
}

const Maintenance* maintenance_over(const Registry& view, const NodeId& node) {
  for (const auto& id : view.windows_of(node)) {
    const Maintenance* found = view.find(id);
    if (!found || !is_under_way(*found)) continue;
    const MaintenanceNode* one = find_node(*found, node);
    if (one && one->state != MaintenanceNodeState::proved &&
        one->state != MaintenanceNodeState::faulty) {
      return found;
    }
  }
  return nullptr;
}

const Maintenance* maintenance_over(const Registry& view, const Incident& incident) {
  if (!incident.node.empty()) return maintenance_over(view, incident.node);
  const std::string part = incident.subject.substr(0, incident.subject.find('/'));
  for (const auto& [id, maintenance] : view.all<Maintenance>()) {
    if (is_under_way(maintenance) && maintenance.scope == "switch:" + part) return &maintenance;
  }
  const Maintenance* over = nullptr;
  for (const auto& node : incident.affected) {
    over = maintenance_over(view, node);
    if (!over) return nullptr;
  }
  return over;
}

}  // namespace tundish
