#include <gtest/gtest.h>

#include "model/ops/allocation_ops.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/pool.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish {
namespace {

/// A registry with a clock; every operation must leave nothing behind when it fails.
class Ops : public testing::Test {
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
  NodeId node(const std::string& name) { return registry_.find_named<Node>(name)->id; }
  TenantId tenant(const std::string& name) { return registry_.find_named<Tenant>(name)->id; }

  void build(int nodes) {
    must(put_sku("gpu", {"GPU", "gpu", 8, 0, 8, 1, 2000}));
    for (int i = 1; i <= nodes; ++i) {
      NodeSpec spec;
      spec.sku = "gpu";
      spec.bmc_mac = "02:00:00:00:00:0" + std::to_string(i);
      spec.ports.push_back({"eth0", PortRole::access, "", "leaf1", "swp" + std::to_string(i), -1});
      must(admit_node("n" + std::to_string(i), spec));
      must(set_node_phase(node("n" + std::to_string(i)), NodePhase::expected, NodePhase::ready));
    }
    NodeSpec service;
    service.role = NodeRole::service;
    for (int i = 0; i < 2; ++i) {
      service.ports.push_back({"eth" + std::to_string(i), PortRole::access, "", "leaf1", "x", -1});
    }
    must(admit_node("svc", service));
    must(create_tenant("acme", {32}));
    must(create_tenant("bolt", {64}));
  }
  ClusterOrder order(const std::string& owner, const std::string& name,
                     const std::vector<std::string>& members) {
    ClusterOrder out;
    out.tenant = tenant(owner);
    out.name = name;
    out.spec.sku = "gpu";
    out.spec.nodes = static_cast<int>(members.size());
    for (const auto& member : members) out.members.push_back(node(member));
    out.controller = node("svc");
    return out;
  }
  std::string dump() const {
    std::string out;
    for (const auto& [id, n] : registry_.all<Node>()) {
      out +=
          id.str() + std::to_string(static_cast<int>(n.status.phase)) + n.status.allocation.str();
    }
    out += std::to_string(registry_.all<PoolEntry>().size()) + "/" +
           std::to_string(registry_.all<Cluster>().size()) + "/" +
           std::to_string(registry_.all<Allocation>().size());
    return out;
  }
  Witness witness(std::int64_t seq, int code, Provenance provenance = Provenance::kernel) {
    Witness out;
    out.source = "kmsg";
    out.boot_id = "boot";
    out.seq = seq;
    out.id = "boot/kmsg/" + std::to_string(seq);
    out.provenance = provenance;
    out.event.kind = KernelEventKind::xid;
    out.event.code = code;
    out.event.device = "0000:3b:00";
    return out;
  }
  XidCatalogue catalogue() {
    XidCatalogue out;
    out.xid.entries.push_back({});
    out.xid.entries.back().code = 79;
    out.xid.entries.back().action = FaultAction::reboot;
    out.xid.entries.back().device_lost = true;
    out.xid.entries.push_back({});
    out.xid.entries.back().code = 13;
    out.xid.entries.back().action = FaultAction::app;
    out.xid.entries.back().decoy = true;
    return out;
  }

  Registry registry_;
  Instant now_{1'000'000};
};

TEST_F(Ops, two_orders_for_the_last_node_only_one_wins_and_the_loser_leaves_nothing) {
  build(2);
  const ClusterOrder first = order("acme", "a", {"n1", "n2"});
  const ClusterOrder second = order("bolt", "b", {"n2"});
  must(create_cluster(first));
  const std::string before = dump();
  const auto lost = run(create_cluster(second));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::conflict);
  EXPECT_EQ(dump(), before);
}

TEST_F(Ops, quota_is_checked_in_the_same_transaction_on_every_path) {
  build(6);
  must(create_cluster(order("acme", "a", {"n1", "n2", "n3"})));
  const auto more = run(create_cluster(order("acme", "b", {"n4", "n5"})));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Code::exhausted);
  ClusterResize resize;
  resize.cluster = registry_.find_named<Cluster>("a")->id;
  resize.nodes = 5;
  resize.added_members = {node("n4"), node("n5")};
  const auto grown = run(resize_cluster(resize));
  ASSERT_FALSE(grown);
  EXPECT_EQ(grown.error().code, Code::exhausted);
  EXPECT_EQ(registry_.find(node("n4"))->status.phase, NodePhase::ready);
}

