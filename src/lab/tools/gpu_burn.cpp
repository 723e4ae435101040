// Stands in for gpu_burn on a simulated node: a process per GPU, reports that overwrite each other,
// and its own verdict at the end. Source: wilicc/gpu-burn gpu_burn-drv.cpp, 2025; checked 2026-11
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/tools/parts.hpp"

namespace {

/// Of a sound H100 with tensor cores, Gflop/s.
constexpr double full_rate = 612000;

pid_t start_burner() {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  for (;;) pause();
}

void report(double percent, const std::vector<tundish::lab::GpuState>& gpus, int seconds) {
  std::printf("\r%.1f%%  proc'd: ", percent);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::printf("%d (%.0f Gflop/s) %s", seconds * 1021,
                full_rate * tundish::lab::clock_share(gpus[i]), i + 1 < gpus.size() ? "- " : "");
  }
  std::printf("  errors: ");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::printf("%lld %s%s", static_cast<long long>(gpus[i].wrong_sums),
                gpus[i].wrong_sums != 0 ? " (WARNING!)" : "", i + 1 < gpus.size() ? "- " : "");
  }
  std::printf("  temps: ");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::printf("%lld C %s", static_cast<long long>(gpus[i].temp + 30),
                i + 1 < gpus.size() ? "- " : "");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  int seconds = 10;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') seconds = std::max(std::atoi(argv[i]), 1);
  }
  auto gpus = tundish::lab::look_at_gpus();
  std::erase_if(gpus, [](const auto& gpu) { return gpu.lost != 0; });
  if (gpus.empty()) {
    std::fprintf(stderr, "No CUDA devices\n");
    return 19;
  }
  std::printf("Using compare file: compare.fatbin\nBurning for %d seconds.\n", seconds);
  std::vector<pid_t> burners;
  for (std::size_t i = 0; i < gpus.size(); ++i) burners.push_back(start_burner());
  std::vector<bool> faulty(gpus.size(), false);
  for (int passed = 1; passed <= seconds; ++passed) {
    tundish::lab::work_for(1);
    const auto now = tundish::lab::look_at_gpus();
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      for (const auto& gpu : now) {
        if (gpu.uuid == gpus[i].uuid) gpus[i] = gpu;
      }
      faulty[i] = faulty[i] || gpus[i].wrong_sums != 0;
    }
    report(100.0 * passed / seconds, gpus, passed);
  }
  std::printf("\nKilling processes with SIGTERM (soft kill)\n");
  for (const pid_t pid : burners) kill(pid, SIGTERM);
  while (wait(nullptr) > 0) {
  }
  std::printf("done\n\nTested %d GPUs:\n", static_cast<int>(gpus.size()));
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::printf("\tGPU %d: %s\n", static_cast<int>(i), faulty[i] ? "FAULTY" : "OK");
  }
  return 0;
}
