#include "model/ops/network_ops.hpp"

#include <gtest/gtest.h>

#include "model/ops/allocation_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish {
namespace {

class NetworkOps : public testing::Test {
 protected:
  Result<> run(const OperationPtr& operation) {
    now_ = now_ + seconds(1);
    Txn txn(registry_, now_, "test");
    const auto done = operation->perform(txn);
    if (!done) txn.undo();
    return done;
  }
  void must(const OperationPtr& operation) {
    const auto done = run(operation);
    ASSERT_TRUE(done) << done.error().message();
  }
  void refused(const OperationPtr& operation, Code code, const std::string& part) {
    const auto entries = registry_.all<PoolEntry>().size();
    const auto done = run(operation);
    ASSERT_FALSE(done) << "expected: " << part;
    EXPECT_EQ(done.error().code, code) << done.error().message();
    EXPECT_NE(done.error().message().find(part), std::string::npos) << done.error().message();
    EXPECT_FALSE(done.error().remedy.empty()) << done.error().message();
    EXPECT_EQ(registry_.all<PoolEntry>().size(), entries) << "something was taken";
  }
  static FabricSpec spec() {
    FabricSpec out;
    out.underlay = {"10.255.0.0/16"};
    out.management = {"10.88.0.0/16"};
    out.storage_prefix = "10.200.0.0/24";
    return out;
  }
  void SetUp() override {
    must(put_sku("gpu", {"GPU", "gpu", 8, 0, 8, 1, 2000}));
    for (int i = 1; i <= 4; ++i) {
      NodeSpec node;
      node.sku = "gpu";
      node.bmc_mac = "02:00:00:00:00:0" + std::to_string(i);
      node.ports.push_back({"eth0", PortRole::access, "", "leaf" + std::to_string(1 + i % 2),
                            "swp" + std::to_string(i), -1});
      must(admit_node("n" + std::to_string(i), node));
      must(set_node_phase(id("n" + std::to_string(i)), NodePhase::expected, NodePhase::ready));
    }
    NodeSpec service;
    service.role = NodeRole::service;
    for (int i = 0; i < 4; ++i) {
      service.ports.push_back(
          {"eth" + std::to_string(i), PortRole::access, "", "leaf1", "s" + std::to_string(i), -1});
    }
    must(admit_node("svc", service));
    must(create_tenant("acme", {64}));
  }
  NodeId id(const std::string& name) { return registry_.find_named<Node>(name)->id; }
  ClusterOrder order(const std::string& name, const std::vector<std::string>& members) {
    ClusterOrder out;
    out.tenant = registry_.find_named<Tenant>("acme")->id;
    out.name = name;
    out.spec.sku = "gpu";
    out.spec.nodes = static_cast<int>(members.size());
    for (const auto& member : members) out.members.push_back(id(member));
    out.controller = id("svc");
    return out;
  }
  /// As its agent reports it.
  void let_keep_apart(const std::string& name) {
    ObservedHardware seen;
    seen.network_namespaces = true;
    must(record_hardware(id(name), seen));
  }
  ClusterId cluster_id(const std::string& name) { return registry_.find_named<Cluster>(name)->id; }
  const Network& network(const std::string& name) { return *registry_.find_named<Network>(name); }

