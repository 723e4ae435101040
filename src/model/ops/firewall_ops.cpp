// What a cluster's nodes may send out of their network, and who may come in by its gateway.
#include "model/firewall.hpp"

#include <algorithm>

#include "model/allocation.hpp"
#include "model/ops/network_ops.hpp"

namespace tundish {
namespace {

Result<> check_entry(const FabricSpec& fabric, const RulesPlace& place, const NetworkSpec& spec) {
  std::size_t number = 0;
  for (const auto& rule : spec.access) {
    TRY_VOID(check_access_rule(rule, ++number));
    const bool has_gateway = !fabric.access_prefix.empty();
    if (has_gateway && place.login == LoginNode::present) continue;
    return make_error(Code::conflict,
                      "access rule 1: " +
                          (has_gateway ? "cluster " + place.cluster + " has no login node"
                                       : "fabric " + place.fabric + " has no access network"))
        .about("cluster/" + place.cluster)
        .with_remedy(has_gateway ? "order it with a login node, or without rules for access"
                                 : "leave the rule out, or give the fabric an access_prefix");
  }
  return {};
}

Result<> check_size(const RulesPlace& place, const NetworkSpec& spec) {
  const std::size_t rules = std::max(spec.firewall.size(), spec.access.size());
  if (rules <= most_firewall_rules) return {};
  return make_error(Code::invalid, "a firewall of " + std::to_string(rules) + " rules is too long")
      .about("cluster/" + place.cluster)
      .with_remedy("use at most " + std::to_string(most_firewall_rules) +
                   ": join prefixes or ports");
}

}  // namespace

Result<> plan_rules(const Registry& view, const RulesPlace& place, NetworkSpec& spec) {
  static const FabricSpec undeclared;
  const Fabric* found = view.find_named<Fabric>(place.fabric);
  const FabricSpec& fabric = found ? found->spec : undeclared;
  TRY_VOID(check_size(place, spec));
  TRY_VOID(check_entry(fabric, place, spec));
  std::size_t number = 0;
  for (auto& rule : spec.firewall) {
    TRY_VOID(check_firewall_rule(rule, ++number));
    TRY_VOID(check_firewall_reach(fabric, rule, number));
    // Nobody sends under an address that is not of his network.
    if (rule.source.empty()) rule.source = spec.prefixes.front();
  }
  return {};
}

void tell_rules(const NetworkSpec& spec, ClusterSpec& cluster) {
  cluster.firewall.clear();
  cluster.access.clear();
  for (const auto& rule : spec.firewall) cluster.firewall.push_back(render_firewall_rule(rule));
  for (const auto& rule : spec.access) cluster.access.push_back(render_access_rule(rule));
}

OperationPtr set_firewall(ClusterId id, NetworkRules rules) {
  return make_operation("set_firewall", "cluster/" + id.str(), [=](Txn& txn) -> Result<> {
    Cluster cluster = TRY(get_object(txn, id));
    const Network* held = find_network(txn.view(), cluster.status.allocation);
    if (!held || cluster.status.phase == ClusterPhase::deleting) {
      return make_error(Code::conflict, "cluster " + cluster.meta.name + " is being deleted")
          .about("cluster/" + cluster.meta.name);
    }
    Network network = *held;
    network.spec.firewall = rules.firewall;
    network.spec.access = rules.access;
    const RulesPlace place{
        network.status.fabric, cluster.meta.name,
        cluster.status.login_address.empty() ? LoginNode::absent : LoginNode::present};
    TRY_VOID(plan_rules(txn.view(), place, network.spec));
    if (network.spec.firewall == held->spec.firewall && network.spec.access == held->spec.access) {
      return {};
    }
    ++network.meta.version;
    tell_rules(network.spec, cluster.spec);
    ++cluster.meta.version;
    txn.put(std::move(network));
    txn.put(std::move(cluster));
    return {};
  });
}

}  // namespace tundish
