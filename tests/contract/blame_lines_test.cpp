// The six stories of blame on recorded lines: text of kernels and drivers as it was written, the
// shipped catalogue, the shipped parser. On real kernels: tests/lab/blame_*.sh.
#include <fstream>
#include <sstream>

#include "codec/kernel_log/event.hpp"
#include "control/health/carriers.hpp"
#include "control/health/health_site_for_test.hpp"
#include "families/checks/check.hpp"
#include "sim/catalogues.hpp"

namespace tundish::control::health {
namespace {

class BlameLines : public HealthSite {
 protected:
  void SetUp() override {
    auto xids = sim::load_xids(std::string(TUNDISH_SOURCE_DIR) + "/catalog");
    ASSERT_TRUE(xids) << xids.error().message();
    catalogue_ = std::move(*xids);
    HealthSite::SetUp();
  }
  void line(int i, const std::string& text, Provenance provenance = Provenance::kernel) {
    const auto event = parse_kernel_text(text);
    ASSERT_TRUE(event) << text;
    writes(i, *event, provenance);
  }
  void share_domain() {
    for (int i = 1; i <= nodes; ++i) {
      Txn txn(reg_, now_, "test");
      Node node = at(i);
      node.spec.nvlink_domain = "nvl1";
      txn.put(node);
    }
  }
  void run_job() {
    seen_.jobs[reg_.all<Cluster>().begin()->first]["17"] = {{node(1), node(2), node(3), node(4)},
                                                            now_};
  }
  const Blame& blamed() { return *open()->blamed; }
};

using V = VerdictState;

TEST_F(BlameLines, a_cpu_that_is_stuck_explains_storage_that_is_late) {
  line(2, "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [kworker/u8:2:412]");
  hangs(2);
  pass(seconds(6));
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(blamed().part, Resource::cpu);
  EXPECT_EQ(blamed().object, "n2");
  EXPECT_EQ(claims(), 0);
}

TEST_F(BlameLines, b_a_server_that_its_clients_miss_is_the_server_until_it_is_back) {
  for (int i = 1; i <= 4; ++i) {
    line(i, "nfs: server 10.0.0.5 not responding, still trying");
    now_ = now_ + seconds(3);
  }
  look();
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->subject_kind, SubjectKind::storage);
  EXPECT_EQ(open()->affected.size(), 4u);
  EXPECT_EQ(claims(), 0);
  for (int i = 1; i <= 4; ++i) line(i, "nfs: server 10.0.0.5 OK");
  look();
  pass(seconds(31));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(BlameLines, c_a_port_that_flaps_is_named_by_its_cable) {
  line(3, "mlx5_core 0000:5e:00.0 eth0: Link down");
  says(3, "ethernet_link", Resource::link, V::warn);
  pass(seconds(80));
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->subject_kind, SubjectKind::network_switch);
  EXPECT_EQ(open()->subject, "leaf1/swp3");
  EXPECT_EQ(claims(), 0) << "a warning costs no node";
}

TEST_F(BlameLines, c_the_check_says_in_blames_words_that_it_counts) {
  CheckSample sample;
  sample.expect.nic_macs = {"02:00:00:00:00:0a"};
  sample.expect.services = {"slurmd"};
  sample.nets = std::vector<NetReading>{{"eth0", "02:00:00:00:00:0a", "up", 25000}};
  CounterReading counter;
  counter.group = "net";
  counter.device = "eth0";
  counter.name = "carrier_changes";
  counter.grown = 3;
  sample.counters = std::vector<CounterReading>{counter};
  Limit limit;
  limit.check = "ethernet_link";
  limit.name = "carrier_changes";
  limit.value = 2;
  limit.verdict = VerdictState::warn;
  sample.limits = {limit};
  const auto verdicts = checks::judge_all(sample, {"ethernet_link"});
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_TRUE(verdicts[0].reason.starts_with(carrier_words)) << verdicts[0].reason;
  sample.nets->at(0).operstate = "down";
  EXPECT_FALSE(checks::judge_all(sample, {"ethernet_link"})[0].reason.starts_with(carrier_words));
}

TEST_F(BlameLines, c_all_ports_of_a_leaf_are_the_leaf) {
  for (int i = 1; i <= nodes; ++i) line(i, "mlx5_core 0000:5e:00.0 eth0: Link down");
  look();
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->subject, "leaf1");
  EXPECT_EQ(blamed().part, Resource::leaf);
  EXPECT_EQ(claims(), 0);
}