TEST_F(Ops, a_released_number_rests_as_a_tombstone_and_is_not_reissued) {
  build(2);
  must(create_cluster(order("acme", "a", {"n1"})));
  const std::string prefix = registry_.find_named<Allocation>("a")->status.prefix;
  const auto id = registry_.find_named<Cluster>("a")->id;
  must(begin_delete_cluster(id));
  const auto held = registry_.find_named<Allocation>("a")->id;
  must(detach_node(held, node("n1"), NodePhase::wiping));
  must(detach_node(held, node("svc"), NodePhase::ready));
  must(remove_cluster(id));
  must(create_cluster(order("acme", "b", {"n2"})));
  EXPECT_NE(registry_.find_named<Allocation>("b")->status.prefix, prefix);
}

TEST_F(Ops, a_node_that_is_still_seen_in_the_segment_is_not_let_go) {
  build(1);
  must(create_cluster(order("acme", "a", {"n1"})));
  const auto held = registry_.find_named<Allocation>("a")->id;
  must(mark_attached(held, node("n1"), true));
  EXPECT_FALSE(run(detach_node(held, node("n1"), NodePhase::wiping)));
  must(mark_attached(held, node("n1"), false));
  must(detach_node(held, node("n1"), NodePhase::wiping));
  EXPECT_EQ(registry_.find(node("n1"))->status.phase, NodePhase::wiping);
}

TEST_F(Ops, a_number_out_of_all_proportion_mutes_nobody) {
  build(1);
  const auto known = catalogue();
  constexpr std::int64_t far = (std::int64_t{1} << 53);
  const auto tell = [&](std::int64_t seq) {
    const auto before = registry_.find(Id<AgentCursor>(node("n1").str()));
    const auto stored = before ? before->stored : std::map<std::string, std::int64_t>();
    must(record_witnesses(node("n1"), {witness(seq, 79)}, known));
    return registry_.find(Id<AgentCursor>(node("n1").str()))->stored != stored;
  };
  EXPECT_TRUE(tell(7));
  EXPECT_FALSE(find_condition(*registry_.find(node("n1")), "sequence_jump"));
  EXPECT_TRUE(tell(far)) << "it is a sighting all the same";
  EXPECT_FALSE(tell(far)) << "and counts once";
  const Condition* jump = find_condition(*registry_.find(node("n1")), "sequence_jump");
  ASSERT_TRUE(jump);
  EXPECT_NE(jump->reason.find(std::to_string(far)), std::string::npos);
  EXPECT_TRUE(tell(8)) << "the source is not muted";
  EXPECT_FALSE(tell(8));
  EXPECT_TRUE(tell(8 + (std::int64_t{1} << 31))) << "a loud log may come this far";
  EXPECT_TRUE(find_condition(*registry_.find(node("n1")), "sequence_jump")) << "until it boots";
  Witness next = witness(1, 79);
  next.boot_id = "another";
  must(record_witnesses(node("n1"), {next}, known));
  EXPECT_FALSE(find_condition(*registry_.find(node("n1")), "sequence_jump"));
}

TEST_F(Ops, a_witness_counts_once_however_often_it_is_told) {
  build(1);
  const auto known = catalogue();
  must(record_witnesses(node("n1"), {witness(7, 79)}, known));
  must(record_witnesses(node("n1"), {witness(7, 79)}, known));
  ASSERT_EQ(registry_.all<Incident>().size(), 1u);
  EXPECT_EQ(registry_.all<Incident>().begin()->second.witnesses.size(), 1u);
  EXPECT_EQ(registry_.claims_on(node("n1")).size(), 1u);
}

TEST_F(Ops, a_storm_in_one_report_is_one_write_and_does_not_grow_the_incident) {
  build(1);
  std::vector<Witness> storm;
  for (int i = 1; i <= 1000; ++i) storm.push_back(witness(i, 79));
  now_ = now_ + seconds(1);
  Txn txn(registry_, now_, "test");
  const auto known = catalogue();
  ASSERT_TRUE(record_witnesses(node("n1"), storm, known)->perform(txn));
  EXPECT_LE(txn.changes().size(), 3u);  // claim, incident, cursor
  const Incident& incident = registry_.all<Incident>().begin()->second;
  EXPECT_LE(incident.timeline.size(), 250u);
  EXPECT_EQ(static_cast<std::int64_t>(incident.witnesses.size()) + incident.witnesses_dropped,
            1000);
}

