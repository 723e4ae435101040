#include "control/permit/permit.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "control/node/active.hpp"
#include "control/permit/blast.hpp"
#include "control/permit/denied.hpp"
#include "model/ops/maintenance_ops.hpp"

namespace tundish::control {
namespace {

std::string_view class_name(ActionClass action_class) {
  return enum_names(action_class)[static_cast<std::size_t>(action_class)];
}

bool is_disruptive(ActionClass action_class) {
  return action_class == ActionClass::reset || action_class == ActionClass::power;
}

/// Every scope that the action touches.
std::set<std::string> scopes_of(const Action& action, const View& view) {
  std::set<std::string> out = {"*"};
  const auto add_tenant = [&](const TenantId& id) {
    if (const Tenant* tenant = view.reg.find(id)) out.insert("tenant:" + tenant->meta.name);
  };
  if (const Node* node = view.reg.find(action.node)) {
    out.insert("node:" + node->meta.name);
    if (!node->spec.rack.empty()) out.insert("rack:" + node->spec.rack);
    if (!node->spec.site.empty()) out.insert("site:" + node->spec.site);
    if (const Allocation* held = view.reg.find(node->status.allocation)) {
      add_tenant(held->meta.tenant);
    }
  }
  // What touches no single node, as a partition or an export, is of the sites of all of them.
  const Allocation* whole = action.node.empty() ? view.reg.find(action.allocation) : nullptr;
  for (const auto& member : whole ? whole->status.nodes : std::vector<AllocationNode>{}) {
    const Node* node = view.reg.find(member.node);
    if (node && !node->spec.site.empty()) out.insert("site:" + node->spec.site);
  }
  if (const Cluster* cluster = view.reg.find(action.cluster)) {
    out.insert("cluster:" + cluster->meta.name);
    add_tenant(cluster->meta.tenant);
  }
  if (const auto* attach = std::get_if<AttachAct>(&action.act)) {
    out.insert("switch:" + attach->port.switch_name);
    if (const Switch* device = view.reg.find_named<Switch>(attach->port.switch_name)) {
      if (!device->spec.rack.empty()) out.insert("rack:" + device->spec.rack);
      if (!device->spec.site.empty()) out.insert("site:" + device->spec.site);
    }
  }
  if (const auto* fabric = std::get_if<FabricAct>(&action.act)) {
    out.insert("fabric:" + fabric->ref.name);
  }
  if (const auto* storage = std::get_if<StorageAct>(&action.act)) {
    out.insert("fabric:" + storage->ref.fabric);
    const Fabric* fabric = view.reg.find_named<Fabric>(storage->ref.fabric);
    for (const auto& port : fabric ? fabric->spec.storage_ports : std::vector<StoragePort>{}) {
      const Switch* device = view.reg.find_named<Switch>(port.switch_name);
      if (device && !device->spec.site.empty()) out.insert("site:" + device->spec.site);
    }
  }
  if (const auto* engine = std::get_if<EngineAct>(&action.act)) {
    if (const Node* controller = view.reg.find(engine->controller)) {
      out.insert("site:" + controller->spec.site);
    }
  }
  return out;
}

const Hold* hold_over(const std::set<std::string>& scopes, const View& view) {
  for (const auto& [id, hold] : view.reg.all<Hold>()) {
    if (hold.until.is_set() && hold.until <= view.now) continue;
    if (scopes.contains(hold.scope)) return &hold;
  }
  return nullptr;
}

/// What the scopes of an act state for its class: the lowest level, and who states it.
struct Stated {
  AuthorityLevel level = AuthorityLevel::observe;
  std::string scope;         ///< that states it; when none does, the widest one
  std::string action_class;  ///< as it is stated: the class or *
};

Stated authority_over(const std::set<std::string>& scopes, ActionClass action_class,
                      const View& view) {
  std::optional<Stated> lowest;
  for (const auto& [id, authority] : view.reg.all<Authority>()) {
    if (!scopes.contains(authority.scope)) continue;
    if (authority.action_class != "*" && authority.action_class != class_name(action_class)) {
      continue;
    }
    if (lowest && authority.level >= lowest->level) continue;
    lowest = Stated{authority.level, authority.scope, authority.action_class};
  }
  if (lowest) return *lowest;
  Stated none{AuthorityLevel::observe, "*", "*"};
  constexpr std::string_view widest_last[] = {"node:",   "cluster:", "fabric:",
                                              "switch:", "rack:",    "site:"};
  for (const std::string_view kind : widest_last) {
    for (const auto& scope : scopes) {
      if (scope.starts_with(kind)) none.scope = scope;
    }
  }
  return none;
}

constexpr std::string_view waits_word = "waits: ";

/// "site:lab is at observe for network".
std::string level_text(const Stated& stated, ActionClass action_class) {
  const auto level = enum_names(stated.level)[static_cast<std::size_t>(stated.level)];
  const std::string scope = stated.scope == "*" ? "everything" : stated.scope;
  return scope + " is at " + std::string(level) + " for " + std::string(class_name(action_class));
}

/// The decision that stands for a group.
const Proposal* decided(const std::string& group, const Registry& reg) {
  if (group.empty()) return nullptr;  // as of approvals that are used up
  for (const auto& [id, proposal] : reg.all<Proposal>()) {
    if (proposal.group != group) continue;
    if (proposal.state == ProposalState::approved || proposal.state == ProposalState::denied) {
      return &proposal;
    }
  }
  return nullptr;
}

std::optional<ProposalState> decision_on(const Action& action, const View& view) {
  const Proposal* proposal = decided(action.group, view.reg);
  return proposal ? std::optional(proposal->state) : std::nullopt;
}

Consent consent_for(const Action& action, const View& view) {
  const Allocation* allocation = view.reg.find(action.allocation);
  if (!allocation) return Consent::automatic;
  if (action.action_class == ActionClass::requeue) return allocation->spec.requeue;
  if (action.action_class == ActionClass::drain) return allocation->spec.replace;
  return Consent::automatic;
}

/// A person's order, so holds, consent and approval do not speak; that hardware may be broken at
/// all is the scope's own word.
Permit permit_drill(const std::set<std::string>& scopes, const View& view) {
  const Stated stated = authority_over(scopes, ActionClass::drill, view);
  if (stated.level != AuthorityLevel::observe) return {Leave::execute, "a person's drill"};
  return {Leave::refuse, level_text(stated, ActionClass::drill) +
                             ": nothing of it is broken on purpose"};
}

/// People asked for the window, so authority and holds do not speak; the tenant of a node in it
/// does, by its consent.
Permit permit_window(const Action& action, const View& view) {
  const auto decision = decision_on(action, view);
  if (decision == ProposalState::denied) return {Leave::refuse, std::string(denied_word)};
  const Consent consent = consent_for(action, view);
  if (consent == Consent::never) return {Leave::refuse, "the tenant does not consent"};
  if (consent == Consent::ask && decision != ProposalState::approved) {
    return {Leave::propose, "the tenant wants to be asked"};
  }
  return {Leave::execute, "a person's maintenance window"};
}

/// The window in which people may have their hands in what an incident's act would touch.
const Maintenance* window_over(const Action& action, const View& view) {
  const Incident* incident = view.reg.find(action.incident);
  if (!incident) return nullptr;
  return maintenance_over(view.reg, action.node.empty() ? incident->node : action.node);
}

/// What broke before people came is not theirs: the tenant leaves the node as from any other. A job
/// that lost its device waits for nobody either. What would touch the node itself is done when the
/// window is over.
bool leaves_node_alone(const Action& action, const Maintenance& window, const View& view) {
  if (std::holds_alternative<EngineAct>(action.act)) return true;
  const Incident* incident = view.reg.find(action.incident);
  return incident && std::holds_alternative<PermitClaimsAct>(action.act) &&
         window.begun_at.is_set() && incident->opened_at < window.begun_at;
}

}  // namespace

Permit permit(const Action& action, const View& view, const InFlight& running) {
  if (const RunChecks* call = leased_checks(action)) {
    const Node* node = view.reg.find(action.node);
    const std::string why = node ? call_refusal(view, *node, *call) : "the node is gone";
    if (!why.empty()) return {Leave::refuse, why + ": no active check runs on it"};
  }
  if (action.action_class == ActionClass::look) return {Leave::execute, "looking only"};
  const auto scopes = scopes_of(action, view);
  if (action.action_class == ActionClass::drill) return permit_drill(scopes, view);
  if (std::holds_alternative<PermitWindowAct>(action.act)) return permit_window(action, view);
  const Maintenance* window = window_over(action, view);
  if (window && !leaves_node_alone(action, *window, view)) {
    return {Leave::refuse, window->meta.name + " is under way: recorded, not acted on"};
  }
  if (view.seen.hold_file) return {Leave::refuse, "hold file beside tundishd"};
  if (const Hold* hold = hold_over(scopes, view)) {
    return {Leave::refuse, "hold " + hold->scope + ": " + hold->reason};
  }
  const Incident* incident = view.reg.find(action.incident);
  if (incident && incident->held) return {Leave::refuse, "a person holds the incident"};
  if (is_disruptive(action.action_class) && incident && !incident->hardware_witness) {
    return {Leave::refuse, "no hardware witness: a line that a user wrote resets nothing"};
  }
  const auto decision = decision_on(action, view);
  if (decision == ProposalState::denied) return {Leave::refuse, std::string(denied_word)};
  const Stated stated = authority_over(scopes, action.action_class, view);
  if (stated.level == AuthorityLevel::observe) {
    return {Leave::refuse, level_text(stated, action.action_class)};
  }
  if (stated.level == AuthorityLevel::advise && decision != ProposalState::approved) {
    return {Leave::propose, level_text(stated, action.action_class)};
  }
  const Consent consent = consent_for(action, view);
  if (consent == Consent::never) return {Leave::refuse, "the tenant does not consent"};
  if (consent == Consent::ask && decision != ProposalState::approved) {
    return {Leave::propose, "the tenant wants to be asked"};
  }
  if (is_stopped_by_brake(view.policy, action.name) && running.disruptive >= most_in_flight(view)) {
    return {Leave::refuse,
            "brake: " + std::to_string(running.disruptive) + " resets and power acts run already"};
  }
  if (const std::string limit = broken_limit(action, view); !limit.empty()) {
    return {Leave::refuse, "limit of the policy: " + limit};
  }
  return {Leave::execute, decision == ProposalState::approved ? "approved" : "authority act"};
}

bool is_of_order(const std::string& group) {
  const auto is_part = [&](std::string_view kind) {
    return group.starts_with(std::string(kind) + "-") && group.find('/') != std::string::npos;
  };
  return is_part(Allocation::kind) || is_part(Cluster::kind) || group.starts_with("restore/");
}

std::string waits_for(const Action& action, const View& view) {
  const Permit answer = permit(action, view, {});
  if (answer.leave == Leave::execute) return "";
  const std::string out = std::string(waits_word) + answer.reason;
  if (answer.reason == denied_word) {
    if (const Proposal* denied = decided(action.group, view.reg)) {
      return out + "; tundish proposal approve " + denied->id.str();
    }
  }
  if (answer.leave == Leave::propose) return out + "; tundish proposal list";
  const Stated stated = authority_over(scopes_of(action, view), action.action_class, view);
  if (answer.reason != level_text(stated, action.action_class)) return out;
  const std::string only = stated.action_class == "*" ? "" : " --class " + stated.action_class;
  const std::string scope = stated.scope == "*" ? "'*'" : stated.scope;
  return out + "; tundish authority set --scope " + scope + only + " --level act";
}

std::string waiting_part(const std::string& reason) {
  const auto at = reason.find(waits_word);
  return at == std::string::npos ? "" : reason.substr(at);
}

std::string waits_for(const std::vector<Action>& actions, const View& view) {
  for (const auto& action : actions) {
    std::string out = waits_for(action, view);
    if (!out.empty()) return out;
  }
  for (const auto& action : actions) {
    const auto found = view.seen.faults.find(action.key);
    const bool stands =
        found != view.seen.faults.end() && view.now - found->second.at <= act_fault_life;
    if (stands) return std::string(waits_word) + found->second.what;
  }
  return "";
}

std::string fault_text(const std::string& act, const std::string& why) {
  constexpr std::size_t most = 200;
  std::string line(trim(std::string_view(why).substr(0, why.find('\n'))));
  if (line.size() > most) {
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
    line = line.substr(0, end) + "...";
  }
  return act + " failed: " + line;
}

}  // namespace tundish::control
