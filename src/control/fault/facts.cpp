#include <algorithm>

#include "control/cluster/drained.hpp"
#include "control/fault/check_plan.hpp"
#include "control/fault/policy.hpp"
#include "control/fault/reconcile_incident.hpp"
#include "control/permit/blast.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/witnessed_anew.hpp"

namespace tundish::control {
namespace {

bool claims_permitted(const View& view, const Incident& incident) {
  bool any = false;
  for (const auto& id : view.reg.claims_on(incident.node)) {
    const Claim* claim = view.reg.find(id);
    if (!claim || claim->incident != incident.id) continue;
    if (!claim->permitted) return false;
    any = true;
  }
  return any;
}

void add_act_facts(const View& view, const Incident& incident, std::set<std::string>& facts) {
  const TimelineEntry* act = current_act(incident);
  const auto state = view.policy.states.find(incident.policy_state);
  if (!act || state == view.policy.states.end()) return;
  facts.merge(act_facts(view.policy, state->second, act->outcome));
}

/// The engine that the node belongs to has answered lately.
bool knows_engine(const View& view, const Node& node) {
  const Allocation* held = view.reg.find(node.status.allocation);
  return held && fresh_engine(view, held->cluster) != nullptr;
}

void add_fault(const View& view, const Incident& incident, std::set<std::string>& facts) {
  const PolicyFault* known = find_fault(view.policy, incident.fault);
  facts.insert(wish_fact(known ? known->action : incident.action));
  facts.insert("fault:" + incident.fault);
  if (incident.device_lost || (known && known->device_lost)) facts.insert("device_lost");
}

}  // namespace

std::set<std::string> facts_of(const View& view, const Incident& incident) {
  std::set<std::string> facts;
  const Node* node = view.reg.find(incident.node);
  if (!node) return facts;
  if (claims_permitted(view, incident)) facts.insert("permitted");
  if (incident.hardware_witness) facts.insert("hardware_witness");
  if (is_witnessed_anew(incident)) facts.insert("new_witness");
  if (node->status.boot_id != incident.boot_id_at_entry) facts.insert("rebooted");
  const auto presence = view.seen.presence.find(node->id);
  if (is_present(view, node->id) && presence->second.boot_id == node->status.boot_id) {
    facts.insert("agent_back");
  }
  if (node->status.allocation.empty()) {
    facts.insert("isolated");
    facts.insert("drained");
  } else {
    facts.insert("in_allocation");
    if (is_drained(view, *node)) facts.insert("drained");
  }
  if (knows_engine(view, *node)) facts.insert("engine_known");
  add_act_facts(view, incident, facts);
  add_fault(view, incident, facts);
  if (is_braked(view, incident.id)) facts.insert("brake");
  return facts;
}

}  // namespace tundish::control
