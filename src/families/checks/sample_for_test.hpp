#pragma once
// A healthy node of two GPUs and one HCA, with the shipped limits: tests break one thing of it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "codec/limits.hpp"
#include "families/checks/check.hpp"

namespace tundish::checks {

inline std::string read_catalog(const std::string& name) {
  std::ifstream file(std::string(TUNDISH_SOURCE_DIR) + "/catalog/" + name);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

inline GpuReading whole_gpu(int index) {
  GpuReading gpu;
  gpu.index = index;
  gpu.uuid = "GPU-" + std::to_string(index);
  gpu.serial = "S" + std::to_string(index);
  gpu.pci = "0000:" + std::to_string(index) + "b:00";
  gpu.lost = false;
  gpu.ecc_uncorrected = gpu.ecc_uncorrected_life = gpu.ecc_corrected = 0;
  gpu.remap_pending = gpu.remap_failure = false;
  gpu.remapped_uncorrected = gpu.remapped_corrected = 0;
  gpu.recovery_action = 0;
  gpu.inforom_valid = true;
  gpu.nvlinks.assign(18, 1);
  gpu.fabric_state = 3;
  gpu.fabric_status = 0;
  gpu.fabric_uuid = "00";
  gpu.fabric_clique = 0;
  gpu.pcie_gen = 5;
  gpu.pcie_width = 16;
  gpu.temperature_c = 40;
  gpu.slowdown_c = 87;
  gpu.memory_c = 45;
  gpu.throttle = 0;
  gpu.clock_mhz = gpu.clock_most_mhz = 1980;
  gpu.power_w = 71;
  gpu.power_limit_w = 700;
  gpu.utilization_percent = 0;
  gpu.persistence = gpu.ecc_on = true;
  gpu.mig_on = false;
  gpu.gsp_firmware = "570.124";
  gpu.memory_mib = 81559;
  gpu.memory_used_mib = 500;
  gpu.processes.emplace();
  return gpu;
}

inline CounterReading counter_of(const std::string& group, const std::string& device,
                                 const std::string& name, std::int64_t grown = 0) {
  CounterReading out{group, device, name, grown, grown, grown, hours(2), 0};
  return out;
}

inline void add_parts(CheckSample& sample) {
  sample.pci = std::vector<PciReading>{
      {"0000:0b:00", "10de", "2330", "030200", false, 2500, 32000, 16, 16, false},
      {"0000:1b:00", "10de", "2330", "030200", false, 32000, 32000, 16, 16, false},
      {"0000:5e:00", "15b3", "1021", "020700", false, 32000, 32000, 16, 16, std::nullopt}};
  sample.counters.emplace();
  for (const char* const device : {"0000:0b:00", "0000:1b:00"}) {
    for (const char* const name : {"fatal", "nonfatal", "correctable"}) {
      sample.counters->push_back(counter_of("aer", device, name));
    }
    for (const char* const name : {"crc", "replays", "recoveries"}) {
      sample.counters->push_back(counter_of("nvlink", device, name));
    }
    sample.counters->push_back(counter_of("pcie", device, "replays"));
    sample.counters->push_back(counter_of("ecc", device, "corrected"));
  }
  for (const char* const name : {"link_downed", "symbol_error", "port_rcv_errors"}) {
    sample.counters->push_back(counter_of("ib", "mlx5_0/1", name));
  }
  sample.counters->push_back(counter_of("net", "eth0", "carrier_changes"));
  sample.counters->push_back(counter_of("edac", "mc0", "ce_count"));
  sample.counters->push_back(counter_of("edac", "mc0", "ue_count"));
  HcaPort port{"mlx5_0", "1", "4: ACTIVE", "5: LinkUp"};
  port.link_layer = "InfiniBand";
  port.rate_gbit = 400;
  port.pkeys = {0x101};
  port.firmware = "28.39";
  port.board = "MT_1";
  port.has_verbs = true;
  sample.hcas = std::vector<HcaPort>{port};
  sample.nets = std::vector<NetReading>{{"eth0", "02:00:00:00:00:0a", "up", 25000}};
}

inline void add_system(CheckSample& sample) {
  sample.disks = std::vector<DiskReading>{{"/", 100000, 60000, 1000, 900, ""}};
  sample.mount_table = std::vector<MountReading>{{"/data", "nfs4", "srv:/acme", false}};
  sample.arrays = std::vector<ArrayReading>{{"md0", "clean", 0, "idle"}};
  sample.drives = std::vector<NvmeReading>{{"nvme0", "live", 0, 100, 10, 3, 0}};
  sample.processes.emplace();
  sample.processes->files = 1000;
  sample.processes->files_most = 100000;
  sample.processes->tasks = 500;
  sample.processes->tasks_most = 32768;
  sample.cpu = CpuReading{64, 2, 2, 1990};
  sample.clock = ClockReading{true, 500, 10};
  sample.services = std::vector<ServiceReading>{{"slurmd", true, "S"}};
  sample.sensors = std::vector<SensorReading>{{"coretemp", "Package id 0", 50, 100}};
  sample.storage.emplace();
  sample.modules = std::vector<std::string>{"nvidia", "nvidia_peermem"};
  sample.pressure.emplace();
  sample.pressure->cpu_some = sample.pressure->io_full = sample.pressure->memory_full = 100;
  sample.pressure->run_queue_wait = 50;
  sample.pressure->steal = 0;
}

inline CheckSample whole_node() {
  CheckSample sample;
  sample.now = Instant{hours(10000).us};
  auto& expect = sample.expect;
  expect.gpu_count = 2;
  expect.gpu_model = "NVIDIA H100 80GB HBM3";
  expect.gpus = {{"GPU-0", "S0"}, {"GPU-1", "S1"}};
  expect.nic_macs = {"02:00:00:00:00:0A"};
  expect.hca_count = 1;
  expect.hca_gbit = 400;
  expect.cpus = 64;
  expect.sockets = 2;
  expect.memory_mib = 2000;
  expect.pkeys = std::vector<int>{0x101};
  expect.services = {"slurmd"};
  expect.exports = {{"srv:/acme", "/data", "nfs"}};
  expect.driver_version = "570.124";
  sample.gpus = GpuSnapshot{"570.124", {whole_gpu(0), whole_gpu(1)}};
  sample.hardware.emplace();
  sample.hardware->nic_macs = {"02:00:00:00:00:0a"};
  sample.events.emplace();
  sample.mounts.emplace();
  add_parts(sample);
  add_system(sample);
  const auto plates = load_nameplates(read_catalog("nameplates.yaml"), "nameplates.yaml");
  EXPECT_TRUE(plates);
  const auto limits = load_thresholds(read_catalog("thresholds.yaml"), "thresholds.yaml", *plates);
  EXPECT_TRUE(limits);
  sample.nameplate = *plates->find("h100_sxm");
  sample.limits = limits_for(*limits, "h100_sxm", "570.124");
  return sample;
}

inline CounterReading& counter_in(CheckSample& sample, std::string_view group,
                                  std::string_view name) {
  for (auto& counter : *sample.counters) {
    if (counter.group == group && counter.name == name) return counter;
  }
  ADD_FAILURE() << "no counter " << group << " " << name;
  return sample.counters->front();
}

inline SampleEvent event_of(const CheckSample& sample, KernelEventKind kind,
                            const std::string& subject = "") {
  SampleEvent out;
  out.event.kind = kind;
  out.event.subject = subject;
  out.first_at = out.last_at = sample.now - minutes(5);
  return out;
}

/// The worst state that the check gives.
inline VerdictState worst_of(const Verdicts& verdicts) {
  VerdictState out = VerdictState::ok;
  for (const auto& verdict : verdicts) {
    const auto rank = [](VerdictState s) {
      return s == VerdictState::fail ? 3 : s == VerdictState::warn ? 2 : s == VerdictState::unknown;
    };
    if (rank(verdict.state) > rank(out)) out = verdict.state;
  }
  return out;
}

}  // namespace tundish::checks
