// Planted bugs. What a broken tundishd would do is done here, around the shipped code: a wrong
// operation, a wrong call, a wrong permit. Some live in the fakes instead (skip_wipe,
// clear_foreign_drain, requeue_of_other_tenant, witness_twice, lease_kept).
#include "control/allocation/order.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/blame_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/maintenance_ops.hpp"
#include "sim/site.hpp"

namespace tundish::sim {
namespace {

constexpr Duration ripe = minutes(15);  // clusters are up

/// Tries `deed` every second until it says that it is done.
void persist(Site& site, std::function<bool(Site&)> deed) {
  site.after(seconds(1), [&site, deed] {
    if (site.view() && deed(site)) return;
    persist(site, deed);
  });
}

/// An order of one node by a tenant.
Result<ClusterOrder> plan_small(Site& site, const std::string& tenant_name) {
  ClusterSpec spec;
  spec.sku = "gpu";
  spec.nodes = 1;
  const Tenant* tenant = site.view()->find_named<Tenant>(tenant_name);
  return control::plan_order(site.process()->manager->view(), tenant->id, "bug", spec,
                             control::WantLogin::no);
}

/// create_cluster whose check of the quota was forgotten.
bool skip_quota(Site& site) {
  const Tenant real = *site.view()->find_named<Tenant>("acme");
  auto order = plan_small(site, "acme");
  for (const auto& [id, node] : site.view()->all<Node>()) {
    if (!order || static_cast<int>(order->members.size()) == 4) break;
    const bool taken = order->members.front() == id;
    if (taken || !control::placeable(site.process()->manager->view(), node).yes) continue;
    if (node.spec.role == NodeRole::gpu) order->members.push_back(id);
  }
  if (!order || order->members.size() < 2) return false;
  order->spec.nodes = static_cast<int>(order->members.size());
  return site.perform(make_operation("create_cluster", "cluster/bug", [=](Txn& txn) -> Result<> {
    Tenant unlimited = real;
    unlimited.spec.gpu_quota = 1'000'000;
    txn.put(unlimited);
    TRY_VOID(create_cluster(*order)->perform(txn));
    txn.put(real);
    return {};
  }));
}

/// add_node that does not lock the node.
bool double_bind(Site& site) {
  const auto& all = site.view()->all<Allocation>();
  if (all.size() < 2) return false;
  Allocation first = all.begin()->second;
  const Allocation& second = std::next(all.begin())->second;
  for (const auto& member : second.status.nodes) {
    if (member.role != MemberRole::spare) continue;
    first.status.nodes.push_back(member);
    return site.perform(
        make_operation("add_node", "allocation/" + first.id.str(), [first](Txn& txn) -> Result<> {
          txn.put(first);
          return {};
        }));
  }
  return false;
}

/// free_pool_entry without the tombstone's time.
bool early_reissue(Site& site) {
  for (const auto& item : site.view()->all<PoolEntry>()) {
    const auto id = item.first;
    if (item.second.state != PoolState::tombstone) continue;
    return site.perform(
        make_operation("free_pool_entry", "pool_entry/" + id.str(), [id](Txn& txn) -> Result<> {
          txn.erase(id);
          return {};
        }));
  }
  return false;
}

/// A write of an older version that arrives late and wins.
void stale_write_wins(Site& site) {
  const auto old = std::make_shared<std::map<std::string, std::string>>();
  persist(site, [old](Site& here) {
    for (const auto& [port, segment] : here.world().ports) {
      if (!segment.empty()) {
        (*old)[port] = segment;
      } else if (old->contains(port)) {
        here.world().attach(port, old->at(port));
        return true;
      }
    }
    return false;
  });
}

bool no_permit(Site& site) {
  site.process()->bmc.start("n01", PowerVerb::restart, seconds(60), [](Result<>) {});
  return true;
}

/// return_node out of any state.
bool no_revalidation(Site& site) {
  for (const auto& [id, incident] : site.view()->all<Incident>()) {
    const auto& state = incident.policy_state;
    const bool repairing = state == "choose" || state == "reset" || state == "reboot";
    if (incident.state == IncidentState::open && repairing) {
      return site.perform(return_node(id));
    }
  }
  return false;
}

bool act_under_hold(Site& site) {
  if (site.view()->all<Hold>().empty()) return false;
  site.checker().forge_permit({Driver::port, "n01/0", ""});
  site.process()->switches.attach({"leaf1", "sim://leaf1", "n01/0", "flat"}, {}, seconds(10),
                                  [](Result<>) {});
  return true;
}

bool reset_on_userspace_witness(Site& site) {
  for (const auto& [id, incident] : site.view()->all<Incident>()) {
    if (incident.state != IncidentState::open || incident.hardware_witness) continue;
    site.checker().forge_permit({Driver::verb, incident.node.str(), "reset_gpus"});
    VerbCall call;
    call.key = "bug";
    call.verb = Verb::reset_gpus;
    site.process()->agents.start(incident.node, call, seconds(60), [](Result<VerbResult>) {});
    return true;
  }
  return false;
}

/// A gang that starts with what there is.
bool half_a_gang(Site& site) {
  auto order = plan_small(site, "bolt");  // whose quota has room for the two it asks for
  if (!order) return false;
  order->spec.nodes = 2;
  order->members.resize(1);
  return site.perform(create_cluster(*order));
}

/// One node's symptom judged without a look at the others.
bool blame_ignores_shared_fate(Site& site) {
  for (const auto& [id, node] : site.view()->all<Node>()) {
    for (const auto& verdict : node.status.verdicts) {
      const bool symptom = verdict.state == VerdictState::fail &&
                           verdict.locality == Locality::symptom &&
                           site.view()->incidents_on(id).empty();
      if (!symptom) continue;
      BlamedOrder order;
      order.blame.part = verdict.watches;
      order.blame.object = node.meta.name;
      order.fault = verdict.check;
      order.node = id;
      order.affected = {id};
      order.detected_at = site.now();
      return site.perform(open_blamed(std::move(order)));
    }
  }
  return false;
}

/// A permit that does not look whether people have their hands in the node.
bool act_in_window(Site& site) {
  for (const auto& [id, incident] : site.view()->all<Incident>()) {
    const bool repairable = incident.state == IncidentState::open && incident.hardware_witness;
    if (!repairable || !maintenance_over(*site.view(), incident.node)) continue;
    const Node* node = site.view()->find(incident.node);
    const std::string& bmc = node->spec.bmc_address;
    site.checker().forge_permit({Driver::power, bmc, power_name(PowerVerb::restart)});
    site.process()->bmc.start(bmc, PowerVerb::restart, seconds(60), [](Result<>) {});
    return true;
  }
  return false;
}

}  // namespace

void plant_bug(Site& site, Bug bug) {
  std::function<bool(Site&)> deed;
  switch (bug) {
    case Bug::skip_quota: deed = skip_quota; break;
    case Bug::double_bind: deed = double_bind; break;
    case Bug::early_reissue: deed = early_reissue; break;
    case Bug::no_permit: deed = no_permit; break;
    case Bug::no_revalidation: deed = no_revalidation; break;
    case Bug::act_under_hold: deed = act_under_hold; break;
    case Bug::reset_on_userspace_witness: deed = reset_on_userspace_witness; break;
    case Bug::half_a_gang: deed = half_a_gang; break;
    case Bug::blame_ignores_shared_fate: deed = blame_ignores_shared_fate; break;
    case Bug::act_in_window: deed = act_in_window; break;
    case Bug::stale_write_wins: site.after(ripe, [&site] { stale_write_wins(site); }); return;
    case Bug::none:
    case Bug::clear_foreign_drain:
    case Bug::skip_wipe:
    case Bug::witness_twice:
    case Bug::requeue_of_other_tenant:
    case Bug::lease_kept: return;
  }
  site.after(ripe, [&site, deed] { persist(site, deed); });
}

}  // namespace tundish::sim
