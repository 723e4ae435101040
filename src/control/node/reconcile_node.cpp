#include "control/node/reconcile_node.hpp"

#include "control/node/checks.hpp"
#include "model/ops/drill_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control {
namespace {

constexpr Duration recheck_pause = seconds(15);
constexpr int tries_before_incident = 2;
/// Longer than any passive check takes to see what was broken.
constexpr Duration drill_life = minutes(15);

std::string phase_key(const Node& node, const char* what) {
  return node.id.str() + "/" + what + "/" + std::to_string(node.status.phase_since.us) + "/" +
         std::to_string(node.status.attempts);
}

void note_drift(const Node& node, Outcome& out) {
  const std::string drift = drift_of(node);
  const bool swapped = drift.find("serial is ") != std::string::npos;
  out.operations.push_back(
      set_condition(node.id, "drift", drift.empty() ? Truth::no : Truth::yes, drift));
  out.operations.push_back(
      set_condition(node.id, "board_swap", swapped ? Truth::yes : Truth::no,
                    swapped ? drift + "; confirm with: tundish node confirm " + node.meta.name
                            : ""));
}

std::vector<Verdict> bad_ones(const Node& node) {
  std::vector<Verdict> out;
  for (const auto& verdict : node.status.check_run) {
    if (verdict.state == VerdictState::fail || verdict.state == VerdictState::unknown) {
      out.push_back(verdict);
    }
  }
  return out;
}

/// Runs the checks of the current phase; when they pass the node is ready.
void prove(const View& view, const Node& node, Outcome& out) {
  const auto& status = node.status;
  if (status.revalidated_at >= status.phase_since && status.revalidated_at.is_set()) {
    out.operations.push_back(set_condition(node.id, "checks_failed", Truth::no, ""));
    out.operations.push_back(set_node_phase(node.id, status.phase, NodePhase::ready));
    return;
  }
  const auto bad = bad_ones(node);
  if (status.attempts > 0) {
    const std::string why = bad.empty() ? "no verdict" : bad[0].check + ": " + bad[0].reason;
    out.operations.push_back(set_condition(node.id, "checks_failed", Truth::yes, why));
    out.reason = "checks did not pass: " + why;
    bool failed = false;
    for (const auto& verdict : bad) failed = failed || verdict.state == VerdictState::fail;
    if (status.phase == NodePhase::revalidating && failed &&
        status.attempts >= tries_before_incident) {
      out.operations.push_back(open_probe_incident(node.id, bad));
      return;
    }
    const Instant last = bad.empty() ? status.phase_since : bad[0].at;
    const Instant due = last + recheck_pause;
    out.wake(due);
    if (view.now < due) return;
  }
  Action action = make_checks(view, node, {}, phase_key(node, "checks"));
  action.result_to = ResultTo::node_checks;
  out.actions.push_back(std::move(action));
}

/// A drill that nothing followed is over: what comes later is real, and pages.
void end_drill(const View& view, const Node& node, Outcome& out) {
  const Condition* oldest = find_condition(node, drill_condition);
  if (!oldest) return;
  const Instant over = oldest->since + drill_life;
  if (view.now < over) return out.wake(over);
  out.operations.push_back(end_drills(node.id, view.now - drill_life));
}

}  // namespace

Outcome reconcile_node(const View& view, const Node& node) {
  Outcome out;
  if (node.status.phase == NodePhase::retired) return out;
  end_drill(view, node, out);
  if (node.status.hardware.at.is_set()) note_drift(node, out);
  if (!view.reg.incidents_on(node.id).empty()) {
    out.reason = "an incident owns the node";
    return out;
  }
  switch (node.status.phase) {
    case NodePhase::expected:
      if (node.status.enrolled && is_present(view, node.id)) {
        out.operations.push_back(
            set_node_phase(node.id, NodePhase::expected, NodePhase::discovered));
      }
      break;
    case NodePhase::discovered:
      if (node.status.hardware.at.is_set()) {
        out.operations.push_back(
            set_node_phase(node.id, NodePhase::discovered, NodePhase::inspecting));
      }
      break;
    case NodePhase::inspecting:
      if (!drift_of(node).empty()) {
        out.reason = "hardware differs from the declaration";
        break;
      }
      prove(view, node, out);
      break;
    case NodePhase::revalidating: prove(view, node, out); break;
    case NodePhase::wiping: {
      Action action = make_wipe(node, phase_key(node, "wipe"));
      action.result_to = ResultTo::node_phase;
      action.next_phase = NodePhase::revalidating;
      out.actions.push_back(std::move(action));
      break;
    }
    case NodePhase::ready:
      // Of a store that an earlier version wrote: what is ready was proved.
      if (find_condition(node, "checks_failed")) {
        out.operations.push_back(set_condition(node.id, "checks_failed", Truth::no, ""));
      }
      break;
    case NodePhase::reserved:
    case NodePhase::provisioning:
    case NodePhase::assigned:
    case NodePhase::retired: break;
  }
  return out;
}

}  // namespace tundish::control
