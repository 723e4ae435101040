// Stands in for all_reduce_perf of nccl-tests, built with MPI=1, on a simulated node. What its
// parser does not know ends it with its usage and exit 0, as there. Source: NVIDIA/nccl-tests
// src/common.cu and src/util.cu, release 2.17; checked 2026-11
#include <getopt.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "lab/tools/parts.hpp"
#include "lab/tools/pmi.hpp"

namespace {

/// Bus bandwidth of 8 sound H100 at 16 GiB, GB/s.
constexpr double full_rate = 478.6;
/// Of a rail's nominal rate.
constexpr double rail_yield = 0.97;

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
  bool understood = true;
};

Request parse(int argc, char** argv) {
  static const option longs[] = {{"nthreads", 1, nullptr, 't'}, {"ngpus", 1, nullptr, 'g'},
                                 {"minbytes", 1, nullptr, 'b'}, {"maxbytes", 1, nullptr, 'e'},
                                 {"iters", 1, nullptr, 'n'},    {"warmup_iters", 1, nullptr, 'w'},
                                 {"check", 1, nullptr, 'c'},    {nullptr, 0, nullptr, 0}};
  Request out;
  opterr = 0;
  for (int word = 0; word != -1;) {
    word = getopt_long(argc, argv, "t:g:b:e:i:f:n:m:w:N:p:c:o:d:r:z:y:T:hG:C:a:R:x:D:V:J:S:M:",
                       longs, nullptr);
    if (word == 'e') out.bytes = bytes_of(optarg);
    if (word == 'g') out.gpus = std::atoi(optarg);
    if (word == '?') std::printf("invalid option '%c'\n", optopt != 0 ? optopt : word);
    out.understood = out.understood && word != '?' && word != 'h';
  }
  return out;
}

/// The slowest active rail times their number: each carries its share of a ring. GB/s; 0: none.
double rails_rate() {
  std::error_code ignored;
  double slowest = 0;
  int rails = 0;
  for (const auto& device : std::filesystem::directory_iterator("/sys/class/infiniband", ignored)) {
    std::ifstream state(device.path() / "ports/1/state"), rate(device.path() / "ports/1/rate");
    std::string word;
    double gbit = 0;
    std::getline(state, word);
    rate >> gbit;
    if (word.find("ACTIVE") == std::string::npos) continue;
    gbit *= tundish::lab::rail_share(device.path().filename().string());
    slowest = rails++ == 0 ? gbit : std::min(slowest, gbit);
  }
  return slowest / 8 * rails * rail_yield;
}

/// What one process brings: the devices' lines, and how fast and how right its GPUs are.
struct Part {
  std::string devices;
  double rate = full_rate;
  std::int64_t wrong = 0;
};

Part look(const Request& request, const tundish::lab::PmiJob& job) {
  Part out;
  char node[64] = "lab";
  gethostname(node, sizeof node - 1);
  int count = 0;
  for (const auto& gpu : tundish::lab::look_at_gpus()) {
    if (count == request.gpus || gpu.lost != 0) break;
    char line[256];
    std::snprintf(line, sizeof line, "#  Rank %2d Group  0 Pid %6d on %10s device %2d [0x%s] %s;",
                  job.rank() * request.gpus + count, getpid(), node, count,
                  gpu.pci.substr(5, 2).c_str(), gpu.name.c_str());
    out.devices += line;
    out.rate = std::min(out.rate, full_rate * tundish::lab::link_share(gpu));
    out.wrong += gpu.wrong_sums;
    ++count;
  }
  if (count < request.gpus) {
    std::printf("%s: Test CUDA failure common.cu:1028 'invalid device ordinal'\n"
                " .. %s pid %d: Test failure common.cu:891\n", node, node, getpid());
    std::exit(3);
  }
  // Between nodes no GPU is faster than the rails; without one NCCL falls back to sockets.
  if (job.size() > 1) out.rate = std::min(out.rate, std::max(rails_rate(), 1.2));
  return out;
}

std::string pack(const Part& part) {
  std::string out = std::to_string(part.rate) + ";" + std::to_string(part.wrong) + ";";
  for (const char c : part.devices) out += c == ' ' ? '_' : c;  // a value ends at a space
  return out;
}

Part unpack(const std::string& text) {
  std::istringstream in(text);
  std::string rate, wrong;
  Part out;
  std::getline(in, rate, ';');
  std::getline(in, wrong, ';');
  std::getline(in, out.devices, '\0');
  for (char& c : out.devices) c = c == '_' ? ' ' : c;
  out.rate = std::atof(rate.c_str());
  out.wrong = std::atoll(wrong.c_str());
  return out;
}

void print_head(const Request& request, std::string devices) {
  std::printf("# nThread 1 nGpus %d minBytes %lld maxBytes %lld step: 1048576(bytes) warmup iters: "
              "5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n",
              request.gpus, static_cast<long long>(request.bytes),
              static_cast<long long>(request.bytes));
  for (char& c : devices) c = c == ';' ? '\n' : c;
  std::printf("%s#\n# %60s %32s\n"
              "#       size         count      type   redop    root     time   algbw   busbw "
              "#wrong     time   algbw   busbw #wrong\n"
              "#        (B)    (elements)                               (us)  (GB/s)  (GB/s) "
              "           (us)  (GB/s)  (GB/s)       \n",
              devices.c_str(), "out-of-place", "in-place");
  std::fflush(stdout);
}

void print_result(const Request& request, int ranks, const Part& all) {
  const double factor = 2.0 * (ranks - 1) / std::max(ranks, 1);
  const double algorithm = factor > 0 ? all.rate / factor : all.rate;
  const double us = static_cast<double>(request.bytes) / algorithm / 1e3;
  const auto wrong = static_cast<long long>(all.wrong);
  std::printf("%12lld  %12lld     float     sum      -1  %7.0f  %6.2f  %6.2f  %5lld  %7.0f  %6.2f  "
              "%6.2f  %5lld\n",
              static_cast<long long>(request.bytes), static_cast<long long>(request.bytes / 4), us,
              algorithm, all.rate, wrong, us * 1.001, algorithm * 0.999, all.rate * 0.999, wrong);
  std::printf("# Out of bounds values : %lld %s\n# Avg bus bandwidth    : %g \n#\n\n", wrong,
              wrong > 0 ? "FAILED" : "OK", all.rate);
}

}  // namespace

int main(int argc, char** argv) {
  auto job = tundish::lab::PmiJob::init();
  const Request request = parse(argc, argv);
  if (!request.understood) {
    std::printf("USAGE: all_reduce_perf \n\t[-t,--nthreads <num threads>] \n\t[-g,--ngpus <gpus "
                "per thread>] \n\t[-b,--minbytes <min size in bytes>] \n\t[-e,--maxbytes <max size "
                "in bytes>] \n\t[-h,--help]\n");
    job.finalize();
    return 0;
  }
  Part all = look(request, job);
  job.put("part" + std::to_string(job.rank()), pack(all));
  job.barrier();
  for (int other = 0; other < job.size(); ++other) {
    if (other == job.rank()) continue;
    const Part far = unpack(job.get("part" + std::to_string(other)));
    all.rate = std::min(all.rate, far.rate);
    all.wrong += far.wrong;
    all.devices += far.devices;
  }
  if (job.rank() == 0) print_head(request, all.devices);
  tundish::lab::work_for(2.5);
  if (job.rank() == 0) print_result(request, request.gpus * job.size(), all);
  job.finalize();
  return all.wrong > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
