// From what agents tell to incidents, claims and their end, on a registry.
#include "control/health/health_site_for_test.hpp"

namespace tundish::control::health {
namespace {

XidCatalogue small_catalogue() {
  XidCatalogue out;
  const auto add = [&out](int code, FaultAction action, bool lost, bool decoy) {
    XidEntry entry;
    entry.code = code;
    entry.name = "test";
    entry.action = action;
    entry.device_lost = lost;
    entry.decoy = decoy;
    out.xid.entries.push_back(entry);
  };
  add(45, FaultAction::none, false, true);
  add(79, FaultAction::reboot, true, false);
  add(95, FaultAction::reset, true, false);
  add(149, FaultAction::fabric, false, false);
  return out;
}

class Health : public HealthSite {
 protected:
  void SetUp() override {
    catalogue_ = small_catalogue();
    HealthSite::SetUp();
  }
  void writes(int i, int xid, Provenance provenance = Provenance::kernel) {
    KernelEvent event;
    event.kind = KernelEventKind::xid;
    event.code = xid;
    event.device = "0000:3b:00";
    HealthSite::writes(i, std::move(event), provenance);
  }
};

using V = VerdictState;

TEST_F(Health, storage_that_hangs_all_its_clients_is_one_incident_and_no_claim) {
  for (int i = 1; i <= 4; ++i) hangs(i);
  look();
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject_kind, SubjectKind::storage);
  EXPECT_EQ(open()->subject, "shared-storage");
  EXPECT_EQ(open()->blamed->part, Resource::storage_server);
  EXPECT_EQ(open()->affected.size(), 4u);
  EXPECT_EQ(open()->allocations, std::vector<AllocationId>{allocation().id});
  pass(minutes(10));
  EXPECT_EQ(claims(), 0);
  EXPECT_EQ(count_open(), 1);
}

TEST_F(Health, it_ends_when_nothing_of_it_is_seen_any_more) {
  for (int i = 1; i <= 4; ++i) hangs(i);
  look();
  for (int i = 1; i <= 4; ++i) says(i, "storage_mount", Resource::storage_client, V::ok);
  look();
  EXPECT_EQ(count_open(), 1) << "it may come back";
  pass(seconds(31));
  EXPECT_EQ(count_open(), 0);
  EXPECT_EQ(reg_.all<Incident>().begin()->second.state, IncidentState::resolved);
}

TEST_F(Health, the_last_client_to_recover_is_not_broken_for_that) {
  for (int i = 1; i <= 4; ++i) hangs(i);
  pass(minutes(5));
  for (int i = 1; i <= 3; ++i) says(i, "storage_mount", Resource::storage_client, V::ok);
  look();
  for (int i = 0; i < 7; ++i) pass(seconds(10));
  EXPECT_EQ(claims(), 0);
  pass(seconds(10));
  EXPECT_EQ(claims(), 1) << "but it does not recover at all";
}

TEST_F(Health, one_that_comes_and_goes_stays_one_incident) {
  for (int round = 0; round < 20; ++round) {
    for (int i = 1; i <= 4; ++i) hangs(i);
    pass(seconds(5));
    for (int i = 1; i <= 4; ++i) says(i, "storage_mount", Resource::storage_client, V::ok);
    pass(seconds(5));
  }
  EXPECT_EQ(reg_.all<Incident>().size(), 1u);
  EXPECT_LE(open()->timeline.size(), 60u);
}

TEST_F(Health, a_client_alone_waits_and_is_claimed_when_its_peers_are_seen_to_be_fine) {
  hangs(2);
  const Outcome first = look();
  EXPECT_EQ(claims(), 0);
  ASSERT_NE(find_condition(at(2), symptom_condition), nullptr);
  EXPECT_EQ(first.wake_at, now_ + seconds(5));
  pass(seconds(6));
  EXPECT_EQ(claims(), 0) << "after 5 s the better guess is the server, which claims nobody";
  pass(seconds(70));
  ASSERT_EQ(claims(), 1);
  EXPECT_EQ(open()->node, node(2));
  EXPECT_EQ(open()->blamed->rule, "alone");
  EXPECT_EQ(open()->action, "reboot");
}

TEST_F(Health, blame_moves_from_a_node_to_storage_when_the_others_follow) {
  hangs(2);
  pass(seconds(80));
  ASSERT_EQ(claims(), 1);
  for (const int i : {1, 3, 4}) hangs(i);
  look();
  EXPECT_EQ(claims(), 0);
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject_kind, SubjectKind::storage);
}

