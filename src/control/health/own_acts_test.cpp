// What Tundish does to ports and exports itself is nobody's fault, and nobody is called for it.
#include "control/health/health_site_for_test.hpp"

namespace tundish::control::health {
namespace {

using V = VerdictState;

class OwnActs : public HealthSite {
 protected:
  void port_is_down(int i) {
    says(i, "ethernet_link", Resource::link, V::warn, Locality::symptom, "eth0");
  }
  /// As the manager notes it.
  void see_port(int i, const std::string& segment) {
    const std::pair key(std::string("leaf1"), "swp" + std::to_string(i));
    PortObserved& known = seen_.ports[key];
    if (known.at.is_set() && known.segment != segment) seen_.port_changed[key] = now_;
    known.switch_name = key.first;
    known.port = key.second;
    known.segment = segment;
    known.at = now_;
  }
  void link_fails(int i) {
    says(i, "ethernet_link", Resource::link, V::fail, Locality::symptom, "eth0");
  }
  AllocationNode& member(Allocation& held, int i) {
    for (auto& one : held.status.nodes) {
      if (one.node == node(i)) return one;
    }
    ADD_FAILURE() << "n" << i << " is no member";
    return held.status.nodes.front();
  }
  void store(const Allocation& held) {
    Txn txn(reg_, now_, "test");
    txn.put(held);
  }
};

TEST_F(OwnActs, a_port_that_we_open_late_is_not_down_by_itself) {
  see_port(1, "");
  port_is_down(1);
  pass(minutes(3));
  EXPECT_EQ(count_open(), 0) << "we hold it in quarantine";
  see_port(1, "seg10001");
  look();
  pass(seconds(5));
  EXPECT_EQ(count_open(), 0) << "the node has not looked since";
  pass(seconds(50));
  EXPECT_EQ(count_open(), 0);
  says(1, "ethernet_link", Resource::link, V::ok, Locality::symptom, "eth0");
  pass(minutes(3));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(OwnActs, one_that_stays_down_after_we_opened_it_is_told) {
  see_port(1, "");
  port_is_down(1);
  pass(minutes(3));
  see_port(1, "seg10001");
  const Outcome waits = look();
  ASSERT_TRUE(waits.wake_at.is_set()) << "nothing else would wake it";
  EXPECT_LE(waits.wake_at, now_ + seconds(75));
  pass(seconds(80));
  pass(seconds(80));
  EXPECT_EQ(count_open(), 1);
}

TEST_F(OwnActs, while_an_act_on_the_port_runs_its_link_says_nothing) {
  see_port(1, "");
  port_is_down(1);
  pass(minutes(3));
  // The manager forgets the port when an act begins.
  seen_.ports.erase({"leaf1", "swp1"});
  seen_.port_changed[{"leaf1", "swp1"}] = now_;
  pass(seconds(20));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(OwnActs, nodes_whose_ports_we_hold_down_do_not_clear_the_leaf) {
  for (int i = 3; i <= nodes; ++i) see_port(i, "");
  for (const int i : {1, 2}) link_fails(i);
  for (int i = 0; i < 4; ++i) pass(minutes(1));
  EXPECT_EQ(claims(), 0) << "all that could show it do";
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject, "leaf1");
  EXPECT_EQ(open()->blamed->rule, "shared_fate");
}

// As in a simulation: spares came in during an outage, and the nodes left over paid for it.
TEST_F(OwnActs, a_leaf_is_not_back_because_we_moved_ports_of_it) {
  for (int i = 1; i <= nodes; ++i) see_port(i, "seg10001");
  for (int i = 1; i <= nodes; ++i) link_fails(i);
  pass(seconds(10));
  ASSERT_EQ(count_open(), 1);
  for (int i = 3; i <= nodes; ++i) see_port(i, "seg10002");
  for (int i = 0; i < 20; ++i) pass(seconds(10));
  EXPECT_EQ(claims(), 0);
  EXPECT_EQ(reg_.all<Incident>().size(), 1u);
  EXPECT_EQ(open()->blamed->part, Resource::leaf);
}

TEST_F(OwnActs, nor_because_we_moved_all_of_them_and_it_ends_when_they_have_looked) {
  for (int i = 1; i <= nodes; ++i) see_port(i, "seg10001");
  for (int i = 1; i <= nodes; ++i) link_fails(i);
  pass(seconds(10));
  for (int i = 1; i <= nodes; ++i) see_port(i, "seg10002");
  for (int i = 0; i < 4; ++i) pass(seconds(10));
  ASSERT_EQ(count_open(), 1) << "nobody has looked since";
  for (int i = 1; i <= nodes; ++i) {
    says(i, "ethernet_link", Resource::link, V::ok, Locality::symptom, "eth0");
  }
  const Outcome waits = look();
  ASSERT_TRUE(waits.wake_at.is_set()) << "nothing else would wake it";
  for (int i = 0; i < 8; ++i) pass(seconds(10));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(OwnActs, a_peer_whose_port_we_moved_clears_the_leaf_once_it_has_looked) {
  for (int i = 1; i <= nodes; ++i) see_port(i, "seg10001");
  for (int i = 2; i <= nodes; ++i) see_port(i, "seg10002");
  link_fails(1);
  for (int i = 0; i < 7; ++i) pass(seconds(10));
  EXPECT_EQ(claims(), 0);
  const Outcome waits = look();
  ASSERT_TRUE(waits.wake_at.is_set());
  EXPECT_LE(waits.wake_at, now_ + seconds(5));
  pass(seconds(6));
  ASSERT_EQ(claims(), 1);
  EXPECT_EQ(open()->node, node(1));
}

TEST_F(OwnActs, a_link_that_nobody_touched_is_told_as_before) {
  see_port(1, "seg10001");
  pass(minutes(3));
  port_is_down(1);
  pass(seconds(80));
  pass(seconds(80));
  EXPECT_EQ(count_open(), 1);
}

// Seen in drills: after a reboot of ours the port was down for a moment, and a person was paged.
TEST_F(OwnActs, a_port_that_our_reboot_took_down_is_nobodys_fault) {
  KernelEvent event;
  event.kind = KernelEventKind::fallen_off_bus;
  event.device = "0000:3b:00";
  writes(5, event);  // n5 is no tenant's
  ASSERT_TRUE(open());
  const IncidentId repair = open()->id;
  says(5, "ib_port", Resource::link, V::fail, Locality::symptom, "mlx5_0");
  pass(minutes(2));
  EXPECT_EQ(count_open(), 1) << "it is being repaired";
  must(enter_policy_state(repair, "", "wipe", "wipe", "", TimeOwner::provider));
  must(return_node(repair));
  pass(seconds(20));
  EXPECT_EQ(count_open(), 0) << "the node has not looked since";
  const Outcome waits = look();
  ASSERT_TRUE(waits.wake_at.is_set()) << "one that stays down is found";
  pass(seconds(80));
  pass(seconds(10));
  EXPECT_EQ(count_open(), 1);
}

TEST_F(OwnActs, a_deleted_clusters_nodes_are_no_clients_any_more) {
  must(begin_delete_cluster(allocation().cluster));
  pass(seconds(1));
  hangs(1);
  hangs(2);
  hangs(3);
  pass(seconds(10));
  EXPECT_EQ(count_open(), 0) << "we take their mounts away";
  Allocation held = allocation();
  for (int i = 1; i <= 4; ++i) member(held, i).joined = false;
  store(held);
  pass(seconds(10));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(OwnActs, a_storage_that_hung_before_the_order_is_told_still) {
  for (int i = 1; i <= 4; ++i) hangs(i);
  pass(seconds(1));
  must(begin_delete_cluster(allocation().cluster));
  pass(seconds(5));
  EXPECT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject_kind, SubjectKind::storage);
}

TEST_F(OwnActs, a_node_that_leaves_is_no_client_from_then_on) {
  pass(seconds(1));
  must(mark_leaving(allocation().id, node(1), {}));
  must(mark_leaving(allocation().id, node(2), {}));
  pass(seconds(1));
  hangs(1);
  hangs(2);
  pass(seconds(90));
  pass(seconds(90));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(OwnActs, a_daemon_that_we_end_with_its_cluster_is_nobodys_fault) {
  must(begin_delete_cluster(allocation().cluster));
  pass(seconds(1));
  says(1, "services", Resource::service, V::fail, Locality::symptom, "slurmd");
  pass(seconds(90));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(OwnActs, a_daemon_that_nobody_ended_is_told) {
  says(1, "services", Resource::service, V::fail, Locality::symptom, "slurmd");
  pass(seconds(90));
  EXPECT_EQ(count_open(), 1);
}

}  // namespace
}  // namespace tundish::control::health