TEST_F(BlameLines, d_what_an_adapter_counts_after_a_gpu_fell_off_the_bus_is_the_gpus) {
  line(2, "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.");
  now_ = now_ + seconds(4);
  says(2, "ib_counters", Resource::link, V::fail);
  pass(seconds(6));
  EXPECT_EQ(count_open(), 1);
  EXPECT_EQ(blamed().part, Resource::gpu);
  EXPECT_EQ(claims(), 1);
}

TEST_F(BlameLines, e_link_faults_of_three_trays_are_their_domain) {
  share_domain();
  for (const int i : {1, 3, 6}) {
    line(i,
         "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 "
         "(0x004505c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)");
  }
  look();
  pass(seconds(10));
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject_kind, SubjectKind::domain);
  EXPECT_EQ(claims(), 0);
}

TEST_F(BlameLines, e_a_recovery_action_that_means_the_domain_is_the_domains) {
  share_domain();
  line(2,
       "NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x5 "
       "(Recover IMEX Domain)");
  look();
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->subject_kind, SubjectKind::domain);
}

TEST_F(BlameLines, e_a_fault_of_a_switch_tray_is_the_domains) {
  share_domain();
  line(2, "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 32 LTSSM Fault Up");
  look();
  pass(seconds(6));
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->subject_kind, SubjectKind::domain);
  EXPECT_EQ(blamed().rule, "own_word");
  EXPECT_EQ(claims(), 0) << "the tray that saw it is not broken";
}

TEST_F(BlameLines, e_what_a_switch_corrected_by_itself_is_nobodys) {
  share_domain();
  line(2, "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12021, Non-fatal, Link 32 egress ECC limit");
  line(3,
       "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted "
       "PRIV error (First)");
  pass(seconds(10));
  EXPECT_EQ(count_open(), 0);
}

TEST_F(BlameLines, e_a_domain_of_one_node_is_that_node) {
  Txn txn(reg_, now_, "test");
  Node alone = at(2);
  alone.spec.nvlink_domain = "n2";
  txn.put(alone);
  line(2, "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 32 LTSSM Fault Up");
  pass(seconds(10));
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->node, node(2));
}

TEST_F(BlameLines, e_a_link_fault_of_one_tray_is_that_tray) {
  share_domain();
  line(5,
       "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 "
       "(0x004505c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)");
  look();
  EXPECT_EQ(claims(), 0) << "its peers are waited for";
  pass(seconds(6));
  ASSERT_EQ(claims(), 1);
  EXPECT_EQ(open()->node, node(5));
}

TEST_F(BlameLines, e_more_than_two_trays_out_are_the_rack) {
  share_domain();
  const auto lose = [&](int i) {
    line(i, "NVRM: Xid (PCI:0009:01:00): 79, pid=1234, name=python, GPU has fallen off the bus.");
    pass(seconds(1));
  };
  const auto rack = [&] {
    const Blame blame{Resource::nvswitch, SubjectKind::rack, "r1", 0, "", {}, {}, {}};
    return find_blamed(reg_, blame) != nullptr;
  };
  lose(1);
  lose(4);
  EXPECT_EQ(claims(), 2);
  EXPECT_FALSE(rack());
  lose(6);
  EXPECT_EQ(claims(), 3);
  EXPECT_TRUE(rack());
}

TEST_F(BlameLines, f_a_storm_of_one_job_is_the_jobs) {
  run_job();
  for (int i = 1; i <= 4; ++i) {
    line(i, "NVRM: Xid (PCI:0000:3b:00): 45, pid=9, name=b: 79, x, Ch 00000002");
    now_ = now_ + milliseconds(300);
  }
  look();
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->subject_kind, SubjectKind::job);
  EXPECT_EQ(open()->subject, "17 of train");
  EXPECT_EQ(claims(), 0);
}

// Shape 19 and lines from user space: a name that reads like a fault is none.
TEST_F(BlameLines, f_a_storm_that_a_tenant_writes_is_nobodys) {
  run_job();
  for (int i = 1; i <= 4; ++i) {
    line(i, "NVRM: Xid (PCI:0000:3b:00): 45, pid=9, name=b: 79, x, Ch 00000002",
         Provenance::userspace);
  }
  pass(seconds(10));
  EXPECT_EQ(count_open(), 0);
}

}  // namespace
}  // namespace tundish::control::health
