#include "edge/api/exposition.hpp"
#include "edge/api/fleet_counts.hpp"
#include "edge/api/handlers.hpp"
#include "edge/api/metrics_health.hpp"
#include "edge/api/watch.hpp"

namespace tundish::edge::api {
namespace {

void add_site(const Backend& b, const FleetCounts& counts, Exposition& out) {
  out.single("tundish_claims", "Active claims", counts.claims);
  out.single("tundish_agents_heard", "Agents heard lately; silence is unknown",
             counts.agents_heard);
  out.single("tundish_nodes_placeable", "Nodes that placement may hand out now", counts.placeable);
  out.single("tundish_history_revision", "Global revision", b.reg().revision());
  out.single("tundish_epoch", "Raised by a restore", b.parts.ledger.epoch());
  out.single("tundish_acts_in_flight", "Acts on the outside world that run now",
             static_cast<std::int64_t>(b.parts.manager.runner().in_flight()));
  const auto& acts = b.parts.manager.act_counts();
  out.head("tundish_permits_granted", "Permits granted since the start, by act");
  for (const auto& [act, n] : acts) {
    out.labelled("tundish_permits_granted", "act", act, n.permitted);
  }
  out.head("tundish_driver_calls", "Driver calls since the start, by act");
  for (const auto& [act, n] : acts) out.labelled("tundish_driver_calls", "act", act, n.started);
  if (b.parts.agent_counts) {
    const AgentCounts told = b.parts.agent_counts();
    out.head("tundish_agent_reports_faulty", "Told by agents and not taken as it stood");
    out.labelled("tundish_agent_reports_faulty", "how", "corrected", told.corrected);
    out.labelled("tundish_agent_reports_faulty", "how", "refused", told.refused);
    out.labelled("tundish_agent_reports_faulty", "how", "result_unasked", told.unasked);
  }
  out.single("tundish_watch_streams", "Open event streams",
             static_cast<std::int64_t>(b.watch->streams()));
}

}  // namespace

Result<Answer> get_metrics(Backend& b, const Call& call) {
  const FleetCounts counts = count_fleet(b, call.who);
  Exposition out;
  out.head("tundish_nodes", "Nodes by phase of their life cycle");
  const auto phases = enum_names(NodePhase{});
  for (std::size_t i = 0; i < phases.size(); ++i) {
    out.labelled("tundish_nodes", "phase", phases[i], counts.by_phase.at(i));
  }
  out.single("tundish_nodes_claimed", "Nodes out of service", counts.claimed);
  out.head("tundish_incidents", "Incidents by state");
  const auto states = enum_names(IncidentState{});
  for (std::size_t i = 0; i < states.size(); ++i) {
    out.labelled("tundish_incidents", "state", states[i], counts.incidents.at(i));
  }
  out.single("tundish_clusters", "Clusters", counts.clusters);
  out.single("tundish_clusters_active", "Clusters that are whole", counts.clusters_active);
  if (call.who.tenant.empty()) {
    add_site(b, counts, out);
    add_health_metrics(b, out);
  }
  return Answer{200, out.take(), {{"content-type", "text/plain; version=0.0.4"}}};
}

}  // namespace tundish::edge::api
