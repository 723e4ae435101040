// What goes wrong in a seeded run, and what people do meanwhile.
#include <algorithm>

#include "model/ops/allocation_ops.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/maintenance_ops.hpp"
#include "model/ops/node_report_ops.hpp"
#include "sim/site.hpp"

namespace tundish::sim {
namespace {

constexpr Duration first_trouble = minutes(20);  // clusters are up by then

Duration some_time(Site& site) {
  return site.random().between(first_trouble, site.options().length);
}

void fail(Site& site, SimNode& node) {
  if (!node.powered) return;
  SimRandom& random = site.random();
  const int gpu = static_cast<int>(random.below(node.gpus.size()));
  const bool sticky = random.chance(site.options().sticky_per_mille);
  site.world().fail_gpu(node, gpu, random.chance(500) ? 79 : 95, sticky);
  site.sync(node);
}

SimNode* node_of(Site& site, const NodeId& id) { return site.world().find_id(id.str()); }

void plan_faults(Site& site) {
  const auto& options = site.options();
  for (int i = 0; i < options.faults; ++i) {
    site.after(some_time(site), [&site] { fail(site, site.random_node()); });
  }
  for (int i = 0; i < options.decoys; ++i) {
    site.after(some_time(site), [&site] {
      static constexpr int codes[] = {13, 31, 43, 45};
      const std::string code = std::to_string(codes[site.random().below(4)]);
      site.world().write_kernel_line(
          site.random_node(),
          "NVRM: Xid (PCI:0000:01:00): " + code + ", pid=9, name=b: 79, x, Ch 1",
          Provenance::kernel);
    });
  }
  if (options.stories.forged_lines) {
    for (int i = 0; i < 2; ++i) {
      site.after(some_time(site),
                 [&site] { site.world().write_forged_line(site.random_node(), 0); });
    }
  }
  if (options.stories.two_faults) {
    site.after(some_time(site), [&site] {
      SimNode& node = site.random_node();
      fail(site, node);
      site.after(site.random().between({}, minutes(2)), [&site, &node] { fail(site, node); });
    });
  }
}

void plan_spare_faults(Site& site) {
  if (site.options().stories.last_spare_fails) {
    site.after(some_time(site), [&site] {
      if (!site.view()) return;
      for (const auto& [id, held] : site.view()->all<Allocation>()) {
        for (const auto& member : held.status.nodes) {
          if (member.role != MemberRole::spare) continue;
          fail(site, *node_of(site, member.node));
          return;
        }
      }
    });
  }
  if (!site.options().stories.joining_spare_fails) return;
  const auto left = std::make_shared<int>(1);
  site.on_operation([&site, left](const HistoryEntry& entry, const Batch& batch) {
    if (entry.operation != "bind_spare" || *left == 0) return;
    for (const auto& change : batch.changes) {
      const auto* body = dynamic_cast<const Holder<Allocation>*>(change.body.get());
      if (!body) continue;
      for (const auto& member : body->value.status.nodes) {
        if (member.role != MemberRole::member || member.cause.empty() || *left == 0) continue;
        --*left;
        SimNode& node = *node_of(site, member.node);
        site.after(site.random().between({}, seconds(5)), [&site, &node] { fail(site, node); });
      }
    }
  });
}

/// A shared part goes and comes back: every node's check sees it within its minute.
void plan_shared_outage(Site& site, bool SimNode::*shows) {
  constexpr Duration longest_look = seconds(60);
  constexpr Duration outage = minutes(10);
  // Nodes recover one after the other, and the last ones are told as late as agents may be.
  constexpr Duration settling = minutes(5);
  const Duration start = some_time(site);
  site.after(start, [&site] {
    Instant& until = site.world().outage_until;
    until = std::max(until, site.now() + outage + longest_look + settling);
  });
  for (auto& [name, node] : site.world().nodes) {
    const auto turn = [&site, &node = node, shows](bool on) {
      node.*shows = on;
      site.sync(node);
    };
    site.after(start + site.random().between({}, longest_look), [turn] { turn(true); });
    site.after(start + outage + site.random().between({}, longest_look), [turn] { turn(false); });
  }
}

void plan_outages(Site& site) {
  const auto& stories = site.options().stories;
  if (stories.storage_outage) plan_shared_outage(site, &SimNode::storage_hangs);
  if (stories.leaf_outage) plan_shared_outage(site, &SimNode::link_down);
  if (stories.cut_agents) {
    const Duration start = some_time(site);
    const auto cut = [&site](bool away) {
      for (auto& [name, node] : site.world().nodes) node.oob_cut = away;
    };
    site.after(start, [cut] { cut(true); });
    site.after(start + minutes(4), [&site] { fail(site, site.random_node()); });
    site.after(start + minutes(10), [cut] { cut(false); });
  }
  if (stories.controller_outage) {
    for (const char* cluster : {"acme-c", "bolt-c"}) {
      const auto up = [&site, cluster](bool yes) {
        const auto engine = site.world().engines.find(cluster);
        if (engine != site.world().engines.end()) engine->second.up = yes;
      };
      const Duration start = some_time(site);
      site.after(start, [up] { up(false); });
      site.after(start + seconds(10), [&site] { fail(site, site.random_node()); });
      site.after(start + minutes(1), [up] { up(true); });
    }
  }
  if (stories.commit_faults) {
    for (int i = 0; i < 4; ++i) {
      site.after(some_time(site), [&site] {
        const bool kept = site.random().chance(500);
        site.store().fail_commit_after(
            static_cast<int>(site.random().below(4)),
            kept ? CommitFault::done_but_reported_lost : CommitFault::lost);
      });
    }
  }
}

/// A person drains a member with the engine's own tools, and takes it back half an hour later.
void plan_person_drain(Site& site) {
  site.after(some_time(site), [&site] {
    const auto engine = site.world().engines.find("acme-c");
    if (engine == site.world().engines.end() || engine->second.partition.empty()) return;
    const auto& names = engine->second.partition;
    const std::string name = names[site.random().below(names.size())];
    site.world().drain_by_person("acme-c", name);
    site.after(minutes(30), [&site, name] {
      const auto& state = site.world().engines["acme-c"].nodes[name];
      if (!state.reason.starts_with("tundish:")) site.world().resume_by_person("acme-c", name);
    });
  });
}

/// A person insists on a node that was drained for an incident.
void watch_for_resume(Site& site, int tries) {
  if (tries == 0) return;
  for (auto& [cluster, engine] : site.world().engines) {
    for (auto& [name, node] : engine.nodes) {
      if (!node.drained || !node.reason.starts_with("tundish: incident-")) continue;
      site.world().resume_by_person(cluster, name);
      return;
    }
  }
  site.after(seconds(2), [&site, tries] { watch_for_resume(site, tries - 1); });
}

const Maintenance* window_of(Site& site) {
  const auto& windows = site.view()->all<Maintenance>();
  return windows.empty() ? nullptr : &windows.begin()->second;
}

/// A technician works on one node: breaks it, restarts it, or neither, and is late.
void plan_maintenance(Site& site) {
  const Duration start = some_time(site);
  site.after(start, [&site] {
    site.want([&site] { return window_of(site) != nullptr; },
              [&site] {
                MaintenanceOrder order;
                order.scope = "node:" + site.random_node().name;
                order.reason = "fans";
                order.begin = site.now() + minutes(5);
                order.end = site.now() + minutes(25);
                site.perform(create_maintenance(order));
              });
  });
  site.after(start + site.random().between(minutes(6), minutes(24)), [&site] {
    const Maintenance* window = site.view() ? window_of(site) : nullptr;
    if (!window) return;
    SimNode& node = *node_of(site, window->nodes.front().node);
    if (site.random().chance(500)) fail(site, node);
    if (site.random().chance(500)) site.world().power(node, PowerVerb::restart);
  });
  site.after(start + minutes(35), [&site] {
    const auto left = [&site] {
      const Maintenance* window = window_of(site);
      return window && window->state != MaintenanceState::active &&
             window->state != MaintenanceState::planned && window->state != MaintenanceState::near;
    };
    site.want(left, [&site] {
      if (const Maintenance* window = window_of(site)) site.perform(end_maintenance(window->id));
    });
  });
}

/// As long as a job runs on a node that was taken out for the report, whoever owns it starts anew.
void watch_report(Site& site, const std::string& cluster, int nodes) {
  const NodeReport* report = site.view() && !site.view()->all<NodeReport>().empty()
                                 ? &site.view()->all<NodeReport>().begin()->second
                                 : nullptr;
  const bool told = report && report->state != ReportState::testing;
  if (told && report->state != ReportState::swapped) return;
  const Incident* incident = told ? site.view()->find(report->incident) : nullptr;
  if (incident && incident->state != IncidentState::open) return;
  if (incident) {
    const SimNode& node = *node_of(site, incident->node);
    const auto& jobs = site.world().engines[cluster].jobs;
    const bool runs = std::any_of(jobs.begin(), jobs.end(), [&](const SimJob& job) {
      return std::find(job.nodes.begin(), job.nodes.end(), node.name) != job.nodes.end();
    });
    if (runs) {
      site.world().cancel_jobs(cluster);
      site.start_job(cluster, nodes);
    }
  }
  site.after(seconds(30), [&site, cluster, nodes] { watch_report(site, cluster, nodes); });
}

/// A node of a job is slow: the tenant names the job, or the node as well.
void plan_slow_node(Site& site) {
  site.after(some_time(site), [&site] {
    const auto engine = site.world().engines.find("acme-c");
    const bool runs = engine != site.world().engines.end() && !engine->second.jobs.empty() &&
                      engine->second.jobs.front().state == "RUNNING";
    if (!runs || !site.view()) return;
    const SimJob& job = engine->second.jobs.front();
    SimNode& node = *site.world().find(job.nodes[site.random().below(job.nodes.size())]);
    node.slow = true;
    ReportDraft draft;
    draft.tenant = site.view()->find_named<Tenant>("acme")->id;
    draft.job = job.id;
    draft.text = "slow";
    draft.by = "user:sim";
    if (site.random().chance(500)) draft.node = NodeId(node.id);
    site.want([&site] { return !site.view()->all<NodeReport>().empty(); },
              [&site, draft] { site.perform(open_report(draft)); });
    watch_report(site, "acme-c", 4);
  });
}

void plan_hold(Site& site) {
  const Duration start = some_time(site);
  const auto released = std::make_shared<bool>(false);
  const auto held = [&site] { return !site.view()->all<Hold>().empty(); };
  site.after(start, [&site, held, released] {
    site.want([held, released] { return *released || held(); },
              [&site] { site.perform(set_hold("*", "a person looks", {})); });
  });
  site.after(start + minutes(1), [&site] { fail(site, site.random_node()); });
  site.after(start + minutes(25), [&site, held, released] {
    *released = true;
    site.want([held] { return !held(); },
              [&site] {
                const auto& holds = site.view()->all<Hold>();
                if (!holds.empty()) site.perform(release_hold(holds.begin()->first));
              });
  });
}

void approve_proposals(Site& site) {
  site.after(minutes(2), [&site] { approve_proposals(site); });
  if (!site.view()) return;
  std::vector<Id<Proposal>> waiting;
  for (const auto& [id, proposal] : site.view()->all<Proposal>()) {
    if (proposal.state == ProposalState::waiting) waiting.push_back(id);
  }
  for (const auto& id : waiting) {
    if (site.view()) site.perform(decide_proposal(id, ProposalState::approved));
  }
}

void plan_people(Site& site) {
  const auto& stories = site.options().stories;
  if (stories.person_drains) plan_person_drain(site);
  if (stories.person_resumes) {
    site.after(some_time(site), [&site] { watch_for_resume(site, 1800); });
  }
  if (stories.hold) plan_hold(site);
  if (stories.maintenance) plan_maintenance(site);
  if (stories.slow_node) plan_slow_node(site);
  if (stories.advise) {
    const auto stated = [&site] { return site.view()->all<Authority>().size() > 1; };
    site.after(first_trouble, [&site, stated] {
      site.want(stated,
                [&site] { site.perform(set_authority("rack:r02", "*", AuthorityLevel::advise)); });
      approve_proposals(site);
    });
  }
}

/// What is wet stays wet: the vendor has it at the end.
void plan_leak(Site& site) {
  if (!site.options().stories.leak) return;
  site.after(some_time(site), [&site] {
    SimNode& node = site.random_node();
    node.leak = "Warning";
    site.after(minutes(5), [&site, &node] { site.world().wet(node); });
  });
}

ClusterSpec spec_of(int nodes, int spares) {
  ClusterSpec spec;
  spec.nodes = nodes;
  spec.spares = spares;
  return spec;
}

void plan_orders(Site& site) {
  site.order("acme", "acme-c", spec_of(4, 1));
  site.order("bolt", "bolt-c", spec_of(2, 1));
  site.start_job("acme-c", 4);
  site.start_job("bolt-c", 2);
  if (!site.options().stories.churn) return;
  site.after(some_time(site), [&site] {
    site.remove("bolt-c");
    site.after(minutes(3), [&site] {
      site.order("bolt", "bolt-d", spec_of(2, 1));
      site.start_job("bolt-d", 2);
    });
  });
}

}  // namespace

void plan_troubles(Site& site) {
  plan_orders(site);
  plan_faults(site);
  plan_spare_faults(site);
  plan_outages(site);
  plan_leak(site);
  plan_people(site);
}

}  // namespace tundish::sim
