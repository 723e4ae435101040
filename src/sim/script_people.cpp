// The second half of the fixed story: people who work on nodes, complain about them, and bring one
// back from the vendor; and a fault that comes back on the same part.
#include "model/ops/incident_ops.hpp"
#include "model/ops/maintenance_ops.hpp"
#include "model/ops/node_report_ops.hpp"
#include "sim/script_parts.hpp"

namespace tundish::sim {
namespace {

/// Until tundishd is up and the world is as the deed needs it.
void once(Site& site, Duration at, std::function<bool()> deed) {
  site.after(at, [&site, deed] {
    if (!site.view() || !deed()) once(site, seconds(3), deed);
  });
}

ReportDraft draft_of(Site& site, const std::string& cluster) {
  ReportDraft out;
  out.tenant = site.view()->find_named<Tenant>("acme")->id;
  out.job = site.world().engines[cluster].jobs.front().id;
  out.text = "slow";
  out.by = "user:sim";
  return out;
}

bool is_running(Site& site, const std::string& cluster) {
  const auto& jobs = site.world().engines[cluster].jobs;
  return !jobs.empty() && jobs.front().state == "RUNNING";
}

/// Asked again until it is stored: a report that a crash took away was never answered.
void report(Site& site, std::size_t nth, const std::function<ReportDraft()>& draft) {
  site.want([&site, nth] { return site.view()->all<NodeReport>().size() >= nth; },
            [&site, draft] { site.perform(open_report(draft())); });
}

/// A node of a job is slow: whoever runs it does not know which, it is found, tested and swapped.
/// The next complaint names a node that nothing is wrong with.
void plan_reports(Site& site, Duration at) {
  once(site, at, [&site] {
    SimNode* node = find_node(site, "wide", MemberRole::member);
    if (!node || !is_running(site, "wide")) return false;
    node->slow = true;
    report(site, 1, [&site] { return draft_of(site, "wide"); });
    return true;
  });
  once(site, at + minutes(2), [&site] {
    const auto& reports = site.view()->all<NodeReport>();
    if (reports.empty() || reports.begin()->second.state == ReportState::testing) return false;
    site.world().cancel_jobs("wide");  // whoever owns it starts anew on what is left
    site.after(minutes(2), [&site] { site.start_job("wide", 3); });
    return true;
  });
  once(site, at + minutes(10), [&site] {
    SimNode* node = find_node(site, "wide", MemberRole::member);
    if (!node || !is_running(site, "wide")) return false;
    report(site, 2, [&site, id = NodeId(node->id)] {
      ReportDraft out = draft_of(site, "wide");
      out.node = id;
      return out;
    });
    return true;
  });
}

bool is_free(Site& site, const SimNode& node) {
  const Node* known = site.view()->find(NodeId(node.id));
  return known && known->spec.role == NodeRole::gpu && known->status.phase == NodePhase::ready &&
         known->status.allocation.empty() && site.view()->claims_on(known->id).empty();
}

/// The same part breaks again a while after its repair: what that cost is not forgotten.
void plan_relapse(Site& site, Duration at) {
  const auto hit = std::make_shared<std::string>();
  const auto fail = [&site](SimNode& node) {
    site.world().fail_gpu(node, 0, 95, false);
    site.sync(node);
  };
  once(site, at, [&site, hit, fail] {
    for (auto& [name, node] : site.world().nodes) {
      if (!is_free(site, node)) continue;
      *hit = name;
      fail(node);
      return true;
    }
    return false;
  });
  once(site, at + minutes(15), [&site, hit, fail] {
    if (hit->empty() || !is_free(site, *site.world().find(*hit))) return false;
    fail(*site.world().find(*hit));
    return true;
  });
}

/// What is wet goes off and to the vendor; and a tray that is out for something else leaks as well.
void plan_leaks(Site& site) {
  once(site, minutes(150), [&site] {
    for (auto& [name, node] : site.world().nodes) {
      if (!is_free(site, node)) continue;
      site.world().wet(node);
      return true;
    }
    return false;
  });
  once(site, minutes(51), [&site] {
    SimNode* node = find_node(site, "alone", MemberRole::member);
    if (!node) return false;
    site.world().wet(*node);
    // Dry before a person insists on the node.
    site.after(minutes(3), [node] { node->leak = "OK"; });
    return true;
  });
}

const Maintenance* window_of(Site& site) {
  const auto& windows = site.view()->all<Maintenance>();
  return windows.empty() ? nullptr : &windows.begin()->second;
}

SimNode* node_in_window(Site& site) {
  const Maintenance* window = window_of(site);
  if (!window || window->state != MaintenanceState::active) return nullptr;
  return site.world().find_id(window->nodes.front().node.str());
}

/// Fans of a tenant's node: it breaks under the technician's hands, who restarts it, forgets the
/// time, and says five minutes late that the work is done.
void plan_window(Site& site, Duration at) {
  site.after(at, [&site] {
    site.want([&site] { return window_of(site) != nullptr; },
              [&site] {
                MaintenanceOrder order;
                order.scope = "node:" + find_node(site, "wide", MemberRole::member)->name;
                order.reason = "fans";
                order.begin = site.now() + minutes(10);
                order.end = site.now() + minutes(20);
                site.perform(create_maintenance(order));
              });
  });
  once(site, at + minutes(13), [&site] {
    SimNode* node = node_in_window(site);
    if (!node) return false;
    site.world().fail_gpu(*node, 0, 79, false);
    site.sync(*node);
    return true;
  });
  once(site, at + minutes(16), [&site] {
    SimNode* node = node_in_window(site);
    if (node) site.world().power(*node, PowerVerb::restart);
    return node != nullptr;
  });
  site.after(at + minutes(25), [&site] {
    site.want(
        [&site] {
          const Maintenance* window = window_of(site);
          return window && window->state != MaintenanceState::active;
        },
        [&site] {
          if (const Maintenance* window = window_of(site)) {
            site.perform(end_maintenance(window->id));
          }
        });
  });
}

const Incident* sent_away(Site& site) {
  for (const auto& [id, incident] : site.view()->all<Incident>()) {
    if (incident.state == IncidentState::rma) return &incident;
  }
  return nullptr;
}

/// Work on the rack meanwhile: what the vendor has is off, and the window ends without it.
void plan_window_of_vendor(Site& site, Duration at) {
  const auto window = [&site]() -> const Maintenance* {
    for (const auto& [id, one] : site.view()->all<Maintenance>()) {
      if (one.reason == "rails") return &one;
    }
    return nullptr;
  };
  site.after(at, [&site, window] {
    site.want([&site, window] { return window() || !sent_away(site); },
              [&site] {
                MaintenanceOrder order;
                order.scope = "node:" + site.view()->find(sent_away(site)->node)->meta.name;
                order.reason = "rails";
                order.begin = site.now() + minutes(1);
                order.end = site.now() + minutes(5);
                site.perform(create_maintenance(order));
              });
  });
  site.after(at + minutes(4), [&site, window] {
    site.want([window] { return window() && window()->state == MaintenanceState::ended; },
              [&site, window] {
                if (window()) site.perform(end_maintenance(window()->id));
              });
  });
}

/// The vendor brought it back with other GPUs: a person closes the incident.
void plan_vendor(Site& site, Duration at) {
  site.after(at, [&site] {
    site.want([&site] { return sent_away(site) == nullptr; },
              [&site] {
                const Incident* incident = sent_away(site);
                SimNode* node = site.world().find_id(incident->node.str());
                node->gpus.assign(node->gpus.size(), {});
                if (node->leak == "Critical") node->leak = "OK";
                if (!node->powered) site.world().power(*node, PowerVerb::on);
                site.perform(close_incident(incident->id));
              });
  });
}

}  // namespace

SimNode* find_node(Site& site, const std::string& cluster, MemberRole role) {
  if (!site.view()) return nullptr;
  for (const auto& [id, held] : site.view()->all<Allocation>()) {
    if (held.meta.name != cluster) continue;
    for (const auto& member : held.status.nodes) {
      if (member.role == role) return site.world().find_id(member.node.str());
    }
  }
  return nullptr;
}

void strike(Site& site, Duration at, Blow blow) {
  site.after(at, [&site, blow] {
    SimNode* node = find_node(site, blow.cluster, blow.role);
    if (!node) {
      strike(site, seconds(3), blow);  // tundishd is down just now
      return;
    }
    site.world().fail_gpu(*node, 0, blow.xid, blow.sticky);
    site.sync(*node);
  });
}

ClusterSpec spec_of(int nodes, int spares) {
  ClusterSpec spec;
  spec.nodes = nodes;
  spec.spares = spares;
  return spec;
}

void plan_script_of_people(Site& site) {
  site.order("acme", "wide", spec_of(3, 0));
  site.start_job("wide", 3);
  plan_reports(site, minutes(118));
  plan_relapse(site, minutes(125));
  plan_window(site, minutes(132));
  plan_leaks(site);
  plan_window_of_vendor(site, minutes(156));
  plan_vendor(site, minutes(170));
}

}  // namespace tundish::sim