TEST_F(Health, a_free_node_is_handed_out_to_nobody_while_it_shows_a_symptom) {
  says(6, "ib_port", Resource::link, V::fail);
  look();
  const Placeable free = placeable(view(), at(6));
  EXPECT_FALSE(free.yes);
  EXPECT_NE(free.reason.find("symptom"), std::string::npos) << free.reason;
  says(6, "ib_port", Resource::link, V::ok);
  look();
  EXPECT_EQ(find_condition(at(6), symptom_condition), nullptr);
  EXPECT_TRUE(placeable(view(), at(6)).yes);
}

// What we hold down is no fault of the leaf, whoever counts it.
TEST_F(Health, ports_in_quarantine_are_down_and_nobodys_fault) {
  for (int i = 5; i <= nodes; ++i) {
    const std::string port = "swp" + std::to_string(i);
    seen_.ports[{"leaf1", port}] = {"leaf1", port, "", false, now_};
  }
  for (int i = 5; i <= nodes; ++i) {
    says(i, "ethernet_link", Resource::link, V::warn, Locality::symptom, "eth0");
  }
  pass(minutes(3));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(Health, a_part_that_must_be_broken_itself_is_claimed_in_the_same_look) {
  says(3, "gpu_count", Resource::gpu, V::fail, Locality::device_local);
  look();
  EXPECT_EQ(claims(), 1);
  EXPECT_EQ(open()->node, node(3));
  EXPECT_TRUE(open()->hardware_witness);
}

TEST_F(Health, a_warning_claims_nobody) {
  says(3, "ecc", Resource::gpu_memory, V::warn, Locality::device_local);
  pass(minutes(5));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(Health, a_check_that_starves_costs_no_node_and_is_told_as_cpu) {
  says(2, "storage_mount", Resource::storage_client, V::unknown);
  pass(seconds(20));
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->blamed->part, Resource::cpu);
  EXPECT_EQ(open()->subject, "n2");
  EXPECT_TRUE(open()->node.empty());
  EXPECT_EQ(claims(), 0);
}

// [NVSentinel #1488]: the GPU's own incident takes the adapter's errors in.
TEST_F(Health, adapter_errors_after_a_gpu_fault_are_a_further_witness_of_its_incident) {
  writes(2, 79);
  now_ = now_ + seconds(3);
  says(2, "ib_counters", Resource::nic, V::fail);
  pass(seconds(6));
  EXPECT_EQ(count_open(), 1);
  EXPECT_EQ(open()->blamed->part, Resource::gpu);
  EXPECT_EQ(open()->blamed->rule, "came_first");
  EXPECT_EQ(claims(), 1);
}

// A check looks once a minute: what it counted may be of the time before the repair.
TEST_F(Health, adapter_errors_that_are_told_after_the_repair_cost_no_second_one) {
  writes(2, 79);
  look();
  must(close_incident(open()->id));
  now_ = now_ + seconds(3);
  says(2, "ib_counters", Resource::nic, V::fail);
  pass(seconds(6));
  EXPECT_EQ(claims(), 0);
  EXPECT_NE(find_condition(at(2), symptom_condition), nullptr) << "and nobody is given the node";
  says(2, "ib_counters", Resource::nic, V::ok);
  for (int i = 0; i < 12; ++i) pass(seconds(10));
  EXPECT_EQ(reg_.all<Incident>().size(), 1u);
}

TEST_F(Health, adapter_errors_that_go_on_after_the_repair_are_the_adapters) {
  writes(2, 79);
  look();
  must(close_incident(open()->id));
  now_ = now_ + seconds(3);
  says(2, "ib_counters", Resource::nic, V::fail);
  for (int i = 0; i < 7; ++i) pass(seconds(10));
  EXPECT_EQ(claims(), 0);
  pass(seconds(10));
  ASSERT_EQ(claims(), 1);
  EXPECT_EQ(open()->blamed->part, Resource::nic);
}

TEST_F(Health, a_symptom_beside_a_gpu_fault_is_not_what_its_incident_is_about) {
  for (int i = 1; i <= 4; ++i) hangs(i);
  writes(2, 79);
  pass(minutes(3));
  EXPECT_EQ(claims(), 1);
  for (const auto& id : reg_.incidents_on(node(2))) EXPECT_FALSE(reg_.find(id)->blamed);
}

// A member that leaves keeps its mounts until its jobs are over.
TEST_F(Health, a_node_that_leaves_is_still_a_client_of_the_storage) {
  Txn txn(reg_, now_, "test");
  Cluster cluster = reg_.all<Cluster>().begin()->second;
  cluster.status.controller_ready = true;  // and nobody says that the node is empty
  txn.put(cluster);
  Allocation held = allocation();
  for (auto& member : held.status.nodes) {
    if (member.node == node(2)) member.role = MemberRole::leaving;
  }
  txn.put(held);
  for (int i = 1; i <= 4; ++i) hangs(i);
  pass(minutes(3));
  EXPECT_EQ(claims(), 0);
  EXPECT_EQ(open()->affected.size(), 4u);
}

TEST_F(Health, a_storm_of_one_job_is_an_incident_of_the_job) {
  seen_.jobs[reg_.all<Cluster>().begin()->first]["17"] = {{node(1), node(2), node(3)}, now_};
  for (int i = 1; i <= 3; ++i) writes(i, 45);
  look();
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->subject_kind, SubjectKind::job);
  EXPECT_EQ(open()->subject, "17 of train");
  EXPECT_EQ(claims(), 0);
  pass(minutes(11));
  pass(seconds(31));
  EXPECT_EQ(count_open(), 0) << "old events say nothing of now";
}

