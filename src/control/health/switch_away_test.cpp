// A switch that Tundish cannot reach, and what it takes away: also from nodes that are not on it.
#include <algorithm>

#include "control/health/health_site_for_test.hpp"

namespace tundish::control::health {
namespace {

using V = VerdictState;

/// n1 .. n3 on leaf1 and n4 .. n6 on leaf2, all of one cluster; its storage is cabled to leaf1.
class SwitchAway : public HealthSite {
 protected:
  void SetUp() override {
    HealthSite::SetUp();
    Txn txn(reg_, now_, "test");
    Fabric fabric;
    fabric.id = Id<Fabric>("fabric-1");
    fabric.meta.name = "access";
    fabric.spec.storage_url = "ssh://root@10.88.5.1";
    fabric.spec.storage_mount_address = "10.200.0.10";
    fabric.spec.storage_ports = {{"leaf1", "swp17", "10.200.0.1/24"}};
    txn.put(fabric);
    Network network;
    network.id = Id<Network>("network-1");
    network.meta.name = "train";
    network.meta.tenant = allocation().meta.tenant;
    network.status.fabric = "access";
    txn.put(network);
    Allocation held = allocation();
    held.status.network = network.id;
    for (int i = 4; i <= nodes; ++i) {
      Node moved = at(i);
      moved.spec.ports.at(0).switch_name = "leaf2";
      if (moved.status.allocation.empty()) {
        AllocationNode member = held.status.nodes.at(0);
        member.node = moved.id;
        held.status.nodes.push_back(member);
        moved.status.allocation = held.id;
        moved.status.phase = at(1).status.phase;
      }
      txn.put(moved);
    }
    txn.put(held);
    answers("leaf1");
    answers("leaf2");
  }
  void answers(const std::string& name) { seen_.switches[name] = {{}, now_, "", {}}; }
  void goes_away(const std::string& name) {
    seen_.switches[name].fault = "no route to host";
    seen_.switches[name].fault_since = now_;
  }
  void hang(int from, int to) {
    for (int i = from; i <= to; ++i) hangs(i);
  }
  /// As the manager, which asks every switch that answers.
  Outcome go_on(Duration time) {
    now_ = now_ + time;
    for (auto& [name, known] : seen_.switches) {
      if (known.fault.empty()) known.at = now_;
    }
    return pass({});
  }
  void expect_one(const std::string& subject, const std::string& rule) {
    ASSERT_EQ(reg_.all<Incident>().size(), 1u);
    ASSERT_EQ(count_open(), 1);
    EXPECT_EQ(open()->subject, subject);
    EXPECT_EQ(open()->blamed->rule, rule);
    EXPECT_EQ(claims(), 0);
  }
  bool clears(const std::string& object, const std::string& why) {
    const auto& all = open()->blamed->cleared;
    return std::any_of(all.begin(), all.end(), [&](const auto& one) {
      return one.object.find(object) != std::string::npos &&
             one.why.find(why) != std::string::npos;
    });
  }
};

// In a lab: the nodes of the other leaf looked first, and their leaf was blamed.
TEST_F(SwitchAway, nodes_of_another_leaf_whose_storage_is_cabled_to_it_accuse_it) {
  go_on(seconds(20));
  goes_away("leaf1");
  go_on(seconds(7));
  hang(4, 6);
  look();
  expect_one("leaf1", "own_word");
  EXPECT_EQ(open()->affected.size(), 3u);
  EXPECT_FALSE(clears("storage", "show nothing")) << "nobody has looked since";
  go_on(seconds(29));
  hang(1, 3);
  go_on(seconds(1));
  for (int i = 0; i < 12; ++i) go_on(seconds(10));
  expect_one("leaf1", "own_word");
  EXPECT_EQ(open()->affected.size(), 6u);
}

// As in a lab: a route target was taken out by hand, and two sound nodes were swapped for it.
TEST_F(SwitchAway, a_network_that_somebody_changed_on_the_leaf_costs_no_node) {
  const auto sync_is = [&](SyncState state) {
    Txn txn(reg_, now_, "test");
    Network network = *reg_.find(Id<Network>("network-1"));
    NetworkSync sync;
    sync.object = "leaf2";
    sync.state = state;
    network.status.sync = {sync};
    txn.put(network);
    // As the manager at every look.
    if (state == SyncState::drifted) seen_.port_changed[{"leaf2", "network-1"}] = now_;
  };
  go_on(seconds(20));
  hang(5, 6);
  for (int i = 0; i < 30; ++i) {
    sync_is(SyncState::drifted);
    go_on(seconds(10));
  }
  EXPECT_EQ(count_open(), 0);
  EXPECT_EQ(claims(), 0);
  sync_is(SyncState::synced);
  for (int i = 0; i < 7; ++i) go_on(seconds(10));
  EXPECT_EQ(claims(), 0) << "they have not looked since";
  for (int i = 0; i < 12; ++i) go_on(seconds(10));
  EXPECT_GT(claims() + count_open(), 0) << "it still hangs, and the network is as it is to be";
}

TEST_F(SwitchAway, nobody_is_told_before_the_switches_were_asked) {
  now_ = now_ + seconds(5);
  hang(4, 6);
  const Outcome waits = look();
  EXPECT_EQ(count_open(), 0);
  EXPECT_NE(find_condition(at(4), symptom_condition), nullptr);
  EXPECT_LE(waits.wake_at, now_ + seconds(3));
  hang(1, 3);
  look();
  EXPECT_EQ(count_open(), 0) << "it may be the storage, or the switch before it";
  pass(seconds(8));
  goes_away("leaf1");
  look();
  expect_one("leaf1", "own_word");
}

TEST_F(SwitchAway, with_switches_that_answer_it_is_the_storage) {
  now_ = now_ + seconds(5);
  hang(1, 6);
  look();
  EXPECT_EQ(count_open(), 0);
  go_on(seconds(8));
  expect_one("10.200.0.10 of access", "shared_fate");
}

TEST_F(SwitchAway, a_switch_that_says_neither_is_not_waited_for_for_ever) {
  now_ = now_ + seconds(5);
  hang(1, 6);
  for (int i = 0; i < 4; ++i) pass(seconds(9));
  expect_one("10.200.0.10 of access", "shared_fate");
}

TEST_F(SwitchAway, a_leaf_is_blamed_for_storage_when_others_were_seen_to_reach_it) {
  hang(4, 6);
  go_on(seconds(20));
  EXPECT_EQ(count_open(), 0) << "the others have not looked yet";
  for (int i = 0; i < 6; ++i) go_on(seconds(10));
  expect_one("leaf2", "shared_fate");
  EXPECT_TRUE(clears("storage", "3 other nodes on it show nothing"));
}

TEST_F(SwitchAway, others_elsewhere_that_reach_the_storage_clear_the_switch_before_it) {
  goes_away("leaf1");
  hang(4, 4);
  go_on(seconds(20));
  EXPECT_EQ(count_open(), 0) << "one of many";
  for (int i = 0; i < 6; ++i) go_on(seconds(10));
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->node, node(4)) << open()->blame;
}

TEST_F(SwitchAway, what_does_not_answer_behind_it_is_not_blamed_for_that) {
  goes_away("leaf1");
  seen_.storage["access"].fault = "no answer";
  seen_.storage["access"].fault_since = now_;
  hang(1, 6);
  look();
  expect_one("leaf1", "own_word");
}

TEST_F(SwitchAway, a_guess_of_before_ends_with_the_answer) {
  hang(1, 6);
  look();
  expect_one("10.200.0.10 of access", "shared_fate");
  go_on(seconds(5));
  goes_away("leaf1");
  look();
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject, "leaf1");
  for (const auto& [id, one] : reg_.all<Incident>()) {
    if (one.state == IncidentState::resolved) {
      EXPECT_EQ(one.timeline.back().detail, "it is switch leaf1");
    }
  }
}

