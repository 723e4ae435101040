#include "runtime/agent/gpu_work.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "lab/gpu_state.hpp"
#include "runtime/agent/gpu_kernels.hpp"

namespace tundish::lab {
namespace {

class GpuWorkTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "gpu_work-" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    state_ = folder_ + "/nvml.state";
    ASSERT_TRUE(save_gpu_states(state_, make_gpu_states({.node = 7, .gpus = 2})));
    setenv("FAKE_NVML_STATE", state_.c_str(), 1);
    const auto program = std::filesystem::read_symlink("/proc/self/exe");
    library_ = program.parent_path().parent_path() / "lib/libcuda.so.1";
  }
  void TearDown() override {
    unsetenv("FAKE_NVML_STATE");
    std::filesystem::remove_all(folder_);
  }
  void edit(int gpu, std::int64_t GpuState::*field, std::int64_t value) {
    auto states = load_gpu_states(state_);
    ASSERT_TRUE(states);
    states->gpus[static_cast<std::size_t>(gpu)].*field = value;
    ASSERT_TRUE(save_gpu_states(state_, *states));
  }
  std::string pci(int gpu) {
    return load_gpu_states(state_)->gpus[static_cast<std::size_t>(gpu)].pci;
  }
  Result<GpuWork> work(const std::string& which) {
    const auto driver = agent::CudaDriver::load(library_);
    EXPECT_TRUE(driver) << library_;
    if (!driver) return tl::unexpected(driver.error());
    return agent::work_gpu(*driver, {.pci = which, .memory_mib = 4, .matrix_ms = 1});
  }

  std::string folder_;
  std::string state_;
  std::string library_;
};

TEST_F(GpuWorkTest, a_healthy_gpu_computes_and_remembers_rightly) {
  const auto found = work(pci(1));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->capability, 90);
  EXPECT_EQ(found->memory_mib, 4);
  EXPECT_EQ(found->memory_words_wrong, 0);
  EXPECT_EQ(found->matrix_sums_wrong, 0);
  EXPECT_TRUE(found->processors_wrong.empty());
  EXPECT_GT(found->memory_mbytes_per_s, 0);
  EXPECT_GT(found->matrix_gflops, 0);
  EXPECT_GT(found->to_gpu_mbytes_per_s, 0);
  EXPECT_GT(found->from_gpu_mbytes_per_s, 0);
}

TEST_F(GpuWorkTest, silently_wrong_sums_are_counted_and_placed) {
  edit(1, &GpuState::wrong_sums, 1);
  const auto found = work(pci(1));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_GT(found->matrix_sums_wrong, 0);
  EXPECT_EQ(found->processors_wrong, std::vector<int>{2});
  EXPECT_EQ(found->memory_words_wrong, 0);
  const auto other = work(pci(0));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->matrix_sums_wrong, 0);
}

TEST_F(GpuWorkTest, what_the_driver_refuses_is_an_error_with_the_call) {
  edit(0, &GpuState::lost, 1);
  const auto lost = work(pci(0));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::unavailable);
  EXPECT_NE(lost.error().message().find("cuDevice"), std::string::npos);
  const auto other = work("0000:fe:00");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message().find("CUDA_ERROR_NO_DEVICE"), std::string::npos);
  const auto nonsense = work("gpu zero");
  ASSERT_FALSE(nonsense);
  EXPECT_EQ(nonsense.error().code, Code::invalid);
}

TEST_F(GpuWorkTest, no_driver_is_unsupported_not_a_fault) {
  const auto driver = agent::CudaDriver::load("libcuda-that-is-not-there.so");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, Code::unsupported);
}

TEST(GpuKernels, every_part_is_filled_in) {
  const std::string text = agent::gpu_kernel_text();
  EXPECT_EQ(text.find('@'), text.find("@%end")) << "a mark was left in";
  std::size_t products = 0;
  for (auto at = text.find("mma.sync"); at != std::string::npos;
       at = text.find("mma.sync", at + 1)) {
    ++products;
  }
  EXPECT_EQ(products, agent::products_per_round);
}

}  // namespace
}  // namespace tundish::lab