  Registry registry_;
  Instant now_{1'000'000};
};

TEST_F(NetworkOps, every_number_comes_with_the_nodes_and_rests_when_they_go) {
  must(put_fabric("access", spec()));
  must(create_cluster(order("a", {"n1", "n2"})));
  const Network made = network("a");
  EXPECT_EQ(made.status.vrf_id, FabricSpec{}.vrf_ids.from);
  EXPECT_EQ(made.status.l3vni, 50001);
  EXPECT_EQ(made.status.segments[0].vni, 10001);
  EXPECT_EQ(registry_.find_named<Allocation>("a")->status.segment, "seg10001");
  EXPECT_EQ(made.status.segments[0].gateway, "10.64.1.1/24");
  EXPECT_EQ(made.status.storage.size(), 3u);
  EXPECT_EQ(made.status.storage[0].address, "100.64.0.1");
  ASSERT_EQ(made.status.switches.size(), 2u);
  EXPECT_EQ(made.status.switches[0].vlan, 100);
  EXPECT_EQ(made.status.switches[1].vlan, 100) << "VLANs are local to a switch";
  const auto cluster = registry_.find_named<Cluster>("a")->id;
  must(begin_delete_cluster(cluster));
  EXPECT_GT(network("a").meta.version, made.meta.version);
  for (const char* name : {"n1", "n2", "svc"}) {
    must(detach_node(made.allocation, id(name), NodePhase::wiping));
  }
  must(remove_cluster(cluster));
  EXPECT_TRUE(registry_.all<Network>().empty());
  for (const auto& [entry_id, entry] : registry_.all<PoolEntry>()) {
    EXPECT_EQ(entry.state, PoolState::tombstone) << entry.meta.name;
    EXPECT_FALSE(entry.seen_absent) << entry.meta.name;
  }
}

TEST_F(NetworkOps, a_tombstone_is_freed_only_when_seen_absent_and_rested) {
  must(create_cluster(order("a", {"n1"})));
  const auto cluster = registry_.find_named<Cluster>("a")->id;
  const auto held = registry_.find_named<Allocation>("a")->id;
  must(begin_delete_cluster(cluster));
  must(detach_node(held, id("n1"), NodePhase::wiping));
  must(detach_node(held, id("svc"), NodePhase::ready));
  must(remove_cluster(cluster));
  const auto entry = find_entry(registry_, {"access", "l2vni"}, 10001)->id;
  now_ = now_ + hours(1);
  EXPECT_FALSE(run(free_pool_entry(entry))) << "never seen absent";
  must(mark_absent(entry));
  must(free_pool_entry(entry));
  const auto vrf = find_entry(registry_, {"access", "vrf_id"}, FabricSpec{}.vrf_ids.from)->id;
  must(mark_absent(vrf));
  must(mark_present(vrf));
  must(mark_absent(vrf));
  EXPECT_FALSE(run(free_pool_entry(vrf))) << "it was seen again and rests anew";
}

TEST_F(NetworkOps, a_pool_that_leaves_out_what_is_held_is_refused_by_name) {
  must(put_fabric("access", spec()));
  must(create_cluster(order("a", {"n1", "n2"})));
  const auto with = [&](const std::function<void(FabricSpec&)>& change) {
    FabricSpec out = spec();
    change(out);
    return put_fabric("access", out);
  };
  refused(with([](FabricSpec& out) { out.l2vnis.from = 10002; }), Code::conflict,
          "pool l2vni with 10002 to 49999 leaves out 10001, which cluster a holds");
  refused(with([](FabricSpec& out) { out.vlans.from = 101; }), Code::conflict,
          "pool vlan with 101 to ");
  refused(with([](FabricSpec& out) { out.storage_node_pool = "100.64.0.2/31"; }), Code::conflict,
          "storage_node_pool 100.64.0.2/31 leaves out 100.64.0.1");
  refused(with([](FabricSpec& out) { out.storage_node_pool = "100.65.0.0/16"; }), Code::conflict,
          "leaves out 100.64.0.");
  must(with([](FabricSpec& out) { out.storage_node_pool = "100.64.0.0/29"; }));
  must(with([](FabricSpec& out) { out.l2vnis.to = 10001; }));
  EXPECT_EQ(network("a").status.segments[0].vni, 10001);
}

TEST_F(NetworkOps, an_exhausted_pool_promises_no_number_that_it_has_not) {
  const auto with = [&](NumberRange range) {
    FabricSpec out = spec();
    out.l2vnis = range;
    return out;
  };
  must(put_fabric("access", with({10001, 10002})));
  must(create_cluster(order("a", {"n1"})));
  const auto cluster = cluster_id("a");
  const auto held = registry_.find_named<Allocation>("a")->id;
  must(begin_delete_cluster(cluster));
  must(detach_node(held, id("n1"), NodePhase::wiping));
  must(detach_node(held, id("svc"), NodePhase::ready));
  must(remove_cluster(cluster));
  must(mark_absent(find_entry(registry_, {"access", "l2vni"}, 10001)->id));
  must(put_fabric("access", with({10002, 10002})));
  let_keep_apart("svc");
  must(create_cluster(order("b", {"n2"})));
  auto more = run(create_cluster(order("c", {"n3"})));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Code::exhausted) << more.error().message();
  EXPECT_EQ(more.error().remedy.find("tombstone"), std::string::npos) << more.error().remedy;
  must(put_fabric("access", with({10001, 10002})));
  more = run(create_cluster(order("c", {"n3"})));
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().remedy.find("or wait: 1 tombstone runs out"), std::string::npos)
      << more.error().remedy;
}

