// Stands in for all_reduce_perf of nccl-tests on a simulated node. Source: NVIDIA/nccl-tests
// src/common.cu and src/util.cu, release 2.17; checked 2026-11
#include <unistd.h>

#include "lab/tools/parts.hpp"

namespace {

/// Bus bandwidth of 8 sound H100 at 16 GiB, GB/s.
constexpr double full_rate = 478.6;

std::int64_t bytes_of(const std::string& text) {
  const std::int64_t number = std::atoll(text.c_str());
  if (text.ends_with('G')) return number << 30;
  if (text.ends_with('M')) return number << 20;
  if (text.ends_with('K')) return number << 10;
  return number;
}

struct Request {
  std::int64_t bytes = 32 << 20;
  int gpus = 1;
};

Request parse(int argc, char** argv) {
  Request out;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-e" || word == "--maxbytes") out.bytes = bytes_of(argv[i + 1]);
    if (word == "-g" || word == "--ngpus") out.gpus = std::atoi(argv[i + 1]);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const Request request = parse(argc, argv);
  const auto gpus = tundish::lab::look_at_gpus();
  std::printf("# nThread 1 nGpus %d minBytes %lld maxBytes %lld step: 1048576(bytes) warmup iters: "
              "5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n",
              request.gpus, static_cast<long long>(request.bytes),
              static_cast<long long>(request.bytes));
  double links = 1;
  std::int64_t wrong = 0;
  int rank = 0;
  for (const auto& gpu : gpus) {
    if (rank == request.gpus) break;
    if (gpu.lost != 0) break;
    std::printf("#  Rank %2d Group  0 Pid %6d on lab device %2d [0x%s] %s\n", rank, getpid(), rank,
                gpu.pci.substr(5, 2).c_str(), gpu.name.c_str());
    links = std::min(links, tundish::lab::link_share(gpu));
    wrong += gpu.wrong_sums;
    ++rank;
  }
  if (rank < request.gpus) {
    std::printf("lab: Test CUDA failure common.cu:1028 'invalid device ordinal'\n"
                " .. lab pid %d: Test failure common.cu:891\n", getpid());
    return 3;
  }
  std::printf("#\n# %60s %32s\n"
              "#       size         count      type   redop    root     time   algbw   busbw "
              "#wrong     time   algbw   busbw #wrong\n"
              "#        (B)    (elements)                               (us)  (GB/s)  (GB/s) "
              "           (us)  (GB/s)  (GB/s)       \n",
              "out-of-place", "in-place");
  std::fflush(stdout);
  tundish::lab::work_for(2.5);
  const double bus = full_rate * links;
  const double factor = 2.0 * (request.gpus - 1) / std::max(request.gpus, 1);
  const double algorithm = factor > 0 ? bus / factor : bus;
  const double us = static_cast<double>(request.bytes) / algorithm / 1e3;
  std::printf("%12lld  %12lld     float     sum      -1  %7.0f  %6.2f  %6.2f  %5lld  %7.0f  %6.2f  "
              "%6.2f  %5lld\n",
              static_cast<long long>(request.bytes), static_cast<long long>(request.bytes / 4), us,
              algorithm, bus, static_cast<long long>(wrong), us * 1.001, algorithm * 0.999,
              bus * 0.999, static_cast<long long>(wrong));
  std::printf("# Out of bounds values : %lld %s\n# Avg bus bandwidth    : %g \n#\n\n",
              static_cast<long long>(wrong), wrong > 0 ? "FAILED" : "OK", bus);
  return wrong > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
