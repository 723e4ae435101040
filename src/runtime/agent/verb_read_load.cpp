#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/text.hpp"
#include "runtime/agent/verbs.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

/// Long enough for a step of a job to send something, short enough to wait for.
constexpr std::chrono::milliseconds moment(500);
/// Slowdowns for heat or power; idle and an application's own clocks are none.
/// Source: nvml.h, nvmlClocksEventReason*: SW power cap 0x4, HW slowdown 0x8, SW thermal 0x20,
/// HW thermal 0x40, HW power brake 0x80; checked 2026-11
constexpr std::int64_t slowdown_bits = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

std::int64_t lower(std::int64_t known, std::int64_t value) {
  return known < 0 ? value : std::min(known, value);
}

void add_gpus(const GpuSnapshot& snapshot, NodeLoad& load) {
  for (const auto& gpu : snapshot.gpus) {
    if (gpu.clock_mhz) load.clock_mhz = lower(load.clock_mhz, *gpu.clock_mhz);
    if (gpu.power_w) load.power_w = std::max<std::int64_t>(load.power_w, 0) + *gpu.power_w;
    if (gpu.utilization_percent) {
      load.utilization_percent = lower(load.utilization_percent, *gpu.utilization_percent);
    }
    if (!gpu.throttle) continue;
    const bool slowed = (*gpu.throttle & slowdown_bits) != 0;
    load.throttled_gpus = std::max<std::int64_t>(load.throttled_gpus, 0) + (slowed ? 1 : 0);
  }
}

std::vector<std::string> port_folders(const std::string& sys_dir) {
  std::vector<std::string> out;
  std::error_code failed;
  const std::string root = sys_dir + "/class/infiniband";
  for (const auto& device : std::filesystem::directory_iterator(root, failed)) {
    std::error_code gone;
    for (const auto& port : std::filesystem::directory_iterator(device.path() / "ports", gone)) {
      out.push_back(port.path());
    }
  }
  return out;
}

/// -1: the port does not tell. Words of four bytes.
/// Source: Linux Documentation/ABI/stable/sysfs-class-infiniband, port_xmit_data; checked 2026-11
std::int64_t sent_bytes(const std::vector<std::string>& ports) {
  std::int64_t sum = -1;
  for (const auto& port : ports) {
    const auto text = process::read_file(port + "/counters/port_xmit_data");
    const auto words = text ? parse_integer(trim(*text)) : std::nullopt;
    if (words) sum = std::max<std::int64_t>(sum, 0) + *words * 4;
  }
  return sum;
}

/// "400 Gb/sec (4X NDR)" of ports that are active.
std::int64_t slowest_rate(const std::vector<std::string>& ports) {
  std::int64_t slowest = -1;
  for (const auto& port : ports) {
    const auto state = process::read_file(port + "/state");
    const auto text = process::read_file(port + "/rate");
    if (!state || !text || state->find("ACTIVE") == std::string::npos) continue;
    const std::string number = text->substr(0, text->find_first_of(" ."));
    if (const auto rate = parse_integer(number)) slowest = lower(slowest, *rate);
  }
  return slowest;
}

}  // namespace

/// The GPUs are asked through the gatherer's child: a hung driver is a number that is not told.
Result<VerbNote> verb_read_load(const VerbCall&, const VerbTools& tools) {
  NodeLoad load;
  const auto ports = port_folders(tools.config.sys_dir);
  const std::int64_t before = sent_bytes(ports);
  const auto start = std::chrono::steady_clock::now();
  if (const auto gpus = tools.gatherer.gpus()) add_gpus(*gpus, load);
  load.nic_rate_gbps = slowest_rate(ports);
  if (before >= 0) {
    std::this_thread::sleep_until(start + moment);
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
                          std::chrono::steady_clock::now() - start)
                          .count();
    const std::int64_t after = sent_bytes(ports);
    if (after >= before && took > 0) load.nic_bytes_per_s = (after - before) * 1000000 / took;
  }
  VerbNote note;
  note.load = load;
  return note;
}

}  // namespace tundish::agent
