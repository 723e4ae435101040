#include "control/node/active.hpp"

#include <algorithm>
#include <set>

#include "control/node/checks.hpp"
#include "control/node/tenant_checks.hpp"
#include "model/ops/incident_proof.hpp"
#include "model/ops/maintenance_ops.hpp"

namespace tundish::control {
namespace {

/// Between two looks at what is due and could not begin.
constexpr Duration look_pause = minutes(1);
/// A node that becomes free meanwhile is late by so much at most.
constexpr Duration longest_pause = hours(6);
constexpr Duration light_limit = minutes(10);
constexpr Duration heavy_limit = hours(2);

/// FNV-1a: the same on every machine and in every version. Source: RFC draft-eastlake-fnv,
/// section 2; checked 2026-11
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t out = 14695981039346656037ULL;
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return out;
}

/// Since when the check was not run; a node that never ran it begins with its admission.
Instant last_run(const Node& node, const std::string& check) {
  Instant out = node.meta.created_at;
  for (const auto& verdict : node.status.active_verdicts) {
    if (verdict.check == check) out = std::max(out, verdict.at);
  }
  return out;
}

bool is_idle(const View& view, const Node& node) {
  return node.status.phase == NodePhase::ready && node.status.allocation.empty() &&
         view.reg.claims_on(node.id).empty();
}

/// Of a cluster whose tenant consents; it may be at work.
bool is_willing_member(const View& view, const Node& node) {
  return node.status.phase == NodePhase::assigned && view.reg.incidents_on(node.id).empty() &&
         tenant_refusal(view, node).empty();
}

struct Turn {
  std::vector<std::string> due;
  Instant next;
};

Turn turn_of(const Node& node, const std::vector<std::string>& checks, Duration every,
             Instant now) {
  Turn out;
  for (const auto& check : checks) {
    const Instant at = next_turn(node.id, last_run(node, check), every);
    if (at <= now) out.due.push_back(check);
    if (!out.next.is_set() || at < out.next) out.next = at;
  }
  return out;
}

struct Budget {
  std::size_t idle = 0;
  std::size_t running = 0;
  std::size_t most(const View& view) const {
    const int percent = std::clamp(view.policy.active.idle_percent, 0, 100);
    const auto share = idle * static_cast<std::size_t>(percent) / 100;
    return std::max<std::size_t>(share, 1);
  }
};

std::string key_of(const Node& node, std::string_view tier, Instant turn) {
  return node.id.str() + "/active/" + std::string(tier) + "/" + std::to_string(turn.us);
}

/// The act of a node whose turn has come: light ones first, so that a broken node is known before
/// it is put under load.
std::optional<Action> turn_action(const View& view, const Node& node, Outcome& out) {
  const ActiveSchedule& plan = view.policy.active;
  const auto take = [&](const std::vector<std::string>& checks, Duration every, Duration limit,
                        std::string_view tier) -> std::optional<Action> {
    if (checks.empty() || every.us <= 0) return std::nullopt;
    Turn turn = turn_of(node, checks, every, view.now);
    if (turn.due.empty()) {
      out.wake(turn.next);
      return std::nullopt;
    }
    out.wake(view.now + look_pause);
    ActiveWish wish;
    wish.checks = std::move(turn.due);
    wish.key = key_of(node, tier, turn.next);
    wish.limit = limit;
    return make_active(view, node, std::move(wish));
  };
  auto light = take(plan.light, hours(plan.light_every_h), light_limit, "light");
  // A tenant's node is put under heavy load by a person only.
  if (light || !node.status.allocation.empty()) return light;
  return take(plan.heavy, hours(plan.heavy_every_h), heavy_limit, "heavy");
}

}  // namespace

std::string active_refusal(const View& view, const Node& node) {
  if (!node.status.allocation.empty()) {
    const Allocation* held = view.reg.find(node.status.allocation);
    return node.meta.name + " belongs to " +
           (held ? "allocation " + held->meta.name : std::string("an allocation"));
  }
  const bool claimed = !view.reg.claims_on(node.id).empty();
  switch (node.status.phase) {
    case NodePhase::inspecting:
    case NodePhase::ready:
    case NodePhase::revalidating: return "";
    case NodePhase::expected:
    case NodePhase::discovered:
    case NodePhase::reserved:
    case NodePhase::provisioning:
    case NodePhase::assigned:
    case NodePhase::wiping:
    case NodePhase::retired: break;
  }
  if (claimed && node.status.phase != NodePhase::retired) return "";
  return node.meta.name + " is " +
         std::string(enum_names(NodePhase{})[static_cast<std::size_t>(node.status.phase)]);
}

