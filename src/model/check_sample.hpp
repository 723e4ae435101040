#pragma once
// All evidence that passive checks judge, gathered at one moment. Stored as it is, it gives the
// same verdicts again.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/active.hpp"
#include "model/counter.hpp"
#include "model/gpu_snapshot.hpp"
#include "model/limit.hpp"
#include "model/node.hpp"
#include "model/node_readings.hpp"
#include "model/pressure.hpp"
#include "model/verbs.hpp"

namespace tundish {

/// A kernel event of this boot, with what the catalogue says of it.
struct SampleEvent {
  std::int64_t seq = 0;
  Provenance provenance = Provenance::kernel;
  KernelEvent event;
  bool in_catalogue = false;
  bool decoy = false;
  std::int64_t repeat = 1;
  Instant first_at = {};
  Instant last_at = {};
  void fields(Fields& f) {
    f(1, "seq", seq, "sequence number of its first record in this boot");
    f(2, "provenance", provenance, "who could have written it");
    f(3, "event", event, "the first line of this kind");
    f(4, "in_catalogue", in_catalogue, "false: a code that the catalogue does not know");
    f(5, "decoy", decoy, "the catalogue's row for this very line never costs a node");
    f(6, "repeat", repeat, "sightings of code and device");
    f(7, "first_at", first_at, "when it was first read");
    f(8, "last_at", last_at, "when it was last read; of a storm within a minute");
  }
};

enum class MountState { absent, answered, failed, hung };
inline std::span<const std::string_view> enum_names(MountState) {
  static constexpr std::string_view names[] = {"absent", "answered", "failed", "hung"};
  return names;
}

/// One export after an attempt to use it.
struct MountProbe {
  std::string target;
  MountState state = MountState::absent;
  std::string type;
  bool read_only = false;
  std::string step;
  std::string error;
  int error_number = 0;
  std::int64_t free_bytes = 0;
  Duration took;
  void fields(Fields& f) {
    f(1, "target", target, "mount point");
    f(2, "state", state, "absent: not in the mount table; hung: no answer within the deadline");
    f(3, "type", type, "file system, from the mount table");
    f(4, "read_only", read_only, "mounted read-only");
    f(5, "step", step, "what failed or hung: stat, list, create, write, read, remove or probe");
    f(6, "error", error, "what the system said");
    f(7, "error_number", error_number, "errno; 0 when there is none");
    f(8, "free_bytes", free_bytes, "free for everybody, when it answered");
    f(9, "took", took, "microseconds of the attempt");
  }
};

struct HcaPort {
  std::string device;
  std::string port;
  std::string state;
  std::string physical_state;
  std::string link_layer = {};
  std::optional<std::int64_t> rate_gbit = {};
  std::vector<int> pkeys = {};
  std::string firmware = {};
  std::string board = {};
  bool has_verbs = false;
  int drops = 0;
  Instant down_since = {};
  void fields(Fields& f) {
    f(1, "device", device, "for example mlx5_0");
    f(2, "port", port, "port number");
    f(3, "state", state, "as the driver prints it, for example 4: ACTIVE");
    f(4, "physical_state", physical_state, "for example 5: LinkUp");
    f(5, "link_layer", link_layer, "InfiniBand or Ethernet");
    f(6, "rate_gbit", rate_gbit, "Gb/s as the driver says, for example 400");
    f(7, "pkeys", pkeys, "partition keys without the membership bit, sorted, 0x7fff left out");
    f(8, "firmware", firmware, "fw_ver of the device");
    f(9, "board", board, "board_id of the device");
    f(10, "has_verbs", has_verbs, "a uverbs device of it exists: programs can open it");
    f(11, "drops", drops, "times in 12 hours that it was down for 25 s and came back");
    f(12, "down_since", down_since, "since when it is down; empty: it is up");
  }
  bool is_active() const { return state.find("ACTIVE") != std::string::npos; }
  /// The link is there and the subnet manager has not activated the port yet: no fault of the node.
  bool waits_for_manager() const {
    return state.find("INIT") != std::string::npos || state.find("ARMED") != std::string::npos;
  }
};

struct CheckSample {
  Instant now;
  Expectation expect;
  std::optional<GpuSnapshot> gpus;
  std::string gpus_fault;
  std::optional<ObservedHardware> hardware;
  std::string hardware_fault;
  std::optional<std::vector<SampleEvent>> events;
  std::string events_fault;
  std::int64_t blind_records = 0;
  std::optional<std::vector<MountProbe>> mounts;
  std::string mounts_fault;
  std::optional<std::vector<HcaPort>> hcas;
  std::string hcas_fault;
  // Added with the passive loop; why one is absent stands in `faults` under its name.
  std::map<std::string, std::string> faults;
  std::vector<Limit> limits;
  std::optional<Nameplate> nameplate;
  std::optional<std::vector<PciReading>> pci;
  std::optional<std::vector<CounterReading>> counters;
  std::optional<std::vector<NetReading>> nets;
  std::optional<std::vector<DiskReading>> disks;
  std::optional<std::vector<MountReading>> mount_table;
  std::optional<std::vector<ArrayReading>> arrays;
  std::optional<std::vector<NvmeReading>> drives;
  std::optional<ProcessCounts> processes;
  std::optional<CpuReading> cpu;
  std::optional<ClockReading> clock;
  std::optional<std::vector<ServiceReading>> services;
  std::optional<std::vector<SensorReading>> sensors;
  std::optional<std::vector<StorageClient>> storage;
  std::optional<std::vector<std::string>> modules;
  std::optional<Pressure> pressure;
  std::optional<std::vector<Verdict>> foreign;
  std::optional<std::vector<ToolRun>> active;
  PairSide pair = {};
  std::optional<std::vector<LeakDetector>> leaks = {};
  void fields(Fields& f);
  std::string fault_of(std::string_view what) const {
    const auto it = faults.find(std::string(what));
    return it == faults.end() ? std::string() : it->second;
  }
};

inline void CheckSample::fields(Fields& f) {
  f(1, "now", now, "when it was gathered");
  f(2, "expect", expect, "what the inventory says");
  f(3, "gpus", gpus, "what the driver says");
  f(4, "gpus_fault", gpus_fault, "why that is absent; a hung driver is told here");
  f(5, "hardware", hardware, "serial and MACs");
  f(6, "hardware_fault", hardware_fault, "why that is absent");
  f(7, "events", events, "kernel events since boot, or since the reset of their GPU");
  f(8, "events_fault", events_fault, "why they are absent: no log, no catalogue");
  f(9, "blind_records", blind_records, "records of this boot that nobody read");
  f(10, "mounts", mounts, "every export that this node is to have");
  f(11, "mounts_fault", mounts_fault, "why they are absent");
  f(12, "hcas", hcas, "every port of every HCA");
  f(13, "hcas_fault", hcas_fault, "why they are absent");
  f(14, "faults", faults, "member -> why it is absent; a hang is told here");
  f(15, "limits", limits, "thresholds for this node's GPU model and driver");
  f(16, "nameplate", nameplate, "of this node's GPU model");
  f(17, "pci", pci, "GPUs, HCAs and NVMe drives on the bus");
  f(18, "counters", counters, "every counter with its growth");
  f(19, "nets", nets, "network interfaces");
  f(20, "disks", disks, "space of local file systems");
  f(21, "mount_table", mount_table, "what is mounted");
  f(22, "arrays", arrays, "software RAID");
  f(23, "drives", drives, "NVMe controllers");
  f(24, "processes", processes, "counts, and tasks that hang in the kernel");
  f(25, "cpu", cpu, "CPUs and memory");
  f(26, "clock", clock, "adjtimex");
  f(27, "services", services, "daemons that the inventory wants, and those found");
  f(28, "sensors", sensors, "temperatures of hwmon");
  f(29, "storage", storage, "servers that this node is a client of");
  f(30, "modules", modules, "kernel modules loaded");
  f(31, "pressure", pressure, "what waits, this gathering included");
  f(32, "foreign", foreign, "verdicts of other programs that run here, with their source");
  f(33, "active", active, "programs that active checks ran");
  f(34, "pair", pair, "the other node of a check that two make together");
  f(35, "leaks", leaks, "detectors of leaks as the BMC shows them: tundishd reads it, no agent");
}

}  // namespace tundish
