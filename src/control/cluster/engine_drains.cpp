#include "control/cluster/engine_drains.hpp"

#include <algorithm>

#include "control/cluster/drained.hpp"
#include "control/health/evidence.hpp"
#include "model/ops/blame_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control {
namespace {

constexpr std::string_view drained_condition = "engine_drained";
/// A process that cannot be ended goes soon after its storage answers; longer, and the node needs
/// a repair. Own choice: five looks of the checks.
constexpr Duration drain_patience = minutes(5);

bool is_foreign(const EngineNode& seen) {
  return has_state(seen, "DRAIN") && !seen.reason.empty() && !seen.reason.starts_with(our_reason);
}

/// An open incident on something that the node shares, storage for example.
const Incident* shared_trouble(const View& view, const NodeId& node) {
  for (const auto& id : view.reg.incidents_on({})) {
    const Incident* open = view.reg.find(id);
    if (!open) continue;
    const auto& hit = open->affected;
    if (std::find(hit.begin(), hit.end(), node) != hit.end()) return open;
  }
  return nullptr;
}

bool shows_trouble(const Node& node) {
  if (find_condition(node, symptom_condition)) return true;
  return std::any_of(node.status.verdicts.begin(), node.status.verdicts.end(),
                     [](const Verdict& verdict) {
                       const bool waits = verdict.check == "d_state";
                       return verdict.state == VerdictState::fail ||
                              (waits && verdict.state == VerdictState::warn);
                     });
}

/// Whether the engine took the node out by itself: only then it can be asked to end it.
bool is_engines_own(const Engine& engine, const EngineNode& seen) {
  DesiredEngine wish;
  DesiredEngineNode node;
  node.name = seen.name;
  node.role = EngineRole::member;
  node.reason = seen.reason;
  wish.nodes = {node};
  EngineObserved shown;
  shown.reachable = true;
  shown.nodes = {seen};
  shown.partition_nodes = {seen.name};
  const auto commands = engine.plan(wish, shown);
  return std::any_of(commands.begin(), commands.end(), [&](const EngineCommand& command) {
    return std::find(command.nodes.begin(), command.nodes.end(), seen.name) != command.nodes.end();
  });
}

Verdict verdict_of(const EngineNode& seen, Instant now) {
  Verdict out;
  out.check = "engine_drain";
  out.state = VerdictState::fail;
  out.reason = "the engine took the node out by itself: " + seen.reason;
  out.watches = Resource::process;
  out.at = now;
  return out;
}

void follow_own(const View& view, const Node& node, const EngineNode& seen, Outcome& out) {
  const Condition* known = find_condition(node, drained_condition);
  const Instant looked_at = (known ? known->since : view.now) + health::BlameTimes{}.look;
  if (looked_at > view.now) out.wake(looked_at);  // an engine that shows the same wakes nobody
  if (!known || !view.reg.claims_on(node.id).empty() || shared_trouble(view, node.id)) return;
  const Instant due = known->since + drain_patience;
  if (view.now < due) return out.wake(due);
  out.operations.push_back(open_probe_incident(node.id, {verdict_of(seen, view.now)}));
}

}  // namespace

std::string drain_to_undo(const View& view, const Cluster& cluster, const Node& node,
                          const std::string& engine_name) {
  const EngineObserved* engine = fresh_engine(view, cluster.id);
  const EngineNode* seen = engine ? find_engine_node(*engine, engine_name) : nullptr;
  if (!seen || !is_foreign(*seen) || has_state(*seen, "DOWN")) return "";
  const Condition* known = find_condition(node, drained_condition);
  if (!known || view.now < known->since + health::BlameTimes{}.look) return "";
  if (!is_present(view, node.id) || shared_trouble(view, node.id) || shows_trouble(node)) return "";
  return seen->reason;
}

void follow_engine_drains(const View& view, const Cluster& cluster, const Engine& engine,
                          const EngineObserved& seen, Outcome& out) {
  for (const auto& declared : cluster.status.declared) {
    const EngineNode* shown = find_engine_node(seen, declared.name);
    const Node* node = view.reg.find(declared.node);
    if (!shown || !node) continue;
    const bool foreign = is_foreign(*shown);
    if (!foreign && !find_condition(*node, drained_condition)) continue;
    const bool own = foreign && is_engines_own(engine, *shown);
    const std::string why =
        own ? "by the engine itself: " + shown->reason +
                  "; undone when its checks and what it shares show nothing for a look, else an "
                  "incident after " + render_duration(drain_patience)
            : "by a person: " + shown->reason + "; it stands until a person resumes the node";
    out.operations.push_back(set_condition(declared.node, std::string(drained_condition),
                                           foreign ? Truth::yes : Truth::no, foreign ? why : ""));
    if (own) follow_own(view, *node, *shown, out);
  }
}

}  // namespace tundish::control