TEST_F(Ops, accounts_of_the_system_are_nobodys_login_name) {
  build(1);
  for (const char* name : {"root", "slurm", "munge", "systemd-x", "_apt"}) {
    EXPECT_FALSE(run(create_user(tenant("acme"), name, {}))) << name;
  }
  must(create_user(tenant("acme"), "alice", {}));
}

TEST_F(Ops, two_tenants_may_name_a_secret_alike_and_do_not_touch_each_other) {
  build(1);
  must(put_secret("s1", "webhook", "aa", tenant("acme")));
  must(put_secret("s1", "webhook", "bb", tenant("bolt")));
  EXPECT_EQ(registry_.all<Secret>().size(), 2u);
}

TEST_F(Ops, a_decoy_moves_the_cursor_and_claims_nothing) {
  build(1);
  must(record_witnesses(node("n1"), {witness(1, 13)}, catalogue()));
  EXPECT_TRUE(registry_.all<Incident>().empty());
  EXPECT_TRUE(registry_.claims_on(node("n1")).empty());
}

TEST_F(Ops, an_unknown_code_is_never_fatal) {
  build(1);
  must(record_witnesses(node("n1"), {witness(1, 999)}, catalogue()));
  EXPECT_TRUE(registry_.claims_on(node("n1")).empty());
}

TEST_F(Ops, a_line_that_a_user_wrote_claims_but_is_no_hardware_witness) {
  build(1);
  must(record_witnesses(node("n1"), {witness(1, 79, Provenance::userspace)}, catalogue()));
  ASSERT_EQ(registry_.all<Incident>().size(), 1u);
  EXPECT_FALSE(registry_.all<Incident>().begin()->second.hardware_witness);
  const auto blame = [this] { return registry_.all<Incident>().begin()->second.blame; };
  EXPECT_EQ(blame().find("nobody"), 0U) << "it accuses nobody: " << blame();
  must(record_witnesses(node("n1"), {witness(2, 79)}, catalogue()));
  EXPECT_EQ(blame().find("nobody"), std::string::npos) << "now hardware says it: " << blame();
}

TEST_F(Ops, a_lost_enrolment_answer_can_be_asked_for_again_until_the_identity_was_used) {
  build(1);
  Token token;
  token.meta.name = "enrol";
  token.role = Role::agent;
  token.one_time = true;
  token.node = registry_.find(node("n1"))->spec.bmc_mac;
  token.hash = "one";
  must(create_token(token));
  const auto id = registry_.find_token("one")->id;
  must(enrol_agent(id, node("n1"), "first"));
  must(enrol_agent(id, node("n1"), "second"));
  EXPECT_EQ(registry_.find_token("first"), nullptr);
  ASSERT_NE(registry_.find_token("second"), nullptr);
  must(spend_enrolment(node("n1")));
  EXPECT_EQ(registry_.find_token("one"), nullptr);
  EXPECT_NE(registry_.find_token("second"), nullptr);
}

TEST_F(Ops, a_gpu_that_the_vendor_changed_is_no_stranger_after_the_rma) {
  build(1);
  const Node before = *registry_.find(node("n1"));
  ObservedHardware seen;
  seen.gpus.push_back({0, "GPU-old", "1", "GPU", "0000:3b:00"});
  must(record_hardware(before.id, seen));
  must(record_check_run(before.id, {}, true));
  ASSERT_EQ(registry_.find(before.id)->status.accepted_gpus.size(), 1U);
  const auto known = catalogue();
  must(record_witnesses(before.id, {witness(1, 79)}, known));
  ASSERT_EQ(registry_.all<Incident>().size(), 1U);
  const IncidentId incident = registry_.all<Incident>().begin()->first;
  must(open_rma(incident, "sticky"));
  must(close_incident(incident));
  EXPECT_TRUE(registry_.find(before.id)->status.accepted_gpus.empty());
  EXPECT_EQ(registry_.find(before.id)->status.phase, NodePhase::wiping);
}