TEST_F(NetworkOps, overlaps_are_refused_by_name_before_anything_is_taken) {
  must(put_fabric("access", spec()));
  const auto with = [&](std::vector<std::string> prefixes) {
    auto out = order("a", {"n1"});
    out.network.prefixes = std::move(prefixes);
    return create_cluster(out);
  };
  refused(with({"10.10.0.0/24", "10.10.0.128/25"}), Code::conflict, "overlaps prefix 10.10.0.0/24");
  refused(with({"10.200.0.0/16"}), Code::conflict, "overlaps storage 10.200.0.0/24");
  refused(with({"10.255.3.0/24"}), Code::conflict, "overlaps underlay");
  refused(with({"10.0.0.0/8"}), Code::conflict, "overlaps underlay");
  refused(with({"10.88.2.0/24"}), Code::conflict, "overlaps management");
  refused(with({"100.64.7.0/24"}), Code::conflict, "storage addresses of nodes");
  refused(with({"10.10.0.1/24"}), Code::invalid, "no usable IPv4 prefix");
  refused(with({"10.10.0.1/24"}), Code::invalid, "bits set behind its length");
  refused(with({"10.10.0.0/29"}), Code::invalid, "no usable IPv4 prefix");
  refused(with({"0.0.0.0/0"}), Code::invalid, "default route");
  refused(with({"230.1.0.0/16"}), Code::invalid, "multicast");
  refused(with({"127.1.0.0/16"}), Code::invalid, "loopback");
  refused(with({"169.254.7.0/24"}), Code::invalid, "link-local");
  refused(with({"250.0.0.0/24"}), Code::invalid, "reserved");
  refused(with({"10.10.0.0/28"}), Code::invalid, "its length does not fit");
  auto large = order("a", {"n1"});
  large.network.prefixes = {"10.10.0.0/27"};
  for (int i = 0; i < 16; ++i) large.headroom.emplace_back("grow" + std::to_string(i));
  refused(create_cluster(large), Code::invalid, "17 nodes (1 ordered, 16 to grow by)");
  EXPECT_NE(run(create_cluster(large)).error().remedy.find("length 26 or shorter"),
            std::string::npos);
  EXPECT_NE(run(with({"10.255.3.0/24"})).error().remedy.find("for example 10.70.0.0/24"),
            std::string::npos);
  must(with({"10.10.0.0/24", "10.10.1.0/24"}));
  auto other = order("b", {"n2"});
  other.network.prefixes = {"10.10.0.0/24"};
  // Another VRF: tenants may use the same addresses. But not on a node that would mix them.
  refused(create_cluster(other), Code::conflict, "service node svc has no network namespaces");
  let_keep_apart("svc");
  must(create_cluster(other));
  auto narrow = spec();
  narrow.management = {"10.10.0.0/16"};
  refused(put_fabric("access", narrow), Code::conflict, "overlaps management");
}

TEST_F(NetworkOps, a_tenant_that_no_export_could_be_named_after_is_refused_where_there_are_some) {
  const std::string longest(31, 'a');
  must(create_tenant(longest + "b", {8}));
  auto with_exports = spec();
  with_exports.storage_url = "ssh://root@10.88.5.1";
  with_exports.storage_mount_address = "10.200.0.10";
  must(put_fabric("access", with_exports));
  refused(create_tenant(longest + "c", {8}), Code::invalid, "cannot have an export of that name");
  refused(create_tenant("Upper", {8}), Code::invalid, "cannot have an export of that name");
  must(create_tenant(longest, {8}));
}