class PortsOfALeaf : public HealthSite {
 protected:
  void link_down(int i, V state = V::warn) {
    says(i, "ethernet_link", Resource::link, state, Locality::symptom, "eth0");
  }
  /// The check of node `i` counted so many in all, the last one at `when`.
  void counts(int i, int total, Instant when) {
    Verdict verdict;
    verdict.check = "ethernet_link";
    verdict.state = V::warn;
    verdict.reason =
        "changes of its carrier (" + std::to_string(total) + " in all) is above 2 per_day";
    verdict.watches = Resource::link;
    verdict.device = "eth0";
    verdict.at = when;
    HealthReport report;
    report.boot_id = "boot";
    report.seq = ++seq_;
    report.verdicts = {verdict};
    must(record_verdicts(node(i), report));
  }
  void wait_long() {
    for (int i = 0; i < 40; ++i) pass(seconds(30));
  }
};

// n5 and n6 serve nobody: their ports are shut, so they show nothing in any case.
TEST_F(PortsOfALeaf, nodes_that_serve_nobody_do_not_excuse_a_switch_that_is_away) {
  seen_.switches["leaf1"] = {{}, now_, "no route to host", now_};
  for (int i = 1; i <= 4; ++i) link_down(i);
  for (int i = 0; i < 10; ++i) pass(seconds(10));
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject, "leaf1");
  EXPECT_EQ(open()->blamed->rule, "own_word");
  EXPECT_EQ(open()->blamed->confidence, 95);
}