TEST_F(Ops, a_person_ends_an_incident_and_the_checks_say_whether_the_node_is_well) {
  build(2);
  const auto known = catalogue();
  const auto closed = [&](const std::string& name, const AllocationId& held) {
    Node sick = *registry_.find(node(name));
    sick.status.phase = held.empty() ? NodePhase::ready : NodePhase::assigned;
    sick.status.allocation = held;
    must(make_operation("put", "test", [&](Txn& txn) -> Result<> {
      txn.put(sick);
      return {};
    }));
    must(record_witnesses(sick.id, {witness(1, 79)}, known));
    must(close_incident(*registry_.incidents_on(sick.id).begin()));
    EXPECT_TRUE(registry_.claims_on(sick.id).empty());
    return registry_.find(sick.id)->status.phase;
  };
  EXPECT_EQ(closed("n1", {}), NodePhase::wiping) << "nobody is given it before it is proved";
  EXPECT_EQ(closed("n2", AllocationId("a1")), NodePhase::assigned) << "one that serves goes on";
}

TEST_F(Ops, what_failed_before_the_repair_says_nothing_of_the_node_that_came_back) {
  build(1);
  const NodeId id = node("n1");
  const auto status = [&]() -> const NodeStatus& { return registry_.find(id)->status; };
  ObservedHardware seen;
  seen.gpus.push_back({0, "GPU-old", "1", "GPU", "0000:3b:00"});
  must(record_hardware(id, seen));
  must(record_check_run(id, {}, true));
  const auto known = catalogue();
  must(record_witnesses(id, {witness(1, 79)}, known));
  const IncidentId sick = registry_.all<Incident>().begin()->first;
  must(open_rma(sick, "sticky"));
  must(record_check_run(id, {}, false));
  must(close_incident(sick));
  EXPECT_EQ(status().attempts, 0) << "no try of the proof that comes now";
  must(set_node_phase(id, NodePhase::wiping, NodePhase::revalidating));
  seen.gpus.front().uuid = "GPU-new";
  must(record_hardware(id, seen));
  for (int i = 0; i < 2; ++i) must(record_check_run(id, {}, false));
  must(set_condition(id, "checks_failed", Truth::yes, "ecc: some GPUs do not tell"));
  must(open_probe_incident(id, {}));
  IncidentId again;
  for (const auto& open : registry_.incidents_on(id)) again = open;
  must(return_node(again));
  EXPECT_EQ(status().phase, NodePhase::ready);
  EXPECT_EQ(find_condition(*registry_.find(id), "checks_failed"), nullptr);
  ASSERT_EQ(status().accepted_gpus.size(), 1U) << "a stranger would pass else";
  EXPECT_EQ(status().accepted_gpus.front().uuid, "GPU-new");
  EXPECT_TRUE(registry_.claims_on(id).empty());
}

TEST_F(Ops, the_gpus_of_a_confirmed_board_are_on_record_where_nobody_proves_the_node_again) {
  build(1);
  ObservedHardware seen;
  seen.serial = "NEW";
  seen.gpus.push_back({0, "GPU-new", "1", "GPU", "0000:3b:00"});
  must(record_hardware(node("n1"), seen));
  must(set_condition(node("n1"), "board_swap", Truth::yes, "serial is NEW"));
  must(set_node_phase(node("n1"), NodePhase::ready, NodePhase::revalidating));
  must(confirm_board(node("n1")));
  EXPECT_TRUE(registry_.find(node("n1"))->status.accepted_gpus.empty()) << "its proof decides";
  must(set_node_phase(node("n1"), NodePhase::revalidating, NodePhase::ready));
  must(set_condition(node("n1"), "board_swap", Truth::yes, "serial is NEW"));
  must(confirm_board(node("n1")));
  EXPECT_EQ(registry_.find(node("n1"))->status.accepted_gpus.size(), 1U);
}

TEST_F(Ops, a_board_swap_waits_for_a_person) {
  build(1);
  EXPECT_FALSE(run(confirm_board(node("n1"))));
  ObservedHardware seen;
  seen.serial = "NEW";
  must(record_hardware(node("n1"), seen));
  must(set_condition(node("n1"), "board_swap", Truth::yes, "serial is NEW"));
  must(confirm_board(node("n1")));
  EXPECT_EQ(registry_.find(node("n1"))->spec.serial, "NEW");
  EXPECT_TRUE(registry_.find(node("n1"))->status.conditions.empty());
}

TEST_F(Ops, scopes_and_classes_are_closed_lists) {
  EXPECT_FALSE(run(set_authority("planet:earth", "*", AuthorityLevel::act)));
  EXPECT_FALSE(run(set_authority("site:s", "explode", AuthorityLevel::act)));
  EXPECT_FALSE(run(set_hold("*", "", {})));
  must(set_hold("rack:r01", "power work", {}));
}

}  // namespace
}  // namespace tundish
