#include "control/permit/blast.hpp"

#include <algorithm>

#include "control/cluster/drained.hpp"
#include "control/fault/policy.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::control {
namespace {

constexpr Duration rate_window = hours(1);

struct Spent {
  int resets = 0;
  int power = 0;
  int rack = 0;
  int tenant = 0;
  int domain_trays = 0;
};

std::string action_in(const View& view, const std::string& state) {
  const auto found = view.policy.states.find(state);
  return found == view.policy.states.end() ? "" : found->second.action;
}

bool was_started(const TimelineEntry& entry) {
  return entry.outcome == StepOutcome::running || entry.outcome == StepOutcome::done ||
         entry.outcome == StepOutcome::failed || entry.outcome == StepOutcome::timeout;
}

/// Also when its cluster is gone meanwhile.
TenantId tenant_of(const View& view, const Incident& incident) {
  const Allocation* held = view.reg.find(incident.allocation);
  return held ? held->meta.tenant : incident.meta.tenant;
}

/// The node is being reset or restarted now, or is on its way back.
bool is_in_flight(const View& view, const Incident& incident) {
  if (incident.state != IncidentState::open) return false;
  if (!is_disruptive_action(action_in(view, incident.policy_state))) return false;
  const TimelineEntry* act = current_act(incident);
  return act && was_started(*act);
}

Spent spent_beside(const Action& action, const View& view, const Node& node) {
  Spent out;
  const Incident* own = view.reg.find(action.incident);
  const TenantId tenant = own ? tenant_of(view, *own) : TenantId{};
  for (const auto& [id, incident] : view.reg.all<Incident>()) {
    const Node* other = view.reg.find(incident.node);
    if (!other) continue;
    const bool same_domain =
        !node.spec.nvlink_domain.empty() && node.spec.nvlink_domain == other->spec.nvlink_domain;
    if (same_domain && id != action.incident && is_in_flight(view, incident)) ++out.domain_trays;
    for (const auto& entry : incident.timeline) {
      if (entry.key.empty() || entry.key == action.key || !was_started(entry)) continue;
      const std::string what = action_in(view, entry.what);
      if (!is_disruptive_action(what) || entry.at + rate_window <= view.now) continue;
      ++(what == "reset_gpus" ? out.resets : out.power);
      if (!node.spec.rack.empty() && node.spec.rack == other->spec.rack) ++out.rack;
      if (!tenant.empty() && tenant_of(view, incident) == tenant) ++out.tenant;
    }
  }
  return out;
}

/// How many nodes of the tenant left it within the hour although only a user's line accused them.
/// A tenant's root writes such lines at will; each costs a spare and the proof of a healthy node.
int moved_by_lines(const View& view, const IncidentId& own, const TenantId& tenant) {
  int out = 0;
  for (const auto& [id, incident] : view.reg.all<Incident>()) {
    if (id == own || incident.hardware_witness || incident.drill) continue;
    if (tenant_of(view, incident) != tenant) continue;
    const auto counts = [&](const TimelineEntry& entry) {
      return !entry.key.empty() && was_started(entry) && entry.at + rate_window > view.now &&
             action_in(view, entry.what) == "evacuate";
    };
    if (std::any_of(incident.timeline.begin(), incident.timeline.end(), counts)) ++out;
  }
  return out;
}

bool is_touchable(const View& view, const Node& node) {
  if (node.status.allocation.empty()) return true;
  return view.policy.limits.touch == "drained" && is_drained(view, node);
}

struct Count {
  int spent = 0;
  int limit = 0;  ///< 0: none
};

std::string over(std::string_view what, Count count) {
  if (count.limit <= 0 || count.spent < count.limit) return "";
  return std::string(what) + ": " + std::to_string(count.spent) + " of " +
         std::to_string(count.limit);
}

std::string over_user_lines(const Action& action, const View& view) {
  const Incident* incident = view.reg.find(action.incident);
  if (!incident || incident->hardware_witness || incident->drill) return "";
  const TenantId tenant = tenant_of(view, *incident);
  if (tenant.empty()) return "";
  return over("nodes that only lines of a user took from this tenant in an hour",
              {moved_by_lines(view, incident->id, tenant), view.policy.limits.user_lines_per_hour});
}

}  // namespace

int most_in_flight(const View& view) {
  const int fleet = static_cast<int>(view.reg.all<Node>().size());
  return std::max(view.limits.disruptive_floor, fleet * view.limits.disruptive_percent / 100);
}

bool is_braked(const View& view, const IncidentId& except) {
  int running = 0;
  for (const auto& [id, incident] : view.reg.all<Incident>()) {
    if (id != except && is_in_flight(view, incident)) ++running;
  }
  return running >= most_in_flight(view);
}

bool is_stopped_by_brake(const RemediationPolicy& policy, std::string_view action) {
  const auto& stops = policy.limits.brake_stops;
  if (stops.empty()) return is_disruptive_action(action);
  return std::find(stops.begin(), stops.end(), action) != stops.end();
}

std::string broken_limit(const Action& action, const View& view) {
  const auto& limits = view.policy.limits;
  const Node* node = view.reg.find(action.node);
  if (action.name == "evacuate") return over_user_lines(action, view);
  if (!node || !is_disruptive_action(action.name)) return "";
  if (!is_touchable(view, *node)) return "the node is not known to be " + limits.touch;
  const Spent spent = spent_beside(action, view, *node);
  const bool reset = action.name == "reset_gpus";
  std::string why =
      reset ? over("resets of the last hour", {spent.resets, limits.resets_per_hour})
            : over("power acts of the last hour", {spent.power, limits.power_acts_per_hour});
  if (why.empty()) {
    why =
        over("acts on rack " + node->spec.rack + " in an hour", {spent.rack, limits.rack_per_hour});
  }
  if (why.empty()) {
    why = over("acts on this tenant's nodes in an hour", {spent.tenant, limits.tenant_per_hour});
  }
  // What is wet goes off however many of its domain do: a BMC that hangs keeps no other tray live.
  if (why.empty() && action.name != "power_off") {
    why = over("trays of NVLink domain " + node->spec.nvlink_domain + " touched now",
               {spent.domain_trays, limits.domain_at_once});
  }
  return why;
}

}  // namespace tundish::control
