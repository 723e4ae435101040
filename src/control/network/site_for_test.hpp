#pragma once
// A small site for tests: two leaves, one of them with the storage, tenants with the same prefix.
#include <memory>

#include "control/network/intent.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/network_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::control::network {

inline std::string two_digits(int number) {
  return (number < 10 ? "0" : "") + std::to_string(number);
}

/// Registry, observations and clock of a site; operations run as in tundishd.
class TestSite {
 public:
  Result<> run(const OperationPtr& operation) {
    now = now + seconds(1);
    Txn txn(registry, now, "test");
    const auto done = operation->perform(txn);
    if (!done) txn.undo();
    return done;
  }
  /// For what must work.
  void must(const OperationPtr& operation) {
    const auto done = run(operation);
    if (!done) faults += done.error().message() + "\n";
  }

  std::string port_name(int number) const {
    return port_prefix + std::to_string(number * port_step);
  }
  FabricSpec access_spec() const {
    FabricSpec spec;
    spec.underlay = {"10.255.0.0/16"};
    spec.management = {"10.88.0.0/16"};
    spec.storage_prefix = "10.200.0.0/24";
    spec.storage_ports.push_back({"leaf1", port_name(99), "10.200.0.1/24"});
    return spec;
  }

  /// Leaves of so many ports, each with a node; an InfiniBand and an NVLink fabric beside.
  void build(int leaves, int ports) {
    must(put_fabric("access", access_spec()));
    FabricSpec ib;
    ib.technology = FabricTechnology::infiniband;
    ib.driver = "opensm";
    ib.management_url = "ssh://root@10.88.4.1";
    must(put_fabric("ib0", ib));
    FabricSpec nvlink;
    nvlink.technology = FabricTechnology::nvlink;
    nvlink.management_url = "https://10.88.4.2";
    must(put_fabric("nvl0", nvlink));
    must(put_sku("gpu", {"GPU", "gpu", 8, 1, 8, 1, 2000}));
    for (int leaf = 1; leaf <= leaves; ++leaf) add_leaf(leaf, ports);
    NodeSpec service;
    service.role = NodeRole::service;
    service.bmc_mac = "02:ff:00:00:00:01";
    for (int i = 0; i < 8; ++i) {
      service.ports.push_back(
          {"eth" + std::to_string(i), PortRole::access, "", "leaf1", port_name(80 + i), -1});
    }
    must(admit_node("svc", service));
    ObservedHardware hardware;
    hardware.network_namespaces = true;
    must(record_hardware(node("svc"), hardware));
    must(create_tenant("acme", {10000}));
    must(create_tenant("bolt", {10000}));
    must(create_tenant("core", {10000}));
  }

  NodeId node(const std::string& name) const { return registry.find_named<Node>(name)->id; }
  TenantId tenant(const std::string& name) const { return registry.find_named<Tenant>(name)->id; }
  const Network& network(const std::string& name) const {
    return *registry.find_named<Network>(name);
  }
  const Allocation& allocation(const std::string& name) const {
    return *registry.find_named<Allocation>(name);
  }

  ClusterOrder order(const std::string& owner, const std::string& name,
                     const std::vector<std::string>& members,
                     const std::vector<std::string>& spares = {}) const {
    ClusterOrder out;
    out.tenant = tenant(owner);
    out.name = name;
    out.spec.sku = "gpu";
    out.spec.nodes = static_cast<int>(members.size());
    out.spec.spares = static_cast<int>(spares.size());
    for (const auto& member : members) out.members.push_back(node(member));
    for (const auto& spare : spares) out.spares.push_back(node(spare));
    out.controller = node("svc");
    out.network.prefixes = {"10.10.0.0/24"};
    out.network.firewall = {{AclAction::permit, "tcp", "", "192.0.2.0/24", 443, 0}};
    return out;
  }
  void create(const std::string& owner, const std::string& name,
              const std::vector<std::string>& members,
              const std::vector<std::string>& spares = {}) {
    must(create_cluster(order(owner, name, members, spares)));
  }
  /// Three tenants over two leaves, two of them with the same addresses.
  void fill() {
    build(2, 6);
    create("acme", "a", {"n0101", "n0201"}, {"n0202"});
    create("bolt", "b", {"n0102", "n0203"});
    auto third = order("core", "c", {"n0103", "n0204"});
    third.network.prefixes = {"10.30.0.0/24"};
    must(create_cluster(third));
  }

