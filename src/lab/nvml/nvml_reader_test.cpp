// The agent's reader and the tool against the simulated driver, both as built.
#include "runtime/agent/nvml_reader.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "lab/gpu_state.hpp"
#include "runtime/agent/nvml_abi.hpp"

namespace tundish::lab {
namespace {

using Clock = std::chrono::steady_clock;

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tundish-nvml-XXXXXX";
    folder_ = mkdtemp(name);
    state_ = folder_ + "/nvml.state";
    ASSERT_TRUE(save_gpu_states(state_, make_gpu_states({.node = 31, .gpus = 8})));
    setenv("FAKE_NVML_STATE", state_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("FAKE_NVML_STATE");
    std::filesystem::remove_all(folder_);
  }

  static std::filesystem::path build_folder() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  }
  static std::string library() { return build_folder() / "lib/libnvidia-ml.so.1"; }

  void edit(int gpu, std::int64_t GpuState::*field, std::int64_t value) {
    auto states = load_gpu_states(state_);
    ASSERT_TRUE(states);
    states->gpus[static_cast<std::size_t>(gpu)].*field = value;
    ASSERT_TRUE(save_gpu_states(state_, *states));
  }
  GpuSnapshot read() {
    auto reader = NvmlReader::load(library());
    EXPECT_TRUE(reader) << library();
    auto snapshot = (*reader)->read();
    EXPECT_TRUE(snapshot);
    return snapshot ? *snapshot : GpuSnapshot{};
  }
  /// What the tool prints, with its exit code in front.
  std::string smi(const std::string& arguments) {
    const std::string command = (build_folder() / "bin/nvidia-smi").string() + " " + arguments;
    FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) out += static_cast<char>(c);
    return std::to_string(WEXITSTATUS(pclose(pipe))) + " " + out;
  }

  std::string folder_;
  std::string state_;
};

TEST_F(NvmlTest, a_healthy_node_answers_everything) {
  const GpuSnapshot snapshot = read();
  EXPECT_EQ(snapshot.driver_version, "550.90.07");
  ASSERT_EQ(snapshot.gpus.size(), 8u);
  const GpuReading& gpu = snapshot.gpus[3];
  EXPECT_EQ(gpu.index, 3);
  EXPECT_EQ(gpu.uuid, "GPU-0000001f-0003-4000-8000-00001f000003");
  EXPECT_EQ(gpu.serial, "16523003103");
  EXPECT_EQ(gpu.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.pci, "0000:61:00");
  EXPECT_EQ(gpu.lost, false);
  EXPECT_EQ(gpu.nvml_error, std::nullopt);
  EXPECT_EQ(gpu.ecc_uncorrected, 0);
  EXPECT_EQ(gpu.ecc_corrected, 0);
  EXPECT_EQ(gpu.remap_pending, false);
  EXPECT_EQ(gpu.remap_failure, false);
  EXPECT_EQ(gpu.recovery_action, 0);
  EXPECT_EQ(gpu.temperature_c, 34);
  EXPECT_EQ(gpu.power_w, 71);
  EXPECT_EQ(gpu.utilization_percent, 0);
}

TEST_F(NvmlTest, a_lost_gpu_is_counted_but_tells_nothing) {
  ASSERT_TRUE(apply_fault(state_, 5, GpuFault::lost, Sticky::no));
  const GpuSnapshot snapshot = read();
  ASSERT_EQ(snapshot.gpus.size(), 8u);
  EXPECT_EQ(snapshot.gpus[5].lost, true);
  EXPECT_EQ(snapshot.gpus[5].nvml_error, nvml::gpu_is_lost);
  EXPECT_EQ(snapshot.gpus[5].uuid, std::nullopt);
  EXPECT_EQ(snapshot.gpus[5].ecc_uncorrected, std::nullopt);
  EXPECT_EQ(snapshot.gpus[5].temperature_c, std::nullopt);
  EXPECT_EQ(snapshot.gpus[4].lost, false);
}

