// Active checks over what their programs told: good, bad, and every way to know nothing.
#include <fstream>
#include <sstream>

#include "codec/json.hpp"
#include "families/checks/sample_for_test.hpp"
#include "model/gpu_work.hpp"

namespace tundish::checks {
namespace {

std::string corpus(const std::string& name) {
  std::ifstream file(std::string(TUNDISH_SOURCE_DIR) + "/tests/fuzz/corpus/tool_output_fuzz/" +
                     name);
  EXPECT_TRUE(file) << name;
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

ToolRun ran(const std::string& check, const std::string& out, int exit_code = 0) {
  ToolRun run;
  run.check = run.tool = check;
  run.package = "a-package";
  run.end = ToolEnd::done;
  run.exit_code = exit_code;
  run.out = out;
  return run;
}

Verdicts judge(const std::string& check, CheckSample sample, std::vector<ToolRun> runs) {
  sample.active = std::move(runs);
  const Check* found = find_check(check);
  EXPECT_NE(found, nullptr) << check;
  return found ? run_check(*found, sample) : Verdicts{};
}

Verdicts judge(const std::string& check, const std::string& out, int exit_code = 0) {
  return judge(check, whole_node(), {ran(check, out, exit_code)});
}

CheckSample of_model(const std::string& model) {
  CheckSample sample = whole_node();
  const auto plates = load_nameplates(read_catalog("nameplates.yaml"), "nameplates.yaml");
  const auto limits = load_thresholds(read_catalog("thresholds.yaml"), "thresholds.yaml", *plates);
  sample.nameplate = *plates->find(model);
  sample.limits = limits_for(*limits, model, "570.124");
  return sample;
}

ToolRun worked(const std::string& pci, std::int64_t gflops, std::int64_t wrong = 0) {
  GpuWork work;
  work.pci = pci;
  work.memory_mib = 1024;
  work.matrix_gflops = gflops;
  work.matrix_sums_wrong = wrong;
  if (wrong > 0) work.processors_wrong = {7};
  work.memory_mbytes_per_s = 2'500'000;
  work.to_gpu_mbytes_per_s = work.from_gpu_mbytes_per_s = 50'000;
  ToolRun run = ran("gpu_work", render_json(work));
  run.device = pci;
  return run;
}

const std::vector<std::string> names = {"gpu_work",   "dcgm_quick",  "dcgm_diag",
                                        "nvbandwidth", "nccl_local",  "ib_write_bw",
                                        "gpu_burn",    "fio"};

TEST(Active, NoAnswerIsNeverGoodAndNeverBad) {
  for (const auto& name : names) {
    for (const ToolEnd end :
         {ToolEnd::missing, ToolEnd::failed, ToolEnd::timed_out, ToolEnd::preempted}) {
      ToolRun run = ran(name, "");
      run.end = end;
      const auto verdicts = judge(name, whole_node(), {run});
      EXPECT_EQ(worst_of(verdicts), VerdictState::unknown) << name;
    }
    for (const char* garbage : {"", "Segmentation fault", "{", "{}", "[]", "0 0 0 0 0 0"}) {
      EXPECT_EQ(worst_of(judge(name, garbage)), VerdictState::unknown) << name << garbage;
      EXPECT_EQ(worst_of(judge(name, garbage, 1)), VerdictState::unknown) << name << garbage;
    }
    EXPECT_EQ(worst_of(judge(name, whole_node(), {})), VerdictState::unknown) << name;
    CheckSample none = whole_node();
    EXPECT_EQ(worst_of(run_check(*find_check(name), none)), VerdictState::unknown) << name;
  }
}

TEST(Active, WhatIsMissingIsNamedWithItsPackage) {
  ToolRun run = ran("nvbandwidth", "");
  run.end = ToolEnd::missing;
  const auto verdicts = judge("nvbandwidth", whole_node(), {run});
  EXPECT_EQ(verdicts[0].reason, "nvbandwidth is not installed; it comes with a-package");
  run.end = ToolEnd::preempted;
  run.err = "tundishd took the lease back";
  const auto ended = judge("nvbandwidth", whole_node(), {run});
  EXPECT_EQ(ended[0].reason, "preempted: tundishd took the lease back");
}

TEST(Active, WithoutALimitForTheModelNothingIsProved) {
  for (const char* check : {"nvbandwidth", "nccl_local", "ib_write_bw"}) {
    const std::string text = corpus(check == std::string("nccl_local") ? "nccl_ok" : check);
    EXPECT_EQ(worst_of(judge(check, text)), VerdictState::ok) << check;
    const auto verdicts = judge(check, of_model("h100_pcie"), {ran(check, text)});
    EXPECT_EQ(worst_of(verdicts), VerdictState::unknown) << check;
    EXPECT_NE(verdicts[0].reason.find("for h100_pcie"), std::string::npos) << verdicts[0].reason;
  }
}

TEST(Active, GpuWorkComparesTheNodesGpus) {
  const auto good = judge("gpu_work", whole_node(),
                          {worked("0000:0b:00", 600000), worked("0000:1b:00", 590000)});
  EXPECT_EQ(worst_of(good), VerdictState::ok) << good[0].reason;
  const auto slow = judge("gpu_work", whole_node(),
                          {worked("0000:0b:00", 600000), worked("0000:1b:00", 300000)});
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].state, VerdictState::fail);
  EXPECT_EQ(slow[0].device, "0000:1b:00");
  EXPECT_NE(slow[0].reason.find("300000"), std::string::npos) << slow[0].reason;
  EXPECT_NE(slow[0].reason.find("limit 85"), std::string::npos) << slow[0].reason;
  const auto wrong = judge("gpu_work", whole_node(),
                           {worked("0000:0b:00", 600000), worked("0000:1b:00", 600000, 3)});
  EXPECT_EQ(wrong[0].state, VerdictState::fail);
  EXPECT_EQ(wrong[0].device, "0000:1b:00");
  EXPECT_NE(wrong[0].evidence.find("7"), std::string::npos);
  // One GPU has no peer: that it is right is known, that it is fast is not.
  const auto alone = judge("gpu_work", whole_node(), {worked("0000:0b:00", 600000)});
  EXPECT_EQ(worst_of(alone), VerdictState::unknown);
  const auto wrong_alone = judge("gpu_work", whole_node(), {worked("0000:0b:00", 600000, 1)});
  EXPECT_EQ(worst_of(wrong_alone), VerdictState::fail);
}

TEST(Active, AMemoryErrorUnderWorkIsTheGpusFault) {
  ToolRun run = ran("gpu_work", "");
  run.device = "0000:1b:00";
  run.end = ToolEnd::failed;
  run.err = "unavailable matrix: CUDA_ERROR_ECC_UNCORRECTABLE";
  const auto verdicts = judge("gpu_work", whole_node(), {worked("0000:0b:00", 600000), run});
  EXPECT_EQ(worst_of(verdicts), VerdictState::fail);
  EXPECT_EQ(verdicts[0].device, "0000:1b:00");
}

TEST(Active, DcgmSettingsWarnAndHardwareFails) {
  EXPECT_EQ(worst_of(judge("dcgm_diag", corpus("dcgm4_pass"))), VerdictState::ok);
  const auto verdicts = judge("dcgm_diag", corpus("dcgm4_fail"), 226);
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[0].state, VerdictState::warn);
  EXPECT_EQ(verdicts[1].state, VerdictState::fail);
  EXPECT_EQ(verdicts[1].device, "0000:1b:00");
  EXPECT_EQ(worst_of(judge("dcgm_diag", corpus("dcgm3_fail"), 226)), VerdictState::fail);
  // All was skipped, the tool exits 0. (DCGM on a part that is not on its list)
  EXPECT_EQ(worst_of(judge("dcgm_diag", corpus("dcgm4_skip"))), VerdictState::unknown);
  EXPECT_EQ(worst_of(judge("dcgm_quick", corpus("dcgm4_skip"))), VerdictState::ok);
  EXPECT_EQ(worst_of(judge("dcgm_quick", corpus("dcgm3_error"), 255)), VerdictState::unknown);
}