TEST_F(NetworkOps, out_of_band_addresses_are_nobodys_also_on_a_fabric_that_nobody_declared) {
  NodeSpec node;
  node.sku = "gpu";
  node.bmc_mac = "02:00:00:00:00:77";
  node.bmc_address = "10.64.1.9:8000";
  node.oob_address = "10.9.0.7";
  must(admit_node("far", node));
  auto asked = order("a", {"n1"});
  asked.network.prefixes = {"10.9.0.0/24"};
  refused(create_cluster(asked), Code::conflict, "the out-of-band address 10.9.0.7 of node far");
  asked.network.prefixes = {};
  refused(create_cluster(asked), Code::conflict, "10.64.1.9 of the BMC of node far");
}

TEST_F(NetworkOps, a_clusters_firewall_is_of_its_own_addresses_and_opens_nothing_of_the_fabric) {
  must(put_fabric("access", spec()));
  const auto with = [&](FirewallRule rule) {
    auto out = order("a", {"n1"});
    out.network.firewall = {std::move(rule)};
    return create_cluster(out);
  };
  refused(with({AclAction::permit, "tcp", "", "10.88.2.0/24", 22, 0}), Code::invalid,
          "10.88.2.0/24 lies in the management network 10.88.0.0/16");
  refused(with({AclAction::permit, "ip", "", "10.255.0.1/32", 0, 0}), Code::invalid, "underlay");
  refused(with({AclAction::permit, "gre", "", "192.0.2.0/24", 0, 0}), Code::invalid, "gre");
  must(with({AclAction::permit, "tcp", "", "0.0.0.0/0", 443, 0}));
  EXPECT_EQ(network("a").spec.firewall[0].source, "10.64.1.0/24");
  const Cluster& cluster = *registry_.find_named<Cluster>("a");
  EXPECT_EQ(cluster.spec.firewall, std::vector<std::string>{"permit tcp/443@0.0.0.0/0"});
  EXPECT_EQ(cluster.status.prefix, "10.64.1.0/24");
}

TEST_F(NetworkOps, a_gateway_is_for_who_has_a_login_node_and_its_address_rests_afterwards) {
  const auto with = [&](const std::string& name) {
    auto out = order(name, {name == "a" ? "n1" : "n2"});
    FirewallRule ssh;
    ssh.protocol = "tcp";
    ssh.source = "203.0.113.0/24";
    ssh.port_from = 22;
    out.network.access = {ssh};
    return out;
  };
  must(put_fabric("access", spec()));
  refused(create_cluster(with("a")), Code::conflict, "fabric access has no access network");
  auto open = spec();
  open.access_prefix = "10.89.0.0/16";
  open.access_router = "10.90.0.1";
  refused(put_fabric("access", open), Code::invalid, "access_router");
  open.access_router = "10.89.0.1";
  must(put_fabric("access", open));
  refused(create_cluster(with("a")), Code::conflict, "cluster a has no login node");
  auto inside = order("a", {"n1"});
  inside.network.prefixes = {"10.89.4.0/24"};
  refused(create_cluster(inside), Code::conflict, "overlaps access network 10.89.0.0/16");
  NodeSpec login;
  login.role = NodeRole::login;
  login.bmc_mac = "02:00:00:00:00:55";
  login.ports.push_back({"eth0", PortRole::access, "", "leaf1", "swp50", -1});
  must(admit_node("login", login));
  must(set_node_phase(id("login"), NodePhase::expected, NodePhase::ready));
  auto asked = with("a");
  asked.login = id("login");
  must(create_cluster(asked));
  EXPECT_EQ(network("a").status.access_address, "10.89.0.16/16");
  const Cluster& cluster = *registry_.find_named<Cluster>("a");
  EXPECT_EQ(cluster.status.access_address, "10.89.0.16");
  EXPECT_EQ(cluster.spec.access, std::vector<std::string>{"tcp/22@203.0.113.0/24"});
  ASSERT_NE(find_entry(registry_, {"access", "access_address"}, 16), nullptr);
  must(create_cluster(order("b", {"n2"})));
  EXPECT_EQ(network("b").status.access_address, "") << "nobody logs in there";
}

