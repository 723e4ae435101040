// Each program's output as its source prints it (the corpus of the fuzz target), and what is none.
#include "codec/tools/tool_output.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace tundish::tools {
namespace {

const std::string folder =
    std::string(TUNDISH_SOURCE_DIR) + "/tests/fuzz/corpus/tool_output_fuzz/";

std::string text_of(const std::string& name) {
  std::ifstream file(folder + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

TEST(ToolOutput, DcgmOfTwoReleases) {
  const auto four = parse_dcgm_diag(text_of("dcgm4_fail"));
  ASSERT_TRUE(four) << four.error().message();
  EXPECT_EQ(four->version, "4.6.0");
  ASSERT_EQ(four->results.size(), 3U);
  EXPECT_EQ(four->results[0].category, "Deployment");
  EXPECT_EQ(four->results[0].severity, static_cast<int>(DcgmSeverity::config));
  EXPECT_EQ(four->results[2].gpu, "1");
  EXPECT_EQ(four->results[2].status, "Fail");
  EXPECT_EQ(four->results[2].warning, "A double-bit error was detected.");
  EXPECT_EQ(four->results[2].severity, static_cast<int>(DcgmSeverity::isolate));
  const auto three = parse_dcgm_diag(text_of("dcgm3_fail"));
  ASSERT_TRUE(three) << three.error().message();
  EXPECT_EQ(three->version, "3.3.5");
  EXPECT_EQ(three->results.back().gpu, "1");
  EXPECT_EQ(three->results.back().warning, "PCIe replays were detected.");
}

TEST(ToolOutput, AnErrorOfDcgmIsNoResult) {
  const auto error = parse_dcgm_diag(text_of("dcgm3_error"));
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, Code::unavailable);
  EXPECT_NE(error.error().what.find("Tesla recommended driver"), std::string::npos);
  for (const char* name : {"dcgm_no_engine", "empty", "cut", "fio"}) {
    EXPECT_FALSE(parse_dcgm_diag(text_of(name))) << name;
  }
}

TEST(ToolOutput, Nvbandwidth) {
  const auto cases = parse_nvbandwidth(text_of("nvbandwidth"));
  ASSERT_TRUE(cases) << cases.error().message();
  ASSERT_EQ(cases->size(), 3U);
  EXPECT_DOUBLE_EQ(*cases->at(0).gbyte_per_s.at(0).at(1), 55.28);
  EXPECT_FALSE(cases->at(2).gbyte_per_s.at(0).at(0));
  EXPECT_DOUBLE_EQ(*cases->at(2).gbyte_per_s.at(1).at(0), 390.9);
  const auto error = parse_nvbandwidth(text_of("nvbandwidth_error"));
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, Code::unavailable);
  EXPECT_EQ(parse_nvbandwidth(text_of("nvbandwidth_waived"))->at(0).status, "Waived");
  for (const char* name : {"empty", "cut", "fio", "nccl_ok"}) {
    EXPECT_FALSE(parse_nvbandwidth(text_of(name))) << name;
  }
}

TEST(ToolOutput, NcclTests) {
  const auto run = parse_nccl_tests(text_of("nccl_ok"));
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(run->ranks, 2);
  ASSERT_EQ(run->rows.size(), 1U);
  EXPECT_EQ(run->rows[0].bytes, 17179869184);
  EXPECT_DOUBLE_EQ(run->rows[0].busbw_out, 478.66);
  EXPECT_DOUBLE_EQ(run->rows[0].busbw_in, 479.08);
  EXPECT_EQ(run->rows[0].wrong, 0);
  const auto wrong = parse_nccl_tests(text_of("nccl_wrong"));
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->out_of_bounds, 50);
  EXPECT_EQ(wrong->rows[0].wrong, 50);
  // A run that was cut short has results and is no run; one without a check of results is none.
  EXPECT_FALSE(parse_nccl_tests(text_of("nccl_cut")));
  EXPECT_FALSE(parse_nccl_tests(text_of("nccl_no_gpu")));
  std::string unchecked = text_of("nccl_ok");
  unchecked.replace(unchecked.find("478.66      0"), 13, "478.66    N/A");
  EXPECT_FALSE(parse_nccl_tests(unchecked));
}

TEST(ToolOutput, IbWriteBw) {
  const auto rows = parse_ib_bandwidth(text_of("ib_write_bw"));
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->at(0).bytes, 65536);
  EXPECT_DOUBLE_EQ(rows->at(0).average_gbit_per_s, 392.64);
  EXPECT_FALSE(parse_ib_bandwidth(text_of("ib_write_bw_mb"))) << "another unit is no small error";
  EXPECT_FALSE(parse_ib_bandwidth(text_of("ib_write_bw_away")));
  EXPECT_FALSE(parse_ib_bandwidth(""));
}

TEST(ToolOutput, GpuBurn) {
  const auto gpus = parse_gpu_burn(text_of("gpu_burn_faulty"));
  ASSERT_TRUE(gpus) << gpus.error().message();
  ASSERT_EQ(gpus->size(), 2U);
  EXPECT_FALSE(gpus->at(0).faulty);
  EXPECT_TRUE(gpus->at(1).faulty);
  EXPECT_EQ(gpus->at(0).gflops, 611034);  // of the last report
  EXPECT_FALSE(parse_gpu_burn(text_of("gpu_burn_cut")));
  EXPECT_FALSE(parse_gpu_burn("Tested 2 GPUs:\n\tGPU 0: OK\n")) << "one of two is told";
}

TEST(ToolOutput, Fio) {
  const auto jobs = parse_fio(text_of("fio"));
  ASSERT_TRUE(jobs) << jobs.error().message();
  EXPECT_EQ(jobs->at(0).read_bytes_per_s, 3221225472);
  EXPECT_EQ(jobs->at(0).write_bytes_per_s, 1610612736);
  const auto printed = parse_fio(text_of("fio_printed"));  // by fio 3.33 itself, 8 MiB
  ASSERT_TRUE(printed) << printed.error().message();
  EXPECT_EQ(printed->at(0).write_bytes, 8388608);
  EXPECT_EQ(printed->at(0).read_bytes, 8388608) << "all of it was verified";
  EXPECT_EQ(parse_fio(text_of("fio_verify"))->at(0).error, 84);
  EXPECT_FALSE(parse_fio(text_of("fio_refused")));
}

/// Every program's output is garbage to every other one's reader.
TEST(ToolOutput, NothingIsTakenForAnotherProgramsOutput) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const std::string text = text_of(name);
    EXPECT_TRUE(!parse_dcgm_diag(text) || name.starts_with("dcgm")) << name;
    EXPECT_TRUE(!parse_nvbandwidth(text) || name.starts_with("nvbandwidth")) << name;
    EXPECT_TRUE(!parse_nccl_tests(text) || name.starts_with("nccl")) << name;
    EXPECT_TRUE(!parse_ib_bandwidth(text) || name.starts_with("ib_write_bw")) << name;
    EXPECT_TRUE(!parse_gpu_burn(text) || name.starts_with("gpu_burn")) << name;
    EXPECT_TRUE(!parse_fio(text) || name.starts_with("fio")) << name;
  }
}

}  // namespace
}  // namespace tundish::tools