TEST(Active, NvbandwidthNamesTheGpuAndItsLimit) {
  std::string text = corpus("nvbandwidth");
  text.replace(text.find("55.28"), 5, "21.5 ");
  text.replace(text.find("21.5 "), 5, "21.50");
  const auto verdicts = judge("nvbandwidth", text);
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].state, VerdictState::fail);
  EXPECT_EQ(verdicts[0].device, "0000:1b:00");
  EXPECT_EQ(verdicts[0].reason, "copy to the GPU 21500 mbyte_per_s, limit 48000");
  EXPECT_EQ(worst_of(judge("nvbandwidth", corpus("nvbandwidth"), 1)), VerdictState::unknown);
  EXPECT_EQ(worst_of(judge("nvbandwidth", corpus("nvbandwidth_error"), 1)),
            VerdictState::unknown);
}

TEST(Active, NvbandwidthMustTellOfEveryGpuInEveryTest) {
  const auto with = [](const std::string& what, const std::string& instead) {
    std::string text = corpus("nvbandwidth");
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), instead);
  };
  EXPECT_EQ(worst_of(judge("nvbandwidth", corpus("nvbandwidth"))), VerdictState::ok);
  const std::string row = R"([ [ "55.3", "55.28" ] ])";
  for (const auto& text : {with(row, "[ [ ] ]"), with(row, R"([ [ "N/A", "N/A" ] ])"),
                           with(row, R"([ [ "55.3" ] ])"), with(row, R"([ [ "55.3", "1e308" ] ])"),
                           with("device_to_host_memcpy_ce", "foo"),
                           with(R"("Passed")", R"("Waived")")}) {
    EXPECT_EQ(worst_of(judge("nvbandwidth", text)), VerdictState::unknown) << text;
  }
  const auto lost = judge("nvbandwidth", with(row, R"([ [ "55.3", "N/A" ] ])"));
  EXPECT_NE(lost[0].reason.find("0000:1b:00"), std::string::npos) << lost[0].reason;
}