TEST_F(NetworkOps, an_exhausted_pool_names_itself_and_leaves_nothing_behind) {
  auto small = spec();
  small.vlans = {100, 100};
  must(put_fabric("access", small));
  must(create_cluster(order("a", {"n1"})));
  refused(create_cluster(order("b", {"n3"})), Code::exhausted, "pool vlan of fabric access/leaf");
  EXPECT_EQ(registry_.find(id("n3"))->status.phase, NodePhase::ready);
}

TEST_F(NetworkOps, a_fabric_that_contradicts_itself_is_refused) {
  const auto with = [&](const std::function<void(FabricSpec&)>& change) {
    FabricSpec out = spec();
    change(out);
    return put_fabric("access", out);
  };
  refused(with([](auto& s) { s.rt_admin = 65536; }), Code::invalid, "rt_admin");
  refused(with([](auto& s) { s.vrf_ids = {10, 70000}; }), Code::invalid, "vrf_ids");
  refused(with([](auto& s) { s.vrf_ids = {10, 59999}; }), Code::invalid, "vrf_ids and VLANs");
  refused(with([](auto& s) { s.l2vnis = {10001, 50005}; }), Code::invalid, "l2vnis and l3vnis");
  refused(with([](auto& s) { s.l3vnis = {50001, 60001}; }), Code::invalid, "storage_l3vni");
  refused(with([](auto& s) { s.vlans = {100, 2500}; }), Code::invalid, "vlans");
  refused(with([](auto& s) { s.partitions.pkey_to = 0x7fff; }), Code::invalid, "pkey_from");
  refused(with([](auto& s) { s.storage_prefix = "10.88.1.0/24"; }), Code::conflict, "overlaps");
  refused(with([](auto& s) { s.underlay = {"10.255.0.1/16"}; }), Code::invalid, "no IPv4 prefix");
  refused(with([](auto& s) {
            s.storage_ports = {{"leaf1", "swp9", "10.201.0.1/24"}};
          }),
          Code::invalid, "storage port leaf1 swp9");
}

TEST_F(NetworkOps, a_port_without_guid_is_refused_where_partitions_isolate) {
  FabricSpec ib;
  ib.technology = FabricTechnology::infiniband;
  ib.management_url = "ssh://root@10.9.4.1";
  must(put_fabric("ib0", ib));
  NodeSpec node = registry_.find_named<Node>("n1")->spec;
  node.ports.push_back({"ib0", PortRole::east_west, "", "", "", 0});
  must(update_declared(id("n1"), node));
  refused(create_cluster(order("a", {"n1"})), Code::invalid, "has no GUID in the inventory");
  node.ports.back().guid = "0002C90000000101";
  must(update_declared(id("n1"), node));
  refused(create_cluster(order("a", {"n1"})), Code::invalid, "is none");
  node.ports.back().guid = "0x0002c90000000101";
  must(update_declared(id("n1"), node));
  must(create_cluster(order("a", {"n1"})));
  EXPECT_EQ(network("a").status.pkey, 0x0100);
}

TEST_F(NetworkOps, a_partition_that_nobody_would_write_is_refused_and_leaves_nothing_behind) {
  FabricSpec ib;
  ib.technology = FabricTechnology::infiniband;
  must(put_fabric("ib0", ib));
  NodeSpec node = registry_.find_named<Node>("n1")->spec;
  node.ports.push_back({"ib0", PortRole::east_west, "", "", "", 0});
  node.ports.back().guid = "0x0002c90000000101";
  must(update_declared(id("n1"), node));
  refused(create_cluster(order("a", {"n1"})), Code::unsupported,
          "InfiniBand fabric ib0 has no management_url");
  EXPECT_EQ(find_entry(registry_, {"ib0", "pkey"}, 0x0100), nullptr);
  EXPECT_EQ(registry_.find(id("n1"))->status.phase, NodePhase::ready);
  must(create_cluster(order("b", {"n3"})));  // has no HCA: the fabric is nothing to it
  EXPECT_EQ(network("b").status.pkey, 0);
}

