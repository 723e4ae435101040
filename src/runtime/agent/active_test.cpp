// Leases of active checks, and what is run for each of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/text.hpp"
#include "runtime/agent/active_run.hpp"
#include "runtime/agent/lease_box.hpp"

namespace tundish::agent {
namespace {

TEST(LeaseBox, a_run_holds_as_long_as_pulls_name_it) {
  LeaseBox box;
  box.heard({"a", "b"});
  const auto a = box.begin("a", seconds(15));
  const auto b = box.begin("b", seconds(15));
  EXPECT_EQ(a->fault(), "");
  box.heard({"b"});
  EXPECT_EQ(a->fault(), "tundishd took the lease back");
  EXPECT_EQ(b->fault(), "");
  box.heard({});
  EXPECT_NE(b->fault(), "");
}

TEST(LeaseBox, a_run_that_was_taken_back_before_it_began_is_over) {
  LeaseBox box;
  box.heard({"a"});
  box.heard({});
  EXPECT_NE(box.begin("a", seconds(15))->fault(), "");
}

TEST(LeaseBox, a_run_of_an_agent_that_died_is_not_begun_anew) {
  LeaseBox box;
  box.forfeit({"a"});
  box.heard({"a", "b"});
  EXPECT_EQ(box.begin("a", seconds(15))->fault(), "the agent was started anew while it ran");
  EXPECT_EQ(box.begin("b", seconds(15))->fault(), "");
}

TEST(LeaseBox, whoever_wants_the_node_waits_until_the_run_is_over) {
  LeaseBox box;
  box.heard({"a"});
  const auto leash = box.begin("a", seconds(60));
  std::thread run([&] {
    while (leash->fault().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    box.end("a");
  });
  EXPECT_TRUE(box.is_busy());
  box.preempt("the node is wanted: setup_node");
  EXPECT_FALSE(box.is_busy());
  EXPECT_EQ(leash->fault(), "the node is wanted: setup_node");
  run.join();
}

TEST(LeaseBox, pulls_come_three_times_in_a_lease) {
  LeaseBox box;
  EXPECT_EQ(box.pull_wait_ms(20000), 20000);
  box.heard({"a"});
  EXPECT_LE(box.pull_wait_ms(20000), 2000) << "it is to begin any moment";
  (void)box.begin("a", seconds(15));
  EXPECT_LE(box.pull_wait_ms(20000), 5000);
  box.end("a");
  box.heard({});
  EXPECT_EQ(box.pull_wait_ms(20000), 20000);
}

CheckSample two_gpus() {
  CheckSample sample;
  sample.gpus.emplace();
  for (int i = 0; i < 2; ++i) {
    GpuReading gpu;
    gpu.index = i;
    gpu.pci = "0000:" + std::to_string(i) + "b:00";
    gpu.memory_mib = 81559;
    sample.gpus->gpus.push_back(gpu);
  }
  sample.hcas = std::vector<HcaPort>{{"mlx5_0", "1", "4: ACTIVE", "5: LinkUp"},
                                     {"mlx5_1", "1", "1: DOWN", "3: Disabled"}};
  return sample;
}

TEST(ActiveTools, every_check_has_its_commands) {
  const CheckSample sample = two_gpus();
  for (const auto& check : active_checks()) {
    if (check == "nccl_pair") continue;  // of two nodes, below
    const auto steps = plan_active(check, sample, {});
    ASSERT_TRUE(steps) << check << ": " << steps.error().message();
    ASSERT_FALSE(steps->empty()) << check;
    for (const auto& step : *steps) {
      EXPECT_EQ(step.head.check, check);
      EXPECT_FALSE(step.head.tool.empty() || step.head.package.empty()) << check;
      EXPECT_GT(step.command.limit.us, 0) << check;
      EXPECT_FALSE(step.command.argv.empty()) << check;
    }
  }
  EXPECT_FALSE(plan_active("rm -rf", sample, {}));
  EXPECT_EQ(plan_active("gpu_work", sample, {})->size(), 2U) << "one GPU after the other";
  EXPECT_EQ(plan_active("ib_write_bw", sample, {})->size(), 1U) << "ports that are active";
}

TEST(ActiveTools, where_there_is_nothing_to_run_on_it_says_why) {
  CheckSample none;
  none.gpus_fault = "no driver";
  none.hcas_fault = "no sysfs";
  const auto work = plan_active("gpu_work", none, {});
  ASSERT_FALSE(work);
  EXPECT_NE(work.error().what.find("no driver"), std::string::npos);
  EXPECT_FALSE(plan_active("ib_write_bw", none, {}));
  EXPECT_FALSE(plan_active("nccl_pair", two_gpus(), {})) << "it needs a second node";
}

TEST(ActiveTools, a_floor_of_ours_goes_to_dcgm) {
  CheckSample sample = two_gpus();
  Limit limit;
  limit.check = "dcgm_diag";
  limit.name = "hbm";
  limit.value = 3300000;
  sample.limits = {limit};
  const auto steps = plan_active("dcgm_diag", sample, {});
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->at(0).head.command,
            "dcgmi diag -r 3 -j -p memory_bandwidth.minimum_bandwidth=3300000");
}

TEST(ActiveTools, an_all_reduce_fits_the_memory) {
  CheckSample sample = two_gpus();
  EXPECT_NE(plan_active("nccl_local", sample, {})->at(0).head.command.find("-e 16384M -g 2"),
            std::string::npos);
  sample.gpus->gpus[1].memory_mib = 40960;
  EXPECT_NE(plan_active("nccl_local", sample, {})->at(0).head.command.find("-e 8192M"),
            std::string::npos);
}

TEST(ActiveTools, sides_of_a_pair_differ) {
  CheckSample sample = two_gpus();
  sample.pair = {PairRole::client, "gpu2", "10.0.0.2"};
  const auto client = plan_active("ib_write_bw", sample, {});
  EXPECT_TRUE(client->at(0).head.command.ends_with(" 10.0.0.2"));
  EXPECT_FALSE(client->at(0).server);
  sample.pair.role = PairRole::server;
  const auto server = plan_active("ib_write_bw", sample, {});
  EXPECT_EQ(server->at(0).head.command.find("10.0.0.2"), std::string::npos);
  sample.pair = {};
  const auto loop = plan_active("ib_write_bw", sample, {});
  EXPECT_TRUE(loop->at(0).server);
  EXPECT_TRUE(loop->at(0).head.command.ends_with(" 127.0.0.1"));
}

/// One all-reduce over both nodes: the same program with the same arguments, and its place in it.
TEST(ActiveTools, an_all_reduce_of_two_nodes_has_a_rank_on_each) {
  CheckSample sample = two_gpus();
  AgentConfig config;
  config.oob_interface = "oob0";
  sample.pair = {PairRole::client, "gpu2", "10.0.0.2"};
  const auto client = plan_active("nccl_pair", sample, config);
  ASSERT_TRUE(client);
  sample.pair = {PairRole::server, "gpu1", "10.0.0.1"};
  const auto server = plan_active("nccl_pair", sample, config);
  ASSERT_TRUE(server);
  EXPECT_EQ(client->at(0).head.command,
            "all_reduce_perf -b 16384M -e 16384M -g 2 -w 5 -n 20 -c 1");
  EXPECT_EQ(client->at(0).head.command, server->at(0).head.command);
  using Env = std::vector<std::string>;
  EXPECT_EQ(client->at(0).command.env,
            (Env{"PMI_PORT=127.0.0.1:18700", "PMI_ID=0", "NCCL_SOCKET_IFNAME=oob0"}));
  EXPECT_EQ(server->at(0).command.env,
            (Env{"PMI_PORT=10.0.0.1:18700", "PMI_ID=1", "NCCL_SOCKET_IFNAME=oob0"}));
  ASSERT_TRUE(client->at(0).server);
  EXPECT_EQ(client->at(0).server->argv,
            (Env{config.probe_program, "--probe", "pair", "18700,10.0.0.2"}));
  EXPECT_FALSE(server->at(0).server);
}

TEST(ActiveRun, what_became_of_a_program_is_told_as_that) {
  const process::Leash leash(seconds(30));
  const auto run = [&](std::vector<std::string> argv, Duration limit) {
    ToolStep step;
    step.head.check = step.head.tool = argv[0];
    step.command.argv = std::move(argv);
    step.command.limit = limit;
    return run_step(step, leash);
  };
  EXPECT_EQ(run({"no-such-tool"}, seconds(5)).end, ToolEnd::missing);
  EXPECT_EQ(run({"sleep", "60"}, milliseconds(200)).end, ToolEnd::timed_out);
  const auto failed = run({"/bin/sh", "-c", "echo half; exit 7"}, seconds(5));
  EXPECT_EQ(failed.end, ToolEnd::done);
  EXPECT_EQ(failed.exit_code, 7);
  EXPECT_EQ(failed.out, "half\n");
}

TEST(ActiveRun, why_what_ran_beside_it_ended_is_told_with_its_own_failure) {
  const process::Leash leash(seconds(30));
  ToolStep step;
  step.head.check = step.head.tool = "nccl_pair";
  step.command.argv = {"/bin/sh", "-c", "sleep 0.3; echo aborted >&2; exit 15"};
  step.command.limit = seconds(5);
  step.server.emplace();
  step.server->argv = {"/bin/sh", "-c",
                       "echo pid 1; echo error timeout rank 1 did not come; exit 1"};
  step.server->limit = seconds(5);
  EXPECT_EQ(run_step(step, leash).err, "rank 1 did not come; aborted\n");
  step.server->argv = {"sleep", "60"};
  EXPECT_EQ(run_step(step, leash).err, "aborted\n") << "it was ended by us";
}

TEST(ActiveRun, when_the_lease_ends_nothing_more_is_begun) {
  process::Leash leash(seconds(30));
  leash.pull("the node is wanted");
  CheckSample sample = two_gpus();
  run_active({"nvbandwidth", "gpu_burn"}, {}, leash, sample);
  ASSERT_EQ(sample.active->size(), 2U);
  for (const auto& ran : *sample.active) {
    EXPECT_EQ(ran.end, ToolEnd::preempted);
    EXPECT_EQ(ran.err, "the node is wanted");
  }
}

}  // namespace
}  // namespace tundish::agent
