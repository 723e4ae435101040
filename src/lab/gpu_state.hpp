#pragma once
// The simulated GPUs of one node: a text file that the fake driver library reads at every call.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tundish::lab {

/// One line of the file, `key=value` with a space between; a space inside a value is written `_`.
/// Numbers of -1 read as "not supported" through the library.
struct GpuState {
  std::int64_t index = 0;
  std::string uuid;
  std::string serial;
  std::string name;
  std::string pci;        ///< domain:bus:device.function
  std::int64_t lost = 0;  ///< fallen off the bus, yet counted until the next boot
  std::int64_t gsp = 0;   ///< its firmware hangs: telemetry answers "unknown error"
  std::int64_t ecc_uncorrected = 0;
  std::int64_t ecc_corrected = 0;
  std::int64_t ecc_uncorrected_aggregate = 0;  ///< survives a boot, as the InfoROM does
  std::int64_t remapped = 0;                   ///< rows remapped in its life
  std::int64_t remap_pending = 0;
  std::int64_t remap_failure = 0;    ///< survives a boot
  std::int64_t recovery_action = 0;  ///< NVML field 230
  std::int64_t temp = 34;            ///< degrees Celsius
  std::int64_t power = 71;           ///< watts
  std::int64_t power_limit = 700;    ///< watts
  std::int64_t util = 0;             ///< percent
  std::int64_t mem_used = 0;         ///< MiB
  std::int64_t mem_total = 81559;    ///< MiB
  std::int64_t clock = 1980;         ///< MHz
  std::int64_t clock_lost = 0;       ///< MHz that a fault holds back until a reset or boot
  std::int64_t throttle = 0;         ///< clocks event reasons, a bit mask
  std::int64_t nvlinks = 18;         ///< links that are up, from link 0
  std::int64_t nvlinks_lost = 0;     ///< links that a fault took down until a reset or boot
  std::int64_t nvlink_errors = 0;    ///< CRC errors on link 0
  std::int64_t fabric_state = 3;     ///< of its registration with the NVLink fabric; 3: completed
  std::int64_t fabric_clique = 0;    ///< above 0: of an NVLink domain beyond the node
  std::int64_t pcie_gen = 5;
  std::int64_t pcie_width = 16;
  std::int64_t pcie_replays = 0;
  std::int64_t wrong_sums = 0;  ///< sums that each launch of a matrix kernel gets wrong, silently
  std::int64_t hang_ms = 0;     ///< every call about this GPU takes so long; ends when cleared
  std::string pids;             ///< compute processes, comma between; they forbid a reset
  std::string sticky;           ///< faults that no reset or boot cures, comma between
};

struct GpuStates {
  std::string driver = "550.90.07";  ///< an own first line, `driver=...`
  std::vector<GpuState> gpus;
};

enum class GpuFault {
  lost,
  ecc_uncorrected,
  gsp,
  row_remap_failure,
  row_remap_pending,
  nvlink_down,
  throttle,    ///< held at a low clock for heat
  fabric_lost,  ///< it is registered with the NVLink fabric no more
  driver_hang  ///< every question hangs, until a boot
};
enum class Sticky { no, yes };

/// Which simulated node; uuids, serials and PCI addresses follow from it and the GPU's index.
struct GpuInventory {
  int node = 0;
  int gpus = 8;
  std::string name = "NVIDIA H100 80GB HBM3";
  int clique = 0;  ///< of an NVLink domain beyond the node; 0: none
};

GpuStates make_gpu_states(const GpuInventory& inventory);
Result<GpuStates> parse_gpu_states(std::string_view text);
std::string render_gpu_states(const GpuStates& states);
Result<GpuStates> load_gpu_states(const std::string& file);
/// Replaces the file in one step: bind-mount its folder into the node, not the file.
Result<> save_gpu_states(const std::string& file, const GpuStates& states);

Result<> apply_fault(const std::string& file, int gpu, GpuFault fault, Sticky sticky);
/// What a boot does: lost GPUs, hung firmware and volatile counters are gone, sticky ones back.
Result<> clear_on_boot(const std::string& file);
/// `which` is an index, a uuid or a PCI address in any spelling. A lost GPU cannot be reset
/// (`unavailable`), one with processes neither (`conflict`).
Result<> reset_gpu(const std::string& file, std::string_view which);
/// The GPU that `which` names.
Result<GpuState> find_gpu(const GpuStates& states, std::string_view which);
/// An XID for whoever waits in nvmlEventSetWait_v2; the kernel log line is the caller's to write.
Result<> append_xid_event(const std::string& file, int gpu, int xid);

}  // namespace tundish::lab