TEST_F(NetworkOps, a_node_brings_its_numbers_and_takes_them_along) {
  must(put_fabric("access", spec()));
  must(create_cluster(order("a", {"n2"})));  // leaf1, as the controller
  const auto held = registry_.find_named<Allocation>("a")->id;
  const auto version = network("a").meta.version;
  must(add_node(held, id("n1"), MemberRole::member, {}));  // leaf2
  EXPECT_EQ(network("a").status.switches.size(), 2u);
  EXPECT_EQ(network("a").status.storage.size(), 3u);
  EXPECT_GT(network("a").meta.version, version);
  must(mark_leaving(held, id("n1"), {}));
  must(detach_node(held, id("n1"), NodePhase::wiping));
  EXPECT_EQ(network("a").status.switches.size(), 1u);
  EXPECT_EQ(network("a").status.storage.size(), 2u);
  EXPECT_EQ(find_entry(registry_, {"access/leaf2", "vlan"}, 100)->state, PoolState::tombstone);
  EXPECT_EQ(find_entry(registry_, {"access", "storage_address"}, 3)->state, PoolState::tombstone);
  must(add_node(held, id("n3"), MemberRole::member, {}));
  EXPECT_EQ(network("a").status.switches[1].vlan, 101) << "100 still rests on leaf2";
}

TEST_F(NetworkOps, an_older_version_does_not_overwrite_what_was_seen) {
  must(create_cluster(order("a", {"n1"})));
  NetworkSync sync;
  sync.object = "leaf1";
  sync.version = 3;
  must(record_sync(network("a").id, {sync}));
  sync.version = 2;
  EXPECT_FALSE(run(record_sync(network("a").id, {sync})));
}

TEST_F(NetworkOps, firewall_rules_that_no_switch_holds_are_refused) {
  must(create_cluster(order("a", {"n1"})));
  const auto with = [&](FirewallRule rule) { return set_firewall(cluster_id("a"), {{rule}, {}}); };
  refused(with({AclAction::permit, "sctp", "", "", 0, 0}), Code::invalid, "sctp");
  refused(with({AclAction::permit, "ip", "", "", 22, 0}), Code::invalid, "has no ports");
  refused(with({AclAction::permit, "tcp", "10.0.0.1/8", "", 22, 0}), Code::invalid, "prefix");
  refused(with({AclAction::permit, "tcp", "", "", 443, 80}), Code::invalid, "lower port first");
  const auto version = network("a").meta.version;
  must(with({AclAction::permit, "tcp", "", "192.0.2.0/24", 443, 0}));
  EXPECT_EQ(network("a").meta.version, version + 1);
  EXPECT_EQ(network("a").spec.firewall[0].source, network("a").spec.prefixes[0]);
  EXPECT_EQ(registry_.find(cluster_id("a"))->spec.firewall.size(), 1U) << "the cluster tells them";
  must(with({AclAction::permit, "tcp", "", "192.0.2.0/24", 443, 0}));
  EXPECT_EQ(network("a").meta.version, version + 1) << "the same again changes nothing";
}

TEST_F(NetworkOps, firewall_rules_of_a_cluster_that_ends_or_has_no_gateway_are_refused) {
  must(create_cluster(order("a", {"n1"})));
  FirewallRule ssh;
  ssh.protocol = "tcp";
  ssh.port_from = 22;
  refused(set_firewall(cluster_id("a"), {{}, {ssh}}), Code::conflict, "no access network");
  FabricSpec fabric = spec();
  fabric.access_prefix = "203.0.113.0/24";
  must(put_fabric("access", fabric));
  refused(set_firewall(cluster_id("a"), {{}, {ssh}}), Code::conflict, "no login node");
  const FirewallRule underlay{AclAction::permit, "ip", "", "10.255.0.0/16", 0, 0};
  const auto done = run(set_firewall(cluster_id("a"), {{underlay}, {}}));
  ASSERT_FALSE(done) << "the underlay is nobody's";
  std::vector<FirewallRule> many(most_firewall_rules + 1,
                                 {AclAction::deny, "ip", "", "192.0.2.0/24", 0, 0});
  refused(set_firewall(cluster_id("a"), {many, {}}), Code::invalid, "too long");
  must(begin_delete_cluster(cluster_id("a")));
  EXPECT_FALSE(run(set_firewall(cluster_id("a"), {})));
}