TEST_F(NvmlTest, a_reader_knows_the_lost_gpu_from_before_unless_others_moved) {
  auto reader = NvmlReader::load(library());
  ASSERT_TRUE(reader);
  ASSERT_TRUE((*reader)->read());
  ASSERT_TRUE(apply_fault(state_, 5, GpuFault::lost, Sticky::no));
  auto after = (*reader)->read();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->gpus[5].pci, "0000:c3:00");
  EXPECT_EQ(after->gpus[5].lost, true);
  EXPECT_EQ(after->gpus[5].temperature_c, std::nullopt);

  auto states = load_gpu_states(state_);
  ASSERT_TRUE(states);
  std::swap(states->gpus[0], states->gpus[1]);
  ASSERT_TRUE(save_gpu_states(state_, *states));
  after = (*reader)->read();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->gpus[5].pci, std::nullopt);
}

TEST_F(NvmlTest, a_value_the_gpu_does_not_support_is_absent_and_no_error) {
  edit(2, &GpuState::power, -1);
  edit(2, &GpuState::recovery_action, -1);
  edit(2, &GpuState::ecc_uncorrected, -1);
  const GpuReading gpu = read().gpus.at(2);
  EXPECT_EQ(gpu.power_w, std::nullopt);
  EXPECT_EQ(gpu.recovery_action, std::nullopt);
  EXPECT_EQ(gpu.ecc_uncorrected, std::nullopt);
  EXPECT_EQ(gpu.nvml_error, std::nullopt);
  EXPECT_EQ(gpu.temperature_c, 34);
}

TEST_F(NvmlTest, hanging_firmware_still_tells_who_it_is_and_what_to_do) {
  ASSERT_TRUE(apply_fault(state_, 1, GpuFault::gsp, Sticky::no));
  const GpuReading gpu = read().gpus.at(1);
  EXPECT_EQ(gpu.pci, "0000:43:00");
  EXPECT_EQ(gpu.recovery_action, 1);
  EXPECT_EQ(gpu.nvml_error, nvml::unknown_error);
  EXPECT_EQ(gpu.temperature_c, std::nullopt);
}

TEST_F(NvmlTest, an_old_driver_without_most_functions_still_counts) {
  const std::string source = folder_ + "/old.c";
  std::ofstream(source) << "int nvmlInit_v2(void) { return 0; }\n"
                           "int nvmlDeviceGetCount_v2(unsigned* n) { *n = 2; return 0; }\n"
                           "int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** d)\n"
                           "{ *d = (void*)(long)(i + 1); return 0; }\n"
                           "int nvmlDeviceGetTemperature(void* d, int s, unsigned* t)\n"
                           "{ (void)d; (void)s; *t = 40; return 0; }\n";
  const std::string library = folder_ + "/old.so";
  ASSERT_EQ(system(("cc -shared -fPIC -o " + library + " " + source).c_str()), 0);
  auto reader = NvmlReader::load(library);
  ASSERT_TRUE(reader);
  const auto snapshot = (*reader)->read();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->driver_version, std::nullopt);
  ASSERT_EQ(snapshot->gpus.size(), 2u);
  EXPECT_EQ(snapshot->gpus[1].temperature_c, 40);
  EXPECT_EQ(snapshot->gpus[1].lost, false);
  EXPECT_EQ(snapshot->gpus[1].uuid, std::nullopt);
  EXPECT_EQ(snapshot->gpus[1].remap_failure, std::nullopt);
}

TEST_F(NvmlTest, no_driver_is_told_apart_from_no_gpu) {
  EXPECT_EQ(NvmlReader::load(folder_ + "/none.so").error().code, Code::unsupported);
  std::filesystem::remove(state_);
  auto reader = NvmlReader::load(library());
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)->read().error().code, Code::unavailable);
}