TEST_F(PortsOfALeaf, what_links_counted_while_the_switch_was_away_is_the_switchs) {
  for (int round = 0; round < 2; ++round) {
    seen_.switches["leaf1"] = {{}, now_, "no route to host", now_};
    for (int i = 1; i <= 4; ++i) link_down(i);
    for (int i = 0; i < 3; ++i) pass(seconds(10));
    seen_.switches["leaf1"] = {{}, now_, "", {}};
    for (int i = 1; i <= 4; ++i) link_down(i, V::ok);
  }
  for (const int i : {1, 2, 4}) {  // one after the other, and one not at all
    pass(seconds(18));
    counts(i, 4, now_);
  }
  wait_long();
  EXPECT_EQ(reg_.all<Incident>().size(), 1u);
  EXPECT_EQ(count_open(), 0);
  EXPECT_EQ(find_condition(at(2), symptom_condition), nullptr);
  counts(2, 6, now_);  // and that is its own
  wait_long();
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject, "leaf1/swp2");
}

TEST_F(PortsOfALeaf, so_it_is_when_only_its_management_told_of_it) {
  {
    Txn txn(reg_, now_, "test");
    Switch leaf;
    leaf.id = Id<Switch>("switch-1");
    leaf.meta.name = "leaf1";
    leaf.status.conditions = {{"unreachable", Truth::no, "", now_}};
    txn.put(leaf);
  }
  counts(2, 4, now_ + seconds(40));
  pass(seconds(40));
  wait_long();
  EXPECT_EQ(reg_.all<Incident>().size(), 0u);
}

TEST_F(PortsOfALeaf, a_link_whose_incident_ended_needs_a_new_change_for_another) {
  counts(2, 5, now_);
  wait_long();
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject, "leaf1/swp2");
  must(end_blamed(open()->id, "somebody changed the cable"));
  wait_long();
  EXPECT_EQ(count_open(), 0);
  EXPECT_EQ(reg_.all<Incident>().size(), 1u);
  counts(2, 7, now_);
  wait_long();
  EXPECT_EQ(count_open(), 1);
  EXPECT_EQ(reg_.all<Incident>().size(), 2u);
}

TEST_F(PortsOfALeaf, what_most_of_them_counted_at_one_time_is_one_incident_of_the_leaf) {
  for (int i = 1; i <= 4; ++i) {
    counts(i, 4, now_);
    pass(seconds(15));
  }
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject, "leaf1");
  wait_long();
  EXPECT_EQ(count_open(), 0) << "what was is over";
  EXPECT_EQ(reg_.all<Incident>().size(), 1u);
}

TEST_F(PortsOfALeaf, and_none_of_each_of_them_when_nobody_watched) {
  for (int i = 1; i <= 4; ++i) counts(i, 4, now_ - minutes(10 + i / 3));
  wait_long();
  EXPECT_EQ(reg_.all<Incident>().size(), 0u);
}

TEST_F(PortsOfALeaf, links_that_counted_at_other_times_are_each_their_own) {
  counts(1, 4, now_ - minutes(30));
  counts(2, 4, now_ - minutes(20));
  counts(3, 4, now_ - minutes(10));
  wait_long();
  EXPECT_EQ(count_open(), 3);
}

TEST_F(PortsOfALeaf, what_was_counted_when_we_moved_the_port_stays_ours) {
  seen_.port_changed[{"leaf1", "swp2"}] = now_;
  counts(2, 4, now_ + seconds(30));
  pass(seconds(30));
  wait_long();
  EXPECT_EQ(reg_.all<Incident>().size(), 0u);
}

}  // namespace
}  // namespace tundish::control::health
