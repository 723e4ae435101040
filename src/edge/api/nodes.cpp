#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "control/fault/policy.hpp"
#include "control/fault/reconcile_incident.hpp"
#include "control/permit/denied.hpp"
#include "control/permit/permit.hpp"
#include "edge/api/explain_more.hpp"
#include "edge/api/handlers.hpp"
#include "model/ops/blame_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/rma_ops.hpp"

namespace tundish::edge::api {
namespace {

std::string holder_of(const Identity& who) { return "person:" + who.name; }

struct NodeCall {
  Node node;
  ReasonRequest asked;
};

Result<NodeCall> read_call(Backend& b, const Call& call) {
  NodeCall out;
  out.asked = TRY(parse_body<ReasonRequest>(call));
  if (out.asked.reason.empty()) out.asked.reason = call.header("x-reason");
  out.node = TRY((get_matching<Node>(b, call, call.parts.at(0))));
  return out;
}

Result<Later> claim_for_person(Backend& b, const Call& call, const std::string& verb) {
  const NodeCall given = TRY(read_call(b, call));
  if (given.node.status.phase == NodePhase::retired) {
    return make_error(Code::conflict, "node " + given.node.meta.name + " is retired")
        .about("node/" + given.node.meta.name);
  }
  const std::string reason =
      given.asked.reason.empty() ? verb + " by " + call.who.name : verb + ": " + given.asked.reason;
  TRY_VOID(
      b.perform(call, *take_claim(given.node.id, holder_of(call.who), reason), given.asked.reason));
  return show_later(b, call, given.node);
}

std::string describe_claim(const Claim& claim) {
  return claim.id.str() + " of " + claim.holder + " since " + render_utc(claim.since) + ": " +
         claim.reason;
}

Error foreign_claims_error(const Registry& view, const Node& node) {
  std::string held;
  std::string first;
  for (const auto& id : view.claims_on(node.id)) {
    const Claim* claim = view.find(id);
    if (!claim) continue;
    if (first.empty()) first = id.str();
    held += (held.empty() ? "" : "; ") + describe_claim(*claim);
  }
  return make_error(Code::conflict, "node " + node.meta.name + " is held by others: " + held)
      .about("node/" + node.meta.name)
      .with_remedy("wait for them, or force one with a reason: tundish claim release " + first +
                   " --force --reason ...");
}

/// Why nobody knows that the node is off, though it was to go off; empty: it is, or need not be.
std::string power_doubt(const RemediationPolicy& policy, const Incident& incident) {
  for (auto act = incident.timeline.rbegin(); act != incident.timeline.rend(); ++act) {
    const auto state = policy.states.find(act->what);
    if (act->key.empty() || state == policy.states.end()) continue;
    if (state->second.action != "power_off") continue;
    return act->outcome == StepOutcome::done ? "" : act->detail;
  }
  return "";
}

void explain_rma(const Backend& b, const Incident& incident, const Node& node, Explanation& out,
                 std::vector<std::string>& next) {
  next.push_back("incident " + incident.id.str() + " (" + incident.fault +
                 ") waits for the vendor since " + render_utc(incident.resolved_at) +
                 "; no time ends that: a person closes it");
  const std::string doubt = power_doubt(b.parts.manager.view().policy, incident);
  if (!doubt.empty()) {
    out.you_can.push_back(
        "switch it off by hand before anything else: it is not known to be off (" + doubt + ")");
  }
  out.you_can.push_back("have the vendor replace the " + vendor_text(incident, node));
  out.you_can.push_back("when it is back: tundish incident close " + incident.id.str() +
                        " (the node is wiped and proved before it is used)");
  out.you_can.push_back("if its board was changed, then also: tundish node confirm " +
                        node.meta.name);
}

/// A node that we switched off is silent for that, and nothing of ours switches it on.
void explain_power(const Backend& b, const Node& node, Explanation& out,
                   std::vector<std::string>& next) {
  const auto view = b.parts.manager.view();
  const Incident* last = nullptr;
  for (const auto& [id, incident] : b.reg().all<Incident>()) {
    const bool newer = !last || last->opened_at < incident.opened_at;
    if (incident.node == node.id && newer) last = &incident;
  }
  // It was seen in a later boot: somebody did.
  if (!last || last->boot_id_at_entry != node.status.boot_id) return;
  const auto off = std::find_if(last->timeline.begin(), last->timeline.end(), [&](const auto& act) {
    const auto state = view.policy.states.find(act.what);
    const bool known = !act.key.empty() && state != view.policy.states.end();
    return known && state->second.action == "power_off" && act.outcome == StepOutcome::done;
  });
  if (off == last->timeline.end()) return;
  next.push_back(last->id.str() + " switched it off at " + render_utc(off->at) +
                 ", and it was not seen to start since");
  out.you_can.push_back("switch it on when it may have power again: nothing does that by itself");
}

/// A waiting act ends with the hold or the proposal before it; a policy state by its clock.
std::string explain_end(const Backend& b, const Incident& incident, const std::string& act,
                        Explanation& out) {
  const auto view = b.parts.manager.view();
  if (incident.held) {
    out.you_can.push_back("let it go on: tundish incident resume " + incident.id.str());
    return "; that ends when it is resumed";
  }
  for (const auto& [id, proposal] : b.reg().all<Proposal>()) {
    const bool is_its = proposal.group == incident.id.str() &&
                        proposal.state == ProposalState::waiting && proposal.expires_at > view.now;
    if (!is_its) continue;
    out.you_can.push_back("decide: tundish proposal approve " + id.str() + " (or deny)");
    return "; that ends when proposal " + id.str() + " is decided, or is asked anew at " +
           render_utc(proposal.expires_at);
  }
  for (const auto& [id, proposal] : b.reg().all<Proposal>()) {
    const bool denied =
        proposal.group == incident.id.str() && proposal.state == ProposalState::denied;
    if (!denied || act != control::denied_word) continue;
    out.you_can.push_back("let it happen after all: tundish proposal approve " + id.str());
    out.you_can.push_back("or end the incident, and a free node is proved anew: tundish incident "
                          "close " + incident.id.str());
    return "; that ends when a person approves proposal " + id.str() + " after all";
  }
  for (const auto& [id, hold] : b.reg().all<Hold>()) {
    if (act != "hold " + hold.scope + ": " + hold.reason) continue;
    if (hold.until.is_set() && hold.until <= view.now) continue;
    out.you_can.push_back("let it go on: tundish hold release " + id.str());
    return "; that ends when the hold is released" +
           (hold.until.is_set() ? ", or at " + render_utc(hold.until) : "");
  }
  if (!act.empty()) return "";
  const auto step = control::policy_step(
      view.policy, {incident.policy_state, incident.policy_since, incident.entries},
      control::facts_of(view, incident), view.now);
  return step.wake_at.is_set() ? "; at the latest it goes on at " + render_utc(step.wake_at) : "";
}

std::string explain_incident(const Backend& b, const Incident& incident, Explanation& out) {
  std::string text = "incident " + incident.id.str() + " (" + incident.fault + ") is at " +
                     (incident.policy_state.empty() ? "its beginning" : incident.policy_state);
  if (incident.held) text += "; a person holds it";
  const std::string waits = waiting_words(b.parts.manager.reason_of(incident.id.str()));
  if (!waits.empty()) text += "; " + waits;
  const std::string act = b.parts.manager.runner().waiting_reason(act_key(incident));
  if (!act.empty()) text += "; its act waits: " + act;
  return text + explain_end(b, incident, act, out);
}

/// What it shows that another part may have caused, and shared parts whose trouble it has.
void explain_blame(const Backend& b, const Node& node, Explanation& out,
                   std::vector<std::string>& next) {
  if (const Condition* symptom = find_condition(node, symptom_condition)) {
    next.push_back("it shows a symptom since " + render_utc(symptom->since) + " (" +
                   symptom->reason + "); nobody is given it meanwhile");
  }
  for (const auto& id : b.reg().incidents_on({})) {
    const Incident* incident = b.reg().find(id);
    if (!incident || !incident->blamed || incident->state != IncidentState::open) continue;
    const auto& hit = incident->affected;
    if (std::find(hit.begin(), hit.end(), node.id) == hit.end()) continue;
    next.push_back("incident " + id.str() + " blames " + subject_text(*incident->blamed) +
                   " for what it shows (" + incident->fault +
                   ") and takes no node out of service; it ends by itself 30 s after the last " +
                   "sign of it");
    out.you_can.push_back("read whose it is and why: tundish incident show " + id.str());
  }
}

/// What its driver said to the acts on it, and what its allocation waits for.
void explain_order(const control::View& view, const Node& node, std::vector<std::string>& next) {
  std::set<std::string> told;
  for (const auto& [key, fault] : view.seen.faults) {
    // An act for an allocation that the node has left is not tried again.
    const bool is_over = !fault.allocation.empty() && fault.allocation != node.status.allocation;
    const bool is_its = fault.node == node.id && !is_over &&
                        view.now - fault.at <= control::act_fault_life;
    if (is_its && told.insert(fault.what).second) next.push_back(fault.what);
  }
  const Allocation* held = view.reg.find(node.status.allocation);
  const std::string waits = held ? control::waiting_part(held->status.reason) : "";
  const bool said = std::any_of(told.begin(), told.end(), [&](const std::string& what) {
    return waits.find(what) != std::string::npos;
  });
  if (!waits.empty() && !said) next.push_back("its allocation " + waits);
}

void explain_conditions(const Backend& b, const Node& node, Explanation& out) {
  for (const auto& id : b.reg().claims_on(node.id)) {
    const Claim* claim = b.reg().find(id);
    if (!claim || !claim->holder.starts_with("person:")) continue;
    out.you_can.push_back(claim->holder.substr(7) + " gives it back: tundish node return " +
                          node.meta.name);
  }
  if (const Condition* wrong = find_condition(node, "miswired")) {
    out.you_can.push_back("put its cable or the inventory right (" + wrong->reason +
                          "), then: tundish node confirm " + node.meta.name);
  }
  const Condition* swapped = find_condition(node, "board_swap");
  if (!swapped || swapped->state != Truth::yes) return;
  out.you_can.push_back("accept its board: tundish node confirm " + node.meta.name +
                        ", or correct the serial in the sheet and import it");
}

}  // namespace

Result<Later> drain_node(Backend& b, const Call& call) {
  return claim_for_person(b, call, "drain");
}

Result<Later> replace_node(Backend& b, const Call& call) {
  const Node node = TRY((get_visible<Node>(b, call, call.parts.at(0))));
  if (node.status.allocation.empty() && node.status.phase != NodePhase::retired) {
    return make_error(Code::conflict, "node " + node.meta.name +
                                          " is in no allocation: there is nothing to take over")
        .about("node/" + node.meta.name)
        .with_remedy("to take it out of service: tundish node drain " + node.meta.name);
  }
  return claim_for_person(b, call, "replace");
}

Result<Later> return_node_call(Backend& b, const Call& call) {
  const NodeCall given = TRY(read_call(b, call));
  const bool force = given.asked.force;
  if (force && !may(call.who, Right::force)) {
    return make_error(Code::denied, "only role operator may force the claims of others");
  }
  if (force && given.asked.reason.empty()) {
    return make_error(Code::invalid, "forcing claims needs a reason").with_remedy("add --reason");
  }
  std::vector<OperationPtr> releases;
  const auto claims = b.reg().claims_on(given.node.id);
  for (const auto& id : claims) {
    const Claim* claim = b.reg().find(id);
    if (!claim) continue;
    const bool own = claim->holder == holder_of(call.who);
    if (!own && !force) continue;
    releases.push_back(release_claim(id, own ? ClaimState::released : ClaimState::overridden));
  }
  if (releases.empty() && !claims.empty()) return foreign_claims_error(b.reg(), given.node);
  if (releases.empty()) {
    return make_error(Code::conflict, "node " + given.node.meta.name +
                                          " is not drained: nobody claims it, nothing to return")
        .about("node/" + given.node.meta.name)
        .with_remedy("what it is: tundish node explain " + given.node.meta.name);
  }
  TRY_VOID(b.perform(call,
                     *compose("release_node", "node/" + given.node.id.str(), std::move(releases)),
                     given.asked.reason));
  return show_later(b, call, given.node);
}

Result<Later> confirm_node(Backend& b, const Call& call) {
  const NodeCall given = TRY(read_call(b, call));
  const bool board = find_condition(given.node, "board_swap") != nullptr;
  const bool cable = find_condition(given.node, "miswired") != nullptr;
  const auto confirmed =
      cable && !board ? set_condition(given.node.id, "miswired", Truth::no, "")
                      : confirm_board(given.node.id);
  TRY_VOID(b.perform(call, *confirmed, given.asked.reason));
  return show_later(b, call, given.node);
}

Result<Later> retire_node_call(Backend& b, const Call& call) {
  const NodeCall given = TRY(read_call(b, call));
  TRY_VOID(b.perform(call, *retire_node(given.node.id), given.asked.reason));
  return show_later(b, call, given.node);
}

Result<Answer> explain_node(Backend& b, const Call& call) {
  const Node node = TRY((get_visible<Node>(b, call, call.parts.at(0))));
  const auto view = b.parts.manager.view();
  Explanation out;
  out.node = node.meta.name;
  out.phase = std::string(enum_names(NodePhase{})[static_cast<std::size_t>(node.status.phase)]);
  const auto free = control::placeable(view, node);
  out.placeable = free.yes ? "yes" : "no: it " + free.reason;
  for (const auto& id : b.reg().claims_on(node.id)) {
    if (const Claim* claim = b.reg().find(id)) out.claims.push_back(describe_claim(*claim));
  }
  out.why = join(out.claims, "; ");
  std::vector<std::string> next;
  bool only_rma = !b.reg().incidents_on(node.id).empty();
  for (const auto& id : b.reg().incidents_on(node.id)) {
    const Incident* incident = b.reg().find(id);
    if (!incident) continue;
    const bool is_rma = incident->state == IncidentState::rma;
    only_rma = only_rma && is_rma;
    if (is_rma) {
      explain_rma(b, *incident, node, out, next);
    } else {
      next.push_back(explain_incident(b, *incident, out));
    }
    if (!incident->blame.empty()) out.why += (out.why.empty() ? "" : "; ") + incident->blame;
  }
  explain_blame(b, node, out, next);
  const std::string own = b.parts.manager.reason_of(node.id.str());
  if (!own.empty()) next.push_back(own);
  if (call.who.tenant.empty()) explain_order(view, node, next);
  if (!control::is_present(view, node.id)) {
    next.push_back("its agent was not heard lately, which is unknown and no fault");
    if (call.who.tenant.empty()) explain_power(b, node, out, next);
  }
  if (!only_rma) {
    out.how_to_stop = "tundish hold set --scope node:" + node.meta.name + " --reason ...";
  }
  if (call.who.tenant.empty()) {
    explain_orders_in_force(b, node, out, next);
    explain_checks(node, out);
    explain_past(b, node, out);
  }
  out.next = next.empty() ? "nothing" : join(next, "; ");
  explain_conditions(b, node, out);
  return Answer{200, render_json(out)};
}

}  // namespace tundish::edge::api