  View view() const { return {registry, seen, policy, limits, now}; }
  Intent intent() const { return intent_of(view(), "access"); }
  /// Every switch and fabric shows what is wanted, as of now.
  void show_as_planned() {
    const Intent wanted = intent();
    for (const auto& [name, device] : wanted.switches) {
      SwitchObserved& observed = seen.switches[name];
      observed = {};
      observed.at = now;
      observed.reading.has_config = true;
      observed.reading.seen.own = *plan_switch(wanted, name);
    }
    for (const char* name : {"ib0", "nvl0"}) {
      FabricObserved& observed = seen.fabrics[name];
      observed = {};
      observed.at = now;
      observed.seen.own = plan_fabric(wanted, name);
    }
    show_tables();
  }
  /// Every HCA carries what the subnet manager's file says, and the default partition as limited.
  void show_tables() {
    FabricObserved& observed = seen.fabrics["ib0"];
    observed.has_tables = true;
    observed.ports.clear();
    for (const auto& [id, node] : registry.all<Node>()) {
      for (const auto& port : node.spec.ports) {
        if (port.guid.empty()) continue;
        FabricPort table{port.guid, false, true, {{0x7fff, IbMembership::limited}}};
        for (const auto& partition : observed.seen.own.partitions) {
          for (const auto& member : partition.members) {
            if (member.guid == port.guid)
              table.pkeys.push_back({partition.pkey, member.membership});
          }
        }
        observed.ports.push_back(std::move(table));
      }
    }
  }
  FabricPort& port_table(const std::string& guid) {
    for (auto& port : seen.fabrics["ib0"].ports) {
      if (port.guid == guid) return port;
    }
    faults += "no port " + guid + "\n";
    return seen.fabrics["ib0"].ports.front();
  }
  SwitchState& shown(const std::string& name) { return seen.switches[name].reading.seen.own; }

  std::string driver = "frr";
  std::string port_prefix = "swp";
  int port_step = 1;
  Registry registry;
  Observations seen;
  RemediationPolicy policy;
  Limits limits;
  Instant now{1'000'000'000};
  std::string faults;

 private:
  void add_leaf(int leaf, int ports) {
    SwitchSpec spec;
    spec.site = "site";
    spec.rack = "r01";
    spec.role = "leaf";
    spec.driver = driver;
    spec.management_url = "ssh://root@10.88.2." + std::to_string(leaf % 250);
    spec.asn = 65000 + leaf;
    spec.router_id = spec.vtep_address =
        "10.255." + std::to_string(leaf / 250) + "." + std::to_string(leaf % 250);
    must(put_switch("leaf" + std::to_string(leaf), spec));
    for (int port = 1; port <= ports; ++port) add_node(leaf, port);
  }

  void add_node(int leaf, int port) {
    const std::string name = "n" + two_digits(leaf) + two_digits(port);
    NodeSpec spec;
    spec.site = "site";
    spec.sku = "gpu";
    spec.bmc_mac = "02:" + name;
    spec.nvlink_domain = "d" + std::to_string(leaf);
    spec.ports.push_back(
        {"eth0", PortRole::access, "", "leaf" + std::to_string(leaf), port_name(port), -1});
    Port ib{"ib0", PortRole::east_west, "", "", "", 0};
    ib.guid = "0x0002c9000000" + two_digits(leaf) + two_digits(port);
    spec.ports.push_back(ib);
    must(admit_node(name, spec));
    ObservedHardware hardware;
    hardware.gpus.push_back({0, "GPU-" + name, "", "", ""});
    must(record_hardware(node(name), hardware));
    must(set_node_phase(node(name), NodePhase::expected, NodePhase::ready));
  }
};

}  // namespace tundish::control::network