VrfState named(const std::string& name, std::vector<LeakState> leaks = {}) {
  VrfState out;
  out.name = name;
  out.leaks = std::move(leaks);
  return out;
}

SegmentState segment_of(const std::string& vrf, int vlan) {
  SegmentState out;
  out.vrf = vrf;
  out.vlan = vlan;
  return out;
}

/// A list that a person unhooked, and a segment whose port a person took out, are that network's.
TEST(SwitchState, an_order_leaves_what_is_anothers_be_it_in_use_or_not) {
  const std::string a = vrf_name(4096), b = vrf_name(4097), gone = vrf_name(4098);
  SwitchState state;
  state.vrfs = {named(a), named(b), named(gone)};
  state.segments = {segment_of(a, 101), segment_of(gone, 103)};
  state.acls = {{acl_name(4096), {}}, {acl_name(4097), {}}, {acl_name(4098), {}}};
  const auto merged = merge_patch(state, {}, {a, b});
  EXPECT_NE(find_segment(merged, 101), nullptr);
  EXPECT_NE(find_acl(merged, acl_name(4096)), nullptr);
  EXPECT_NE(find_acl(merged, acl_name(4097)), nullptr);
  EXPECT_NE(find_vrf(merged, b), nullptr);
  EXPECT_EQ(find_segment(merged, 103), nullptr) << "nobody has it any more";
  EXPECT_EQ(find_acl(merged, acl_name(4098)), nullptr);
  EXPECT_EQ(find_vrf(merged, gone), nullptr);
}

TEST(SwitchState, an_order_changes_its_own_leak_of_the_vrf_that_all_share) {
  const LeakState a{vrf_name(4096), {"100.64.0.1/32"}}, b{vrf_name(4097), {"100.64.0.2/32"}};
  const LeakState hand{vrf_name(4097), {"100.64.0.0/24"}};
  const LeakState gone{vrf_name(4098), {"100.64.0.9/32"}};
  SwitchState state;
  state.vrfs = {named("Vrf60001", {hand, gone})};
  SwitchPatch patch;
  patch.vrfs = {named(vrf_name(4096)), named("Vrf60001", {a, b})};
  const std::vector<std::string> keep = {"Vrf60001", vrf_name(4097)};
  EXPECT_EQ(find_vrf(merge_patch(state, patch, keep), "Vrf60001")->leaks,
            (std::vector<LeakState>{a, hand}))
      << "b's is b's to put right; that of a deleted network goes";
  EXPECT_EQ(find_vrf(merge_patch({}, patch, keep), "Vrf60001")->leaks, std::vector<LeakState>{a});
  patch.vrfs.push_back(named(vrf_name(4097)));
  EXPECT_EQ(find_vrf(merge_patch(state, patch, keep), "Vrf60001")->leaks,
            (std::vector<LeakState>{a, b}))
      << "a restore brings the whole";
}

TEST(SwitchState, a_vrf_that_a_used_one_leaks_from_stays) {
  SwitchState state;
  VrfState storage, tenant, other;
  storage.name = "Vrf60001";
  storage.leaks = {{"Vrf00010", {"100.64.0.1/32"}}};
  tenant.name = "Vrf00010";
  other.name = "Vrf00011";
  state.vrfs = {storage, tenant, other};
  const auto merged = merge_patch(state, {}, {"Vrf60001"});
  EXPECT_NE(find_vrf(merged, "Vrf00010"), nullptr);
  EXPECT_EQ(find_vrf(merged, "Vrf00011"), nullptr);
  EXPECT_TRUE(merge_patch(state, {}, {}).vrfs.empty());
}

}  // namespace
}  // namespace tundish
