#pragma once
// All evidence that passive checks judge, gathered at one moment. Stored as it is, it gives the
// same verdicts again.
#include <optional>
#include <string>
#include <vector>

#include "model/gpu_snapshot.hpp"
#include "model/node.hpp"
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
  void fields(Fields& f) {
    f(1, "seq", seq, "sequence number of its first record in this boot");
    f(2, "provenance", provenance, "who could have written it");
    f(3, "event", event, "the first line of this kind");
    f(4, "in_catalogue", in_catalogue, "false: a code that the catalogue does not know");
    f(5, "decoy", decoy, "the catalogue's row for this very line never costs a node");
    f(6, "repeat", repeat, "sightings of code and device");
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
  void fields(Fields& f) {
    f(1, "device", device, "for example mlx5_0");
    f(2, "port", port, "port number");
    f(3, "state", state, "as the driver prints it, for example 4: ACTIVE");
    f(4, "physical_state", physical_state, "for example 5: LinkUp");
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
  void fields(Fields& f) {
    f(1, "now", now, "when it was gathered");
    f(2, "expect", expect, "what the inventory says");
    f(3, "gpus", gpus, "what the driver says");
    f(4, "gpus_fault", gpus_fault, "why that is absent; a hung driver is told here");
    f(5, "hardware", hardware, "serial and MACs");
    f(6, "hardware_fault", hardware_fault, "why that is absent");
    f(7, "events", events, "GPU events since boot, or since the reset of their GPU");
    f(8, "events_fault", events_fault, "why they are absent: no log, no catalogue");
    f(9, "blind_records", blind_records, "records of this boot that nobody read");
    f(10, "mounts", mounts, "every export that this node is to have");
    f(11, "mounts_fault", mounts_fault, "why they are absent");
    f(12, "hcas", hcas, "every port of every HCA");
    f(13, "hcas_fault", hcas_fault, "why they are absent");
  }
};

}  // namespace tundish
