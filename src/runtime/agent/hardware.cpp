#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "runtime/agent/cluster_network.hpp"
#include "runtime/agent/gather.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(trim(line));
}

std::vector<std::string> read_macs(const fs::path& net) {
  std::vector<std::string> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(net, failed)) {
    const std::string mac = to_lower(first_line(entry.path() / "address"));
    if (mac.size() == 17 && mac != "00:00:00:00:00:00") out.push_back(mac);
  }
  return out;
}

std::int64_t read_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("MemTotal:", 0) != 0) continue;
    const std::string number(trim(line.substr(9, line.find("kB") - 9)));
    return parse_integer(number).value_or(0) * 1024;
  }
  return 0;
}

void drop_moving_numbers(GpuSnapshot& snapshot) {
  for (auto& gpu : snapshot.gpus) {
    gpu.temperature_c.reset();
    gpu.power_w.reset();
    gpu.utilization_percent.reset();
    gpu.ecc_corrected.reset();
    gpu.remapped_corrected.reset();
    gpu.pcie_gen.reset();  // idle GPUs drop speed by design
    gpu.pcie_replays.reset();
    gpu.nvlink_crc.reset();
    gpu.nvlink_replays.reset();
    gpu.nvlink_recoveries.reset();
    gpu.memory_c.reset();
    gpu.throttle.reset();
    gpu.clock_mhz.reset();
    gpu.memory_used_mib.reset();
    gpu.processes.reset();
  }
}

}  // namespace

ObservedHardware read_hardware(const std::string& sys_dir, const GpuSnapshot* gpus, Instant now) {
  ObservedHardware out;
  out.serial = first_line(sys_dir + "/class/dmi/id/product_serial");
  // A port that moves from one network to another meanwhile is in one of the three looks.
  add_cluster_macs(out.nic_macs);
  for (auto& mac : read_macs(sys_dir + "/class/net")) out.nic_macs.push_back(std::move(mac));
  add_cluster_macs(out.nic_macs);
  std::sort(out.nic_macs.begin(), out.nic_macs.end());
  out.nic_macs.erase(std::unique(out.nic_macs.begin(), out.nic_macs.end()), out.nic_macs.end());
  out.network_namespaces = can_make_networks();
  out.memory_bytes = read_memory();
  out.at = now;
  if (gpus == nullptr) return out;
  for (const auto& gpu : gpus->gpus) {
    out.gpus.push_back({static_cast<int>(gpu.index), gpu.uuid.value_or(""), gpu.serial.value_or(""),
                        gpu.name.value_or(""), gpu.pci.value_or("")});
  }
  return out;
}

bool is_same_hardware(const ObservedHardware& a, const ObservedHardware& b) {
  ObservedHardware other = b;
  other.at = a.at;
  return render_json(a) == render_json(other);
}

bool is_same_state(const GpuSnapshot& a, const GpuSnapshot& b) {
  GpuSnapshot left = a;
  GpuSnapshot right = b;
  drop_moving_numbers(left);
  drop_moving_numbers(right);
  return render_json(left) == render_json(right);
}

}  // namespace tundish::agent
