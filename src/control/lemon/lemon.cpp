#include "control/lemon/lemon.hpp"

#include <algorithm>
#include <cmath>

#include "model/ops/rma_ops.hpp"

namespace tundish::control {
namespace {

constexpr Duration window = hours(24 * 90);
constexpr Duration month = hours(24 * 30);
constexpr int least_incidents = 3;
/// One lemon by chance among a thousand nodes in the window. Meta found 1.2 % of its fleet.
/// Source: arXiv 2410.21680, section 4; checked 2026-11
constexpr double least_chance = 0.001;
/// A person who decided is not asked again before this.
constexpr Duration asked_lately = hours(24 * 30);

struct Count {
  int incidents = 0;
  int rmas = 0;
  int failed = 0;
};

bool was_in_window(const View& view, const Incident& incident) {
  for (const auto& [id, maintenance] : view.reg.all<Maintenance>()) {
    const auto& known = maintenance.recorded;
    if (std::find(known.begin(), known.end(), incident.id) != known.end()) return true;
  }
  return false;
}

int failed_revalidations(const Incident& incident) {
  int failed = 0;
  for (const auto& entry : incident.timeline) {
    const bool checks = entry.what == "revalidate" || entry.what == "last_look";
    failed += checks && entry.outcome == StepOutcome::failed ? 1 : 0;
  }
  return failed;
}

std::map<NodeId, Count> count_all(const View& view) {
  std::map<NodeId, Count> out;
  for (const auto& [id, incident] : view.reg.all<Incident>()) {
    const bool counts = incident.hardware_witness && !incident.drill && !incident.node.empty() &&
                        incident.subject_kind == SubjectKind::node &&
                        view.now - incident.opened_at < window && !was_in_window(view, incident);
    if (!counts) continue;
    Count& mine = out[incident.node];
    ++mine.incidents;
    mine.failed += failed_revalidations(incident);
  }
  for (const auto& [id, rma] : view.reg.all<Rma>()) {
    const Incident* incident = view.reg.find(rma.incident);
    const bool counts = incident && incident->hardware_witness && !incident->drill &&
                        view.now - rma.opened_at < window;
    if (counts) ++out[rma.node].rmas;
  }
  return out;
}

bool serves(const Node& node) {
  return node.spec.role == NodeRole::gpu && node.status.phase != NodePhase::retired &&
         node.status.phase != NodePhase::expected;
}

double months_of(const View& view, const Node& node) {
  const Duration age = std::min(window, view.now - node.meta.created_at);
  return std::max(1.0 / 30, static_cast<double>(age.us) / static_cast<double>(month.us));
}

std::string one_decimal(double value) {
  const auto tenths = static_cast<std::int64_t>(std::llround(value * 10));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string explain(const LemonScore& score) {
  return std::to_string(score.incidents) + " incidents with a hardware witness, " +
         std::to_string(score.rmas) + " RMAs, " + std::to_string(score.failed_revalidations) +
         " failed revalidations in 90 days: " + one_decimal(score.per_month) +
         " a month, the rest of the fleet " + one_decimal(score.fleet_per_month);
}

}  // namespace

double chance_of(int seen, double expected) {
  double term = std::exp(-expected);
  double below = 0;
  for (int i = 0; i < seen; ++i) {
    below += term;
    term *= expected / (i + 1);
  }
  return std::clamp(1.0 - below, 0.0, 1.0);
}

std::vector<LemonScore> score_lemons(const View& view) {
  const auto counts = count_all(view);
  double months = 0;
  int incidents = 0;
  for (const auto& [id, node] : view.reg.all<Node>()) {
    if (!serves(node)) continue;
    months += months_of(view, node);
    const auto mine = counts.find(id);
    incidents += mine == counts.end() ? 0 : mine->second.incidents;
  }
  std::vector<LemonScore> out;
  for (const auto& [id, node] : view.reg.all<Node>()) {
    if (!serves(node)) continue;
    const auto found = counts.find(id);
    const Count mine = found == counts.end() ? Count{} : found->second;
    const double own = months_of(view, node);
    LemonScore score;
    score.node = node.meta.name;
    score.incidents = mine.incidents;
    score.rmas = mine.rmas;
    score.failed_revalidations = mine.failed;
    score.per_month = mine.incidents / own;
    const double others = months - own;
    score.fleet_per_month = others > 0 ? (incidents - mine.incidents) / others : 0;
    // A repair that did not hold is one more breakdown than the incident alone.
    const int weight = mine.incidents + mine.rmas + mine.failed;
    // A fleet without faults expects a few all the same: nobody's rate is zero.
    const double expected = std::max(0.1, score.fleet_per_month * own);
    score.chance = chance_of(weight, expected);
    score.lemon = mine.incidents >= least_incidents && others > 0 && score.chance < least_chance;
    score.why = explain(score);
    out.push_back(std::move(score));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const LemonScore& a, const LemonScore& b) { return a.chance < b.chance; });
  return out;
}

std::optional<Proposal> propose_retirement(const View& view, const NodeId& node) {
  const Node* found = view.reg.find(node);
  if (!found || !serves(*found)) return std::nullopt;
  const std::string group = "lemon/" + node.str();
  for (const auto& [id, other] : view.reg.all<Proposal>()) {
    if (other.group == group && view.now - other.meta.created_at < asked_lately) {
      return std::nullopt;
    }
  }
  for (const auto& score : score_lemons(view)) {
    if (score.node != found->meta.name) continue;
    if (!score.lemon) return std::nullopt;
    Proposal proposal;
    proposal.action_key = group;
    proposal.group = group;
    proposal.action = "retire_node";
    proposal.object = "node/" + score.node;
    proposal.reason = score.why;
    proposal.expires_at = view.now + asked_lately;
    return proposal;
  }
  return std::nullopt;
}

}  // namespace tundish::control
