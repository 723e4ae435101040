// Tables of samples: what each check of GPUs and links says when one thing of a good node breaks.
#include "families/checks/sample_for_test.hpp"

namespace tundish::checks {
namespace {

using S = VerdictState;

struct Row {
  const char* check;
  const char* what;
  S expected;
  void (*change)(CheckSample&);
};

GpuReading& gpu(CheckSample& sample) { return sample.gpus->gpus[1]; }

const Row rows[] = {
    {"gpu_pci", "one gone", S::fail, [](CheckSample& s) { s.pci->erase(s.pci->begin()); }},
    {"gpu_pci", "reads ones", S::fail, [](CheckSample& s) { s.pci->at(0).config_gone = true; }},
    {"gpu_pci", "no bus", S::unknown, [](CheckSample& s) { s.pci.reset(); }},
    {"ecc_life", "one", S::warn, [](CheckSample& s) { gpu(s).ecc_uncorrected_life = 1; }},
    {"ecc_life", "not told", S::unknown,
     [](CheckSample& s) { gpu(s).ecc_uncorrected_life.reset(); }},
    {"ecc_rate", "storm of NVSentinel #1748", S::fail,
     [](CheckSample& s) { counter_in(s, "ecc", "corrected").per_minute = 17657 * 60; }},
    {"ecc_rate", "10 a second", S::warn,
     [](CheckSample& s) { counter_in(s, "ecc", "corrected").per_minute = 601; }},
    {"ecc_rate", "great total, no growth", S::ok,
     [](CheckSample& s) { counter_in(s, "ecc", "corrected").total = 30000000; }},
    {"ecc_rate", "read once", S::unknown,
     [](CheckSample& s) { counter_in(s, "ecc", "corrected").grown.reset(); }},
    {"row_remap", "failed", S::fail, [](CheckSample& s) { gpu(s).remap_failure = true; }},
    {"row_remap", "pending", S::warn, [](CheckSample& s) { gpu(s).remap_pending = true; }},
    {"row_remap", "511 rows", S::ok, [](CheckSample& s) { gpu(s).remapped_uncorrected = 511; }},
    {"row_remap", "512 rows", S::warn, [](CheckSample& s) { gpu(s).remapped_uncorrected = 512; }},
    {"row_remap", "not told", S::unknown, [](CheckSample& s) { gpu(s).remap_failure.reset(); }},
    {"retired_pages", "63", S::fail, [](CheckSample& s) { gpu(s).retired_pages = 63; }},
    {"retired_pages", "pending", S::warn,
     [](CheckSample& s) { gpu(s).retired_pages = 1; gpu(s).retired_pending = true; }},
    {"retired_pages", "neither pages nor rows", S::unknown,
     [](CheckSample& s) { gpu(s).remap_failure.reset(); }},
    {"recovery_action", "snapshot 5: IMEX", S::fail,
     [](CheckSample& s) { gpu(s).recovery_action = 5; }},
    {"recovery_action", "only the log says it", S::fail,
     [](CheckSample& s) {
       gpu(s).recovery_action.reset();
       auto seen = event_of(s, KernelEventKind::xid);
       seen.event.code = 154;
       seen.event.device = "0000:1b:00";
       seen.event.recovery_action = 1;
       s.events->push_back(seen);
     }},
    {"recovery_action", "the log of user space", S::unknown,
     [](CheckSample& s) {
       gpu(s).recovery_action.reset();
       auto seen = event_of(s, KernelEventKind::xid);
       seen.provenance = Provenance::userspace;
       seen.event.device = "0000:1b:00";
       seen.event.recovery_action = 1;
       s.events->push_back(seen);
     }},
    {"inforom", "corrupt", S::warn, [](CheckSample& s) { gpu(s).inforom_valid = false; }},
    {"inforom", "not told", S::unknown, [](CheckSample& s) { gpu(s).inforom_valid.reset(); }},
    {"nvlink_state", "one link down", S::fail, [](CheckSample& s) { gpu(s).nvlinks[3] = 0; }},
    {"nvlink_state", "PCIe card with 12 of 18", S::ok,
     [](CheckSample& s) {
       s.nameplate->nvlinks = 12;
       for (auto& one : s.gpus->gpus) one.nvlinks.assign(12, 1);
     }},
    {"nvlink_state", "not told", S::unknown, [](CheckSample& s) { gpu(s).nvlinks.clear(); }},
    {"nvlink_state", "no nameplate", S::unknown, [](CheckSample& s) { s.nameplate.reset(); }},
    {"nvlink_errors", "a replay", S::fail,
     [](CheckSample& s) { counter_in(s, "nvlink", "replays").grown = 1; }},
    {"nvlink_errors", "CRC 100/s", S::fail,
     [](CheckSample& s) { counter_in(s, "nvlink", "crc").per_minute = 6000; }},
    {"nvlink_errors", "CRC", S::warn,
     [](CheckSample& s) { counter_in(s, "nvlink", "crc").per_minute = 1; }},
    {"nvswitch_fabric", "in progress", S::warn, [](CheckSample& s) { gpu(s).fabric_state = 2; }},
    {"nvswitch_fabric", "not started", S::fail, [](CheckSample& s) { gpu(s).fabric_state = 1; }},
    {"nvswitch_fabric", "failed", S::fail, [](CheckSample& s) { gpu(s).fabric_status = 999; }},
    {"nvswitch_fabric", "clique of no cluster", S::fail,
     [](CheckSample& s) { gpu(s).fabric_clique = 7; }},
    {"nvswitch_fabric", "not told", S::unknown,
     [](CheckSample& s) { gpu(s).fabric_state.reset(); }},
    {"imex", "wide domain, no daemon", S::fail, [](CheckSample& s) { gpu(s).fabric_clique = 7; }},
    {"imex", "wide domain, daemon", S::ok,
     [](CheckSample& s) {
       gpu(s).fabric_clique = 7;
       s.services->push_back({"nvidia-imex", true, "S"});
     }},
    {"pcie_link", "8 of 16 lanes", S::fail, [](CheckSample& s) { s.pci->at(1).width = 8; }},
    {"pcie_link", "idle and slow", S::ok, [](CheckSample& s) { s.pci->at(0).speed_mt = 2500; }},
    {"pcie_link", "busy and slow", S::warn,
     [](CheckSample& s) {
       s.pci->at(1).speed_mt = 8000;
       gpu(s).utilization_percent = 90;
     }},
    {"pcie_link", "HCA slow", S::warn, [](CheckSample& s) { s.pci->at(2).speed_mt = 16000; }},
    {"pcie_link", "not told", S::unknown, [](CheckSample& s) { s.pci->at(2).width.reset(); }},
    {"pcie_replay", "at the limit of gen5 x16", S::ok,
     [](CheckSample& s) { counter_in(s, "pcie", "replays").per_minute = 31; }},
    {"pcie_replay", "above it", S::warn,
     [](CheckSample& s) { counter_in(s, "pcie", "replays").per_minute = 32; }},
    {"pcie_replay", "generation not told", S::unknown,
     [](CheckSample& s) { s.gpus->gpus[0].pcie_gen.reset(); }},
    {"pcie_aer", "fatal", S::fail, [](CheckSample& s) { counter_in(s, "aer", "fatal").grown = 1; }},
    {"pcie_aer", "non-fatal", S::warn,
     [](CheckSample& s) { counter_in(s, "aer", "nonfatal").grown = 1; }},
    {"pcie_aer", "many corrected", S::warn,
     [](CheckSample& s) { counter_in(s, "aer", "correctable").per_minute = 61; }},
    {"gpu_temperature", "near slowdown", S::warn,
     [](CheckSample& s) { gpu(s).temperature_c = 84; }},
    {"gpu_temperature", "hot memory", S::warn, [](CheckSample& s) { gpu(s).memory_c = 96; }},
    {"gpu_temperature", "no threshold told", S::ok,
     [](CheckSample& s) { gpu(s).slowdown_c.reset(); }},
    {"gpu_temperature", "not told", S::unknown,
     [](CheckSample& s) { gpu(s).temperature_c.reset(); }},
    {"gpu_throttle", "heat", S::warn, [](CheckSample& s) { gpu(s).throttle = 0x40; }},
    {"gpu_throttle", "idle is no reason", S::ok, [](CheckSample& s) { gpu(s).throttle = 0x1; }},
    {"gpu_throttle", "not told", S::unknown, [](CheckSample& s) { gpu(s).throttle.reset(); }},
    {"gpu_power", "3 W", S::warn, [](CheckSample& s) { gpu(s).power_w = 3; }},
    {"gpu_power", "1600 W", S::warn, [](CheckSample& s) { gpu(s).power_w = 1600; }},
    {"gpu_power", "capped", S::warn, [](CheckSample& s) { gpu(s).power_limit_w = 400; }},
    {"gpu_power", "not told", S::unknown, [](CheckSample& s) { gpu(s).power_w.reset(); }},
    {"gpu_clocks", "busy and slow", S::warn,
     [](CheckSample& s) { gpu(s).utilization_percent = 99; gpu(s).clock_mhz = 600; }},
    {"gpu_clocks", "idle and slow", S::ok, [](CheckSample& s) { gpu(s).clock_mhz = 345; }},
    {"gpu_clocks", "not told", S::unknown, [](CheckSample& s) { gpu(s).clock_mhz.reset(); }},
    {"gpu_modes", "ECC off", S::fail, [](CheckSample& s) { gpu(s).ecc_on = false; }},
    {"gpu_modes", "persistence off", S::warn, [](CheckSample& s) { gpu(s).persistence = false; }},
    {"gpu_modes", "MIG differs", S::warn, [](CheckSample& s) { gpu(s).mig_on = true; }},
    {"gpu_modes", "not told", S::unknown, [](CheckSample& s) { gpu(s).ecc_on.reset(); }},
    {"gpu_driver", "another", S::warn, [](CheckSample& s) { s.expect.driver_version = "580.1"; }},
    {"gpu_driver", "GSP of another", S::warn, [](CheckSample& s) { gpu(s).gsp_firmware = "550"; }},
    {"gpu_driver", "none declared", S::unknown,
     [](CheckSample& s) { s.expect.driver_version.clear(); }},
    {"pcie_acs", "redirects", S::warn, [](CheckSample& s) { s.pci->at(0).acs_redirects = true; }},
    {"pcie_acs", "not told", S::unknown,
     [](CheckSample& s) { for (auto& one : *s.pci) one.acs_redirects.reset(); }},
    {"peermem", "not loaded", S::unknown, [](CheckSample& s) { s.modules = {{"nvidia"}}; }},
    {"peermem", "no list", S::unknown, [](CheckSample& s) { s.modules.reset(); }},
    {"gpu_leftover", "a process", S::warn, [](CheckSample& s) { gpu(s).processes = {{42}}; }},
    {"gpu_leftover", "in use", S::ok,
     [](CheckSample& s) { gpu(s).processes = {{42}}; s.expect.in_use = true; }},
    {"gpu_leftover", "memory", S::warn, [](CheckSample& s) { gpu(s).memory_used_mib = 3000; }},
    {"gpu_leftover", "not told", S::unknown, [](CheckSample& s) { gpu(s).processes.reset(); }},
    {"stalled_job", "busy at 71 W", S::warn,
     [](CheckSample& s) { gpu(s).utilization_percent = 100; }},
    {"stalled_job", "busy at 600 W", S::ok,
     [](CheckSample& s) { gpu(s).utilization_percent = 100; gpu(s).power_w = 600; }},
    {"stalled_job", "no nameplate", S::unknown, [](CheckSample& s) { s.nameplate.reset(); }},
};

TEST(PassiveGpu, EveryCheckIsOkOnAWholeNode) {
  const CheckSample sample = whole_node();
  for (const Check* check : tundish::all_checks()) {
    if (check->kind != CheckKind::passive || check->eye != Eye::agent) continue;
    for (const auto& verdict : run_check(*check, sample)) {
      EXPECT_EQ(verdict.state, S::ok)
          << verdict.check << ": " << verdict.reason << ", " << verdict.evidence;
    }
  }
}

TEST(PassiveGpu, Tables) {
  for (const auto& row : rows) {
    CheckSample sample = whole_node();
    row.change(sample);
    const auto verdicts = judge_all(sample, {row.check});
    ASSERT_FALSE(verdicts.empty());
    EXPECT_EQ(worst_of(verdicts), row.expected)
        << row.check << ", " << row.what << ": " << verdicts[0].reason << verdicts[0].evidence;
    EXPECT_FALSE(verdicts[0].reason.empty()) << row.check << ", " << row.what;
  }
}

// gpud #604: after a loss the index of every later GPU changes. Verdicts name the PCI address.
TEST(PassiveGpu, ADeviceIsNamedByItsAddress) {
  CheckSample sample = whole_node();
  sample.gpus->gpus.erase(sample.gpus->gpus.begin());
  sample.gpus->gpus[0].index = 0;
  sample.gpus->gpus[0].remap_failure = true;
  EXPECT_EQ(judge_all(sample, {"row_remap"})[0].device, "0000:1b:00");
}

// Soperator tags a node with 7 of 8 GPUs as one without GPUs and then checks none.
TEST(PassiveGpu, ALostGpuSwitchesNoCheckOff) {
  CheckSample sample = whole_node();
  sample.gpus->gpus[0].lost = true;
  for (const char* const name : {"row_remap", "nvlink_state", "gpu_modes", "inforom"}) {
    EXPECT_EQ(worst_of(judge_all(sample, {name})), S::unknown) << name;
  }
  sample.gpus->gpus[1].remap_failure = true;
  EXPECT_EQ(worst_of(judge_all(sample, {"row_remap"})), S::fail);
}

TEST(PassiveGpu, WithoutLimitsNothingPasses) {
  CheckSample sample = whole_node();
  sample.limits.clear();
  for (const char* const name : {"ecc_life", "gpu_temperature", "disk_space", "pressure", "oom"}) {
    if (std::string_view(name) == "oom") {
      sample.events->push_back(event_of(sample, KernelEventKind::oom));
    }
    EXPECT_EQ(worst_of(judge_all(sample, {name})), S::unknown) << name;
  }
}

// The same sample, stored and read again, gives the same verdicts.
TEST(PassiveGpu, AMovingNumberIsNoNews) {
  CheckSample sample = whole_node();
  gpu(sample).temperature_c = 84;
  const auto before = judge_all(sample, {"gpu_temperature"});
  gpu(sample).temperature_c = 85;
  const auto after = judge_all(sample, {"gpu_temperature"});
  EXPECT_EQ(before[0].reason, after[0].reason);
  EXPECT_NE(before[0].evidence, after[0].evidence);
}

}  // namespace
}  // namespace tundish::checks