std::string call_refusal(const View& view, const Node& node, const RunChecks& call) {
  return call.work ? tenant_refusal(view, node) : active_refusal(view, node);
}

const RunChecks* leased_checks(const Action& action) {
  const auto* verb = std::get_if<VerbAct>(&action.act);
  if (!verb || !verb->call.run_checks || !verb->call.run_checks->is_leased()) return nullptr;
  return &*verb->call.run_checks;
}

void add_active(Action& action, const std::vector<std::string>& checks) {
  auto* verb = std::get_if<VerbAct>(&action.act);
  if (checks.empty() || !verb || !verb->call.run_checks) return;
  verb->call.run_checks->active = checks;
  verb->call.run_checks->lease_ms = active_lease.ms();
  action.name = "run_active";
}

Action make_active(const View& view, const Node& node, ActiveWish wish) {
  Action action = make_checks(view, node, {}, std::move(wish.key));
  add_active(action, wish.checks);
  auto& call = std::get<VerbAct>(action.act).call;
  call.run_checks->only_active = true;
  call.run_checks->pair = std::move(wish.pair);
  const bool asked = !wish.asked_by.empty();
  action.action_class = asked ? ActionClass::look : ActionClass::node_setup;
  action.group = action.key;
  action.limit = wish.limit;
  action.reason = asked ? "asked by " + wish.asked_by : "active checks of an idle node";
  // A pair needs two nodes at once, which one job of an engine's would have to hold.
  if (const Allocation* held = view.reg.find(node.status.allocation);
      held && call.run_checks->pair.role == PairRole::none) {
    call.run_checks->work = work_on(view, node);
    action.allocation = held->id;
    action.cluster = held->cluster;
  }
  action.asked_by = std::move(wish.asked_by);
  action.result_to = ResultTo::active_checks;
  return action;
}

std::vector<std::string> proving_checks(const Incident& incident, const PolicyState& state) {
  std::vector<std::string> out = state.active;
  for (const auto& check : proof_of(incident).active) {
    if (std::find(out.begin(), out.end(), check) == out.end()) out.push_back(check);
  }
  return out;
}

std::string reason_to_end(const View& view, const ActiveRun& run) {
  const Node* node = view.reg.find(run.node);
  if (!node) return "the node is gone";
  const std::string why =
      run.in_cluster ? tenant_refusal(view, *node) : active_refusal(view, *node);
  if (!why.empty()) return why;
  if (!run.incident.empty()) {
    const Incident* incident = view.reg.find(run.incident);
    const bool open = incident && incident->state == IncidentState::open;
    return open ? "" : "the incident is closed";
  }
  if (run.asked_by.empty() && !view.reg.incidents_on(run.node).empty()) {
    return "an incident owns the node";
  }
  return "";
}

Instant next_turn(const NodeId& node, Instant after, Duration every) {
  const auto period = every.us;
  const auto slot = static_cast<std::int64_t>(hash_of(node.str()) %
                                              static_cast<std::uint64_t>(period));
  const std::int64_t turns = (after.us - slot) / period + (after.us >= slot ? 1 : 0);
  return {turns * period + slot};
}

Outcome reconcile_active(const View& view, const std::vector<ActiveRun>& runs) {
  Outcome out;
  const ActiveSchedule& plan = view.policy.active;
  if (plan.light.empty() && plan.heavy.empty()) return out;
  std::set<NodeId> busy;
  Budget budget;
  for (const auto& run : runs) {
    busy.insert(run.node);
    if (run.asked_by.empty() && run.incident.empty()) ++budget.running;
  }
  std::vector<Action> due;
  for (const auto& [id, node] : view.reg.all<Node>()) {
    if (node.spec.role != NodeRole::gpu) continue;
    const bool member = is_willing_member(view, node);
    if (!member && !is_idle(view, node)) continue;
    // One at work is looked at all the same: it may be idle in a minute.
    const bool idle = !member || tenant_busy(view, node).empty();
    if (idle) ++budget.idle;
    if (busy.contains(id)) continue;
    auto action = turn_action(view, node, out);
    if (!action || !idle) continue;
    // Asked last: it costs most.
    if (member || placeable(view, node).yes) due.push_back(std::move(*action));
  }
  out.wake(view.now + longest_pause);
  const std::size_t most = budget.most(view);
  const std::size_t room = most > budget.running ? most - budget.running : 0;
  if (due.size() > room) due.resize(room);
  out.actions = std::move(due);
  return out;
}

}  // namespace tundish::control