TEST(Active, DcgmMustTellOfEveryGpu) {
  std::string text = corpus("dcgm4_pass");
  const std::string second =
      R"(, {"entity_group": "GPU", "entity_group_id": 1, "entity_id": 1, "status": "Pass"})";
  for (auto at = text.find(second); at != std::string::npos; at = text.find(second)) {
    text.erase(at, second.size());
  }
  const auto verdicts = judge("dcgm_quick", text);
  EXPECT_EQ(worst_of(verdicts), VerdictState::unknown);
  EXPECT_NE(verdicts[0].reason.find("0000:1b:00"), std::string::npos) << verdicts[0].reason;
}

TEST(Active, ARateThatNoPortHasIsNoRate) {
  std::string text = corpus("ib_write_bw");
  text.replace(text.find("392.64"), 6, "1e300 ");
  EXPECT_EQ(worst_of(judge("ib_write_bw", text)), VerdictState::unknown);
}

TEST(Active, NcclWrongElementsAndSlowLinks) {
  EXPECT_EQ(worst_of(judge("nccl_local", corpus("nccl_wrong"), 1)), VerdictState::fail);
  std::string slow = corpus("nccl_ok");
  slow.replace(slow.find("478.66"), 6, "301.10");
  slow.replace(slow.find("479.08"), 6, "302.20");
  const auto verdicts = judge("nccl_local", slow);
  EXPECT_EQ(worst_of(verdicts), VerdictState::fail);
  EXPECT_NE(verdicts[0].reason.find("302200 mbyte_per_s, limit 460000"), std::string::npos)
      << verdicts[0].reason;
  EXPECT_EQ(worst_of(judge("nccl_local", corpus("nccl_cut"))), VerdictState::unknown);
  EXPECT_EQ(worst_of(judge("nccl_local", corpus("nccl_ok"), 1)), VerdictState::unknown);
}

TEST(Active, ASideOfAPairThatWaitsSaysNothing) {
  CheckSample sample = whole_node();
  EXPECT_EQ(worst_of(judge("nccl_pair", sample, {ran("nccl_pair", corpus("nccl_ok"))})),
            VerdictState::unknown);
  sample.pair = {PairRole::server, "gpu2", "10.0.0.2"};
  EXPECT_EQ(worst_of(judge("nccl_pair", sample, {ran("nccl_pair", corpus("nccl_ok"))})),
            VerdictState::unknown);
  EXPECT_EQ(worst_of(judge("ib_write_bw", sample, {ran("ib_write_bw", corpus("ib_write_bw"))})),
            VerdictState::unknown);
  sample.pair.role = PairRole::client;
  sample.gpus->gpus.resize(1);  // what ran had two ranks: one on each node
  EXPECT_EQ(worst_of(judge("nccl_pair", sample, {ran("nccl_pair", corpus("nccl_ok"))})),
            VerdictState::ok);
}

