#include <algorithm>

#include "control/cluster/drained.hpp"
#include "control/fault/reconcile_incident.hpp"
#include "model/ops/incident_ops.hpp"

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
  if (!act) return;
  const auto state = view.policy.states.find(incident.policy_state);
  const bool checks = state != view.policy.states.end() && state->second.action == "run_checks";
  switch (act->outcome) {
    case StepOutcome::done:
      facts.insert("action_done");
      if (checks) facts.insert("checks_passed");
      break;
    case StepOutcome::failed:
      facts.insert("action_failed");
      if (checks) facts.insert("checks_failed");
      break;
    case StepOutcome::timeout:  // no answer: it may have been done, the checks may have passed
      facts.insert("action_unknown");
      if (checks) facts.insert("checks_unknown");
      break;
    case StepOutcome::running:
    case StepOutcome::proposed:
    case StepOutcome::refused: break;
  }
}

void add_wishes(const Incident& incident, std::set<std::string>& facts) {
  if (incident.action == "rma") {
    facts.insert("wants_rma");
  } else if (incident.action == "reboot") {
    facts.insert("wants_reboot");
  } else if (incident.action == "reset" || incident.action == "fabric") {
    facts.insert("wants_reset");
  } else {
    facts.insert("wants_nothing");
  }
}

}  // namespace

std::set<std::string> facts_of(const View& view, const Incident& incident) {
  std::set<std::string> facts;
  const Node* node = view.reg.find(incident.node);
  if (!node) return facts;
  if (claims_permitted(view, incident)) facts.insert("permitted");
  if (incident.device_lost) facts.insert("device_lost");
  if (incident.hardware_witness) facts.insert("hardware_witness");
  if (incident.last_witness_at > incident.policy_since) facts.insert("new_witness");
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
  add_act_facts(view, incident, facts);
  add_wishes(incident, facts);
  return facts;
}

}  // namespace tundish::control