TEST_F(Health, a_storm_that_users_write_is_believed_of_nobody) {
  seen_.jobs[reg_.all<Cluster>().begin()->first]["17"] = {{node(1), node(2), node(3)}, now_};
  for (int i = 1; i <= 3; ++i) writes(i, 45, Provenance::userspace);
  look();
  EXPECT_EQ(count_open(), 0);
}

TEST_F(Health, silence_blames_nobody) {
  for (int i = 1; i <= 4; ++i) hangs(i);
  now_ = now_ + minutes(2);  // nobody is heard any more
  look();
  EXPECT_EQ(claims(), 0);
  EXPECT_EQ(count_open(), 0);
}

// As in a lab whose out-of-band network was cut: what cut nodes off was told of them afterwards.
TEST_F(Health, a_symptom_that_was_measured_in_a_silence_waits_until_the_node_has_looked_again) {
  pass(minutes(2));
  seen_.presence[node(6)].heard_since = now_;
  says(6, "ethernet_link", Resource::link, V::fail, Locality::symptom, "oob0", seconds(30));
  const Outcome first = look();
  EXPECT_EQ(first.wake_at, now_ + seconds(75));
  pass(seconds(60));
  EXPECT_EQ(count_open(), 0);
  says(6, "ethernet_link", Resource::link, V::ok, Locality::symptom, "oob0");
  pass(minutes(2));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(Health, a_symptom_of_a_silence_that_stands_after_the_next_look_is_told) {
  pass(minutes(2));
  seen_.presence[node(6)].heard_since = now_;
  says(6, "ethernet_link", Resource::link, V::fail, Locality::symptom, "oob0", seconds(30));
  pass(seconds(60));
  EXPECT_EQ(count_open(), 0);
  pass(seconds(30));
  EXPECT_EQ(count_open(), 1);
}

TEST_F(Health, what_must_be_broken_itself_and_what_is_measured_anew_wait_for_no_look) {
  pass(minutes(2));
  for (const int i : {5, 6}) seen_.presence[node(i)].heard_since = now_;
  says(5, "gpu_count", Resource::gpu, V::fail, Locality::device_local, "", seconds(30));
  says(6, "ethernet_link", Resource::link, V::fail, Locality::symptom, "oob0");
  pass(seconds(6));
  EXPECT_EQ(count_open(), 2);
}

TEST_F(Health, what_a_person_resumed_is_not_claimed_again_for_the_same_symptom) {
  hangs(2);
  pass(seconds(80));
  ASSERT_EQ(claims(), 1);
  must(override_claims(node(2), "a person resumed it"));
  pass(minutes(5));
  EXPECT_EQ(claims(), 0);
  says(2, "storage_mount", Resource::storage_client, V::ok);
  pass(seconds(10));
  hangs(2);
  pass(seconds(80));
  EXPECT_EQ(claims(), 1) << "it went away and came back";
}

TEST_F(Health, a_person_who_closes_a_shared_incident_has_the_last_word) {
  for (int i = 1; i <= 4; ++i) hangs(i);
  look();
  must(close_incident(open()->id));
  pass(minutes(1));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(Health, nodes_in_a_life_cycle_of_their_own_are_left_to_it) {
  must(set_node_phase(node(6), NodePhase::ready, NodePhase::revalidating));
  says(6, "gpu_count", Resource::gpu, V::fail, Locality::device_local);
  look();
  EXPECT_EQ(count_open(), 0);
}

class Domain : public Health {
 protected:
  void SetUp() override {
    Health::SetUp();
    for (int i = 1; i <= nodes; ++i) {
      Txn txn(reg_, now_, "test");
      Node node = at(i);
      node.spec.nvlink_domain = "nvl1";
      txn.put(node);
    }
  }
};

TEST_F(Domain, a_link_fault_of_one_tray_waits_for_its_peers_and_then_is_the_tray) {
  writes(2, 149);
  look();
  EXPECT_EQ(claims(), 0);
  EXPECT_NE(find_condition(at(2), symptom_condition), nullptr);
  pass(seconds(6));
  ASSERT_EQ(claims(), 1);
  EXPECT_EQ(open()->node, node(2));
}

TEST_F(Domain, link_faults_of_three_trays_are_the_domain_and_claim_nobody) {
  for (const int i : {1, 2, 3}) writes(i, 149);
  look();
  pass(seconds(10));
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject_kind, SubjectKind::domain);
  EXPECT_EQ(open()->subject, "nvl1");
  EXPECT_EQ(claims(), 0);
}

TEST_F(Domain, imex_that_is_down_speaks_for_the_domain) {
  says(2, "imex", Resource::service, V::fail, Locality::device_local);
  look();
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->subject_kind, SubjectKind::domain);
  EXPECT_EQ(claims(), 0);
}