TEST_F(NvmlTest, a_hanging_driver_blocks_until_the_child_is_killed_or_the_hang_ends) {
  edit(0, &GpuState::hang_ms, 60000);
  const pid_t probe = fork();
  if (probe == 0) _exit(read().gpus.size() == 8 ? 0 : 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(waitpid(probe, nullptr, WNOHANG), 0) << "the probe should hang";
  kill(probe, SIGKILL);
  waitpid(probe, nullptr, 0);

  const auto began = Clock::now();
  std::thread cure([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    edit(0, &GpuState::hang_ms, 0);
  });
  EXPECT_EQ(read().gpus.at(0).temperature_c, 34);
  cure.join();
  EXPECT_GE(Clock::now() - began, std::chrono::milliseconds(100));
}

TEST_F(NvmlTest, xid_events_reach_every_waiting_set) {
  using namespace nvml;
  void* handle = dlopen(library().c_str(), RTLD_NOW);
  ASSERT_NE(handle, nullptr);
  const auto create = reinterpret_cast<Return (*)(EventSet*)>(dlsym(handle, "nvmlEventSetCreate"));
  const auto wait = reinterpret_cast<Return (*)(EventSet, EventData*, unsigned)>(
      dlsym(handle, "nvmlEventSetWait_v2"));
  const auto release = reinterpret_cast<Return (*)(EventSet)>(dlsym(handle, "nvmlEventSetFree"));
  ASSERT_TRUE(append_xid_event(state_, 1, 31)) << "older than the sets: not seen";
  std::array<EventSet, 2> sets{};
  for (auto& set : sets) ASSERT_EQ(create(&set), success);
  EventData event{};
  EXPECT_EQ(wait(sets[0], &event, 20), timed_out);
  ASSERT_TRUE(append_xid_event(state_, 3, 79));
  for (auto& set : sets) {
    ASSERT_EQ(wait(set, &event, 1000), success);
    EXPECT_EQ(event.type, event_xid);
    EXPECT_EQ(event.data, 79u);
    EXPECT_EQ(wait(set, &event, 0), timed_out);
    release(set);
  }
  dlclose(handle);
}

TEST_F(NvmlTest, the_tool_lists_and_queries_as_the_real_one) {
  edit(0, &GpuState::ecc_uncorrected, 2);
  EXPECT_TRUE(smi("-L").starts_with(
      "0 GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0000001f-0000-4000-8000-00001f000000)\nGPU 1: "));
  const std::string query =
      "--query-gpu=index,uuid,serial,name,pci.bus_id,ecc.errors.uncorrected.volatile.total "
      "--format=csv,noheader ";
  EXPECT_EQ(smi(query + "-i 0"),
            "0 0, GPU-0000001f-0000-4000-8000-00001f000000, 16523003100, NVIDIA H100 80GB HBM3, "
            "00000000:1B:00.0, 2\n");
  EXPECT_TRUE(smi("--query-gpu=nonsense --format=csv,noheader").starts_with("2 Field"));
  EXPECT_TRUE(smi("-q").starts_with("2 "));
  ASSERT_TRUE(apply_fault(state_, 7, GpuFault::lost, Sticky::no));
  const std::string listed = smi("-L");
  EXPECT_TRUE(listed.starts_with("15 GPU 0: ")) << listed;
  EXPECT_NE(listed.find("handle for GPU7: 0000:DF:00.0: GPU is lost."), std::string::npos);
}

TEST_F(NvmlTest, the_tool_resets_by_every_name_but_not_a_lost_or_busy_gpu) {
  for (const char* which : {"0", "00000000:1B:00.0", "GPU-0000001f-0000-4000-8000-00001f000000"}) {
    ASSERT_TRUE(apply_fault(state_, 0, GpuFault::ecc_uncorrected, Sticky::no));
    EXPECT_EQ(smi(std::string("--gpu-reset -i ") + which),
              "0 GPU 00000000:1B:00.0 was successfully reset.\nAll done.\n");
    EXPECT_EQ(read().gpus.at(0).ecc_uncorrected, 0) << which;
  }
  EXPECT_TRUE(smi("--gpu-reset -i 42").starts_with("6 No devices"));
  ASSERT_TRUE(apply_fault(state_, 2, GpuFault::lost, Sticky::no));
  EXPECT_TRUE(smi("--gpu-reset -i 2").starts_with("15 Unable to determine"));
  EXPECT_EQ(read().gpus.at(2).lost, true);
  auto states = load_gpu_states(state_);
  ASSERT_TRUE(states);
  states->gpus[1].pids = "4711";
  ASSERT_TRUE(save_gpu_states(state_, *states));
  EXPECT_TRUE(smi("--gpu-reset -i 1").starts_with(
      "255 The following GPUs could not be reset:\n  GPU 00000000:43:00.0: In use by another"));
  std::filesystem::remove(state_);
  EXPECT_TRUE(smi("-L").starts_with("9 NVIDIA-SMI has failed"));
}

}  // namespace
}  // namespace tundish::lab