/// A program without MPI reduces on its own node, right and fast, and proves nothing of the way.
TEST(Active, APairThatDidNotMeetIsUnknown) {
  CheckSample sample = whole_node();
  sample.pair = {PairRole::client, "gpu2", "10.0.0.2"};
  sample.gpus->gpus.resize(2);
  const auto verdicts = judge("nccl_pair", sample, {ran("nccl_pair", corpus("nccl_ok"))});
  ASSERT_EQ(worst_of(verdicts), VerdictState::unknown);
  EXPECT_NE(verdicts[0].reason.find("met no second node: 2 ranks; it comes with a-package"),
            std::string::npos)
      << verdicts[0].reason;
}

TEST(Active, ASlowRailIsNamed) {
  ToolRun fast = ran("ib_write_bw", corpus("ib_write_bw"));
  fast.device = "mlx5_0/1";
  ToolRun slow = fast;
  slow.device = "mlx5_3/1";
  slow.out.replace(slow.out.find("392.64"), 6, "196.20");
  const auto verdicts = judge("ib_write_bw", whole_node(), {fast, slow});
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].device, "mlx5_3/1");
  EXPECT_EQ(verdicts[0].reason, "RDMA write 196 gbit_per_s, limit 380");
}

TEST(Active, GpuBurnIsBelievedAndItsRatesAreCompared) {
  const auto faulty = judge("gpu_burn", corpus("gpu_burn_faulty"));
  ASSERT_EQ(faulty.size(), 1U);
  EXPECT_EQ(faulty[0].state, VerdictState::fail);
  EXPECT_EQ(faulty[0].device, "0000:1b:00");
  std::string slow = corpus("gpu_burn_faulty");
  slow.replace(slow.find("FAULTY"), 6, "OK");
  slow.replace(slow.rfind("611034"), 6, "311034");
  const auto verdicts = judge("gpu_burn", slow);
  EXPECT_EQ(worst_of(verdicts), VerdictState::fail);
  EXPECT_EQ(verdicts[0].device, "0000:0b:00");
  EXPECT_EQ(worst_of(judge("gpu_burn", corpus("gpu_burn_cut"))), VerdictState::unknown);
}

TEST(Active, FioTellsWrongDataFromSlowDisks) {
  EXPECT_EQ(worst_of(judge("fio", corpus("fio"))), VerdictState::ok);
  EXPECT_EQ(worst_of(judge("fio", corpus("fio_verify"), 1)), VerdictState::fail);
  EXPECT_EQ(worst_of(judge("fio", corpus("fio_refused"), 1)), VerdictState::unknown);
  std::string slow = corpus("fio");
  slow.replace(slow.find("1610612736"), 10, "150612736 ");
  EXPECT_EQ(worst_of(judge("fio", slow)), VerdictState::fail);
  CheckSample lab = whole_node();
  lab.faults["shared"] = "the disk is another machine's";
  EXPECT_EQ(worst_of(judge("fio", lab, {ran("fio", slow)})), VerdictState::ok);
}

// A symptom that was measured while the node had no CPU is doubted; what a GPU computed is not.
TEST(Active, AStarvedCheckAccusesNobody) {
  CheckSample sample = whole_node();
  sample.pressure->cpu_some = 9900;
  ToolRun slow = ran("ib_write_bw", corpus("ib_write_bw"));
  slow.out.replace(slow.out.find("392.64"), 6, "196.20");
  EXPECT_EQ(worst_of(judge("ib_write_bw", sample, {slow})), VerdictState::unknown);
  EXPECT_EQ(worst_of(judge("gpu_work", sample, {worked("0000:1b:00", 600000, 3)})),
            VerdictState::fail);
}

}  // namespace
}  // namespace tundish::checks