TEST_F(Domain, a_third_tray_that_is_out_is_the_rack) {
  for (const int i : {1, 2}) writes(i, 79);
  look();
  EXPECT_EQ(count_open(), 2);
  writes(3, 79);
  look();
  const Blame rack{Resource::nvswitch, SubjectKind::rack, "r1", 0, "", {}, {}, {}};
  EXPECT_NE(find_blamed(reg_, rack), nullptr);
}

/// The cluster mounts an export of the storage that its fabric declares.
class Exported : public Health {
 protected:
  void SetUp() override {
    Health::SetUp();
    Txn txn(reg_, now_, "test");
    Fabric fabric;
    fabric.id = Id<Fabric>("fabric-1");
    fabric.meta.name = "access";
    fabric.spec.storage_url = "ssh://root@10.88.5.1";
    fabric.spec.storage_mount_address = "10.200.0.10";
    txn.put(fabric);
    Network network;
    network.id = Id<Network>("network-1");
    network.meta.name = "train";
    network.meta.tenant = allocation().meta.tenant;
    network.status.fabric = "access";
    txn.put(network);
    Allocation held = allocation();
    held.status.network = network.id;
    txn.put(held);
  }
  void silence_management() {
    seen_.storage["access"].fault = "no answer";
    seen_.storage["access"].fault_since = now_;
  }
};

TEST_F(Exported, storage_is_named_by_what_the_cluster_mounts) {
  for (int i = 1; i <= 4; ++i) hangs(i);
  look();
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->subject, "10.200.0.10 of access");
  EXPECT_EQ(open()->blamed->rule, "shared_fate");
  EXPECT_EQ(claims(), 0);
}

TEST_F(Exported, its_managements_silence_counts_where_no_client_is_fine) {
  silence_management();
  for (int i = 1; i <= 4; ++i) hangs(i);
  look();
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->blamed->rule, "own_word");
}

TEST_F(Exported, its_managements_silence_excuses_no_client_among_others_that_are_fine) {
  silence_management();
  hangs(2);
  pass(seconds(80));
  ASSERT_EQ(claims(), 1);
  EXPECT_EQ(open()->node, node(2));
}

TEST_F(Exported, a_management_that_is_silent_alone_is_no_incident) {
  silence_management();
  pass(minutes(3));
  EXPECT_EQ(count_open(), 0);
}

class Liquid : public HealthSite {
 protected:
  void SetUp() override {
    HealthSite::SetUp();
    for (int i = 1; i <= nodes; ++i) {
      Txn txn(reg_, now_, "test");
      Node node = at(i);
      node.spec.nvlink_domain = "nvl1";
      txn.put(node);
    }
  }
  const Incident* of(SubjectKind kind) {
    for (const auto& [id, one] : reg_.all<Incident>()) {
      const bool open = one.state == IncidentState::open || one.state == IncidentState::rma;
      if (open && one.subject_kind == kind) return &one;
    }
    return nullptr;
  }
};

