#include "lab/gpu_state.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <set>
#include <thread>

namespace tundish::lab {
namespace {

class GpuStateTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tundish-gpus-XXXXXX";
    folder_ = mkdtemp(name);
    file_ = folder_ + "/nvml.state";
    ASSERT_TRUE(save_gpu_states(file_, make_gpu_states({.node = 7, .gpus = 8})));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  GpuState gpu(std::size_t index) {
    const auto states = load_gpu_states(file_);
    return states ? states->gpus.at(index) : GpuState{};
  }

  std::string folder_;
  std::string file_;
};

TEST_F(GpuStateTest, identities_differ_within_and_between_nodes) {
  std::set<std::string> uuids;
  std::set<std::string> serials;
  for (int node = 0; node < 64; ++node) {
    std::set<std::string> buses;
    for (const GpuState& gpu : make_gpu_states({.node = node, .gpus = 16}).gpus) {
      uuids.insert(gpu.uuid);
      serials.insert(gpu.serial);
      buses.insert(gpu.pci);
    }
    EXPECT_EQ(buses.size(), 16u);
  }
  EXPECT_EQ(uuids.size(), 64u * 16);
  EXPECT_EQ(serials.size(), 64u * 16);
}

TEST_F(GpuStateTest, what_is_written_reads_back) {
  auto states = make_gpu_states({.node = 1, .gpus = 2, .name = "NVIDIA B200"});
  states.driver = "570.1";
  states.gpus[1].power = -1;
  states.gpus[1].pids = "12,13";
  const auto again = parse_gpu_states(render_gpu_states(states));
  ASSERT_TRUE(again);
  EXPECT_EQ(render_gpu_states(*again), render_gpu_states(states));
  EXPECT_EQ(again->driver, "570.1");
  EXPECT_EQ(again->gpus[1].name, "NVIDIA B200");
  EXPECT_EQ(again->gpus[1].power, -1);
  EXPECT_EQ(again->gpus[1].pids, "12,13");
}

TEST_F(GpuStateTest, a_mistyped_key_or_number_is_an_error) {
  EXPECT_EQ(parse_gpu_states("index=0 lots=1").error().code, Code::corrupt);
  EXPECT_EQ(parse_gpu_states("index=0 lost=yes").error().code, Code::corrupt);
}

TEST_F(GpuStateTest, a_boot_cures_what_is_not_sticky) {
  ASSERT_TRUE(apply_fault(file_, 0, GpuFault::lost, Sticky::no));
  ASSERT_TRUE(apply_fault(file_, 1, GpuFault::lost, Sticky::yes));
  ASSERT_TRUE(apply_fault(file_, 2, GpuFault::ecc_uncorrected, Sticky::no));
  ASSERT_TRUE(apply_fault(file_, 3, GpuFault::gsp, Sticky::yes));
  ASSERT_TRUE(apply_fault(file_, 4, GpuFault::row_remap_failure, Sticky::no));
  EXPECT_EQ(gpu(2).ecc_uncorrected, 1);
  EXPECT_EQ(gpu(2).remap_pending, 1);
  ASSERT_TRUE(clear_on_boot(file_));
  EXPECT_EQ(gpu(0).lost, 0);
  EXPECT_EQ(gpu(1).lost, 1);
  EXPECT_EQ(gpu(2).ecc_uncorrected, 0);
  EXPECT_EQ(gpu(2).ecc_uncorrected_aggregate, 1) << "the board remembers";
  EXPECT_EQ(gpu(2).remapped, 1);
  EXPECT_EQ(gpu(2).remap_pending, 0);
  EXPECT_EQ(gpu(3).gsp, 1);
  EXPECT_EQ(gpu(3).recovery_action, 1);
  EXPECT_EQ(gpu(4).remap_failure, 1) << "kept by the board, whatever the fault was called";
  EXPECT_EQ(gpu(4).ecc_uncorrected, 0);
}

TEST_F(GpuStateTest, a_reset_cures_memory_errors_but_neither_lost_nor_busy_gpus) {
  ASSERT_TRUE(apply_fault(file_, 0, GpuFault::ecc_uncorrected, Sticky::no));
  ASSERT_TRUE(apply_fault(file_, 1, GpuFault::ecc_uncorrected, Sticky::yes));
  ASSERT_TRUE(apply_fault(file_, 2, GpuFault::lost, Sticky::no));
  ASSERT_TRUE(reset_gpu(file_, "0"));
  ASSERT_TRUE(reset_gpu(file_, "0000:43:00"));
  EXPECT_EQ(gpu(0).ecc_uncorrected, 0);
  EXPECT_EQ(gpu(1).ecc_uncorrected, 1);
  EXPECT_EQ(reset_gpu(file_, "2").error().code, Code::unavailable);
  EXPECT_EQ(gpu(2).lost, 1);
  EXPECT_EQ(reset_gpu(file_, "9").error().code, Code::not_found);
  EXPECT_EQ(apply_fault(file_, 9, GpuFault::lost, Sticky::no).error().code, Code::not_found);
}

TEST_F(GpuStateTest, changes_at_the_same_time_are_all_kept) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([this, i] {
      for (int n = 0; n < 25; ++n) {
        EXPECT_TRUE(apply_fault(file_, i % 2, GpuFault::ecc_uncorrected, Sticky::no));
      }
    });
  }
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(gpu(0).ecc_uncorrected, 50);
  EXPECT_EQ(gpu(1).ecc_uncorrected, 50);
}

}  // namespace
}  // namespace tundish::lab