TEST_F(Liquid, a_wet_tray_is_claimed_at_once_and_its_domain_is_told) {
  leaks(2, VerdictState::fail);
  look();
  ASSERT_NE(of(SubjectKind::node), nullptr);
  EXPECT_EQ(of(SubjectKind::node)->fault, "leak");
  EXPECT_EQ(of(SubjectKind::node)->action, "power_off");
  EXPECT_TRUE(of(SubjectKind::node)->device_lost);
  EXPECT_EQ(of(SubjectKind::node)->witnesses.at(0).provenance, Provenance::bmc);
  ASSERT_NE(of(SubjectKind::domain), nullptr);
  EXPECT_EQ(of(SubjectKind::domain)->subject, "nvl1");
  EXPECT_EQ(claims(), 1);
}

TEST_F(Liquid, an_agent_that_is_silent_hides_no_leak) {
  now_ = now_ + minutes(5);
  leaks(2, VerdictState::fail);
  look();
  EXPECT_EQ(claims(), 1);
}

TEST_F(Liquid, a_warning_is_told_and_costs_no_tray) {
  leaks(2, VerdictState::warn);
  pass(minutes(2));
  EXPECT_NE(of(SubjectKind::domain), nullptr);
  EXPECT_EQ(claims(), 0);
  EXPECT_NE(find_condition(at(2), symptom_condition), nullptr) << "nobody is given it meanwhile";
}

TEST_F(Liquid, what_cannot_be_read_is_nobodys_fault_and_ends_nothing) {
  leaks(3, VerdictState::unknown);
  pass(minutes(2));
  EXPECT_EQ(count_open(), 0);
  leaks(2, VerdictState::warn);
  look();
  ASSERT_NE(of(SubjectKind::domain), nullptr);
  leaks(2, VerdictState::unknown);
  pass(minutes(2));
  EXPECT_NE(of(SubjectKind::domain), nullptr) << "nobody knows that it is dry";
  leaks(2, VerdictState::ok);
  pass(seconds(1));
  pass(seconds(31));
  EXPECT_EQ(of(SubjectKind::domain), nullptr);
}

TEST_F(Liquid, a_node_that_is_out_for_something_else_is_switched_off_as_well) {
  says(2, "gpu_count", Resource::gpu, V::fail, Locality::device_local);
  look();
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->action, "reset");
  leaks(2, VerdictState::fail);
  now_ = now_ + seconds(1);
  look();
  EXPECT_EQ(of(SubjectKind::node)->action, "power_off");
  EXPECT_EQ(of(SubjectKind::node)->last_witness_at, now_);
  EXPECT_EQ(claims(), 1);
}

// A driver that hung was seen by nobody: all that looks at GPUs was "unknown", which accuses none.
TEST_F(Health, a_gpu_driver_that_hangs_takes_the_node_out_and_is_rebooted) {
  says(5, "gpu_answers", Resource::gpu, V::fail);
  says(5, "ecc", Resource::gpu_memory, V::unknown);
  look();
  pass(seconds(6));
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->node, node(5));
  EXPECT_EQ(open()->action, "reboot") << "a driver that hangs resets nothing";
  EXPECT_TRUE(open()->device_lost);
  EXPECT_EQ(claims(), 1);
}

TEST_F(Health, a_shared_incident_says_at_its_end_how_wide_it_was) {
  for (int i = 1; i <= 4; ++i) hangs(i);
  look();
  pass(seconds(6));
  ASSERT_EQ(count_open(), 1);
  const std::string widest = open()->blame;
  for (int i = 1; i <= 2; ++i) {
    says(i, "storage_mount", Resource::storage_client, V::ok);
    pass(seconds(2));
  }
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->blame, widest) << "nodes recover one after the other";
  EXPECT_EQ(open()->affected.size(), 4U);
}

TEST(Health_names, storage_is_named_by_its_source) {
  Limits limits;
  EXPECT_EQ(storage_name_of(limits), "shared-storage");
  limits.export_source = "nas1:/vol/";
  EXPECT_EQ(storage_name_of(limits), "nas1");
  limits.export_source = "root@10.200.0.10:/exports/";
  EXPECT_EQ(storage_name_of(limits), "10.200.0.10");
}

}  // namespace
}  // namespace tundish::control::health
