#include "lab/gpu_state.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

#include "base/text.hpp"
#include "model/pci_address.hpp"

namespace tundish::lab {
namespace {

struct Key {
  std::string_view name;
  std::int64_t GpuState::*number = nullptr;
  std::string GpuState::*text = nullptr;
};

// The one list of keys: parsing and rendering walk it.
constexpr std::array keys = {
    Key{"index", &GpuState::index}, Key{"uuid", nullptr, &GpuState::uuid},
    Key{"serial", nullptr, &GpuState::serial}, Key{"name", nullptr, &GpuState::name},
    Key{"pci", nullptr, &GpuState::pci}, Key{"lost", &GpuState::lost}, Key{"gsp", &GpuState::gsp},
    Key{"ecc_uncorrected", &GpuState::ecc_uncorrected},
    Key{"ecc_corrected", &GpuState::ecc_corrected},
    Key{"ecc_uncorrected_aggregate", &GpuState::ecc_uncorrected_aggregate},
    Key{"remapped", &GpuState::remapped}, Key{"remap_pending", &GpuState::remap_pending},
    Key{"remap_failure", &GpuState::remap_failure},
    Key{"recovery_action", &GpuState::recovery_action}, Key{"temp", &GpuState::temp},
    Key{"power", &GpuState::power}, Key{"power_limit", &GpuState::power_limit},
    Key{"util", &GpuState::util}, Key{"mem_used", &GpuState::mem_used},
    Key{"mem_total", &GpuState::mem_total}, Key{"clock", &GpuState::clock},
    Key{"clock_lost", &GpuState::clock_lost}, Key{"nvlinks_lost", &GpuState::nvlinks_lost},
    Key{"throttle", &GpuState::throttle}, Key{"nvlinks", &GpuState::nvlinks},
    Key{"nvlink_errors", &GpuState::nvlink_errors}, Key{"pcie_gen", &GpuState::pcie_gen},
    Key{"pcie_width", &GpuState::pcie_width}, Key{"pcie_replays", &GpuState::pcie_replays},
    Key{"fabric_state", &GpuState::fabric_state}, Key{"fabric_clique", &GpuState::fabric_clique},
    Key{"wrong_sums", &GpuState::wrong_sums},
    Key{"hang_ms", &GpuState::hang_ms}, Key{"pids", nullptr, &GpuState::pids},
    Key{"sticky", nullptr, &GpuState::sticky}};

std::string with_replaced(std::string text, char from, char to) {
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

Result<> set_key(GpuState& gpu, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const auto key = std::find_if(keys.begin(), keys.end(), [&](auto& k) { return k.name == name; });
  if (equals == std::string::npos || key == keys.end()) {
    return make_error(Code::corrupt, "GPU state has no key '" + word + "'");
  }
  const std::string value = word.substr(equals + 1);
  if (key->text != nullptr) {
    gpu.*(key->text) = with_replaced(value, '_', ' ');
    return {};
  }
  const auto number = parse_integer(value);
  if (!number) return make_error(Code::corrupt, "GPU state '" + word + "' is not a number");
  gpu.*(key->number) = *number;
  return {};
}

std::string printed(const char* format, int first, int second) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, first, second);
  return text.data();
}

/// Holds the state file's lock: the lab and a node's nvidia-smi may change it at the same time.
class StateLock {
 public:
  explicit StateLock(const std::string& file)
      : fd_(open((file + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    if (fd_ >= 0) flock(fd_, LOCK_EX);
  }
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;
  ~StateLock() {
    if (fd_ >= 0) close(fd_);
  }

 private:
  int fd_;
};

Result<> change(const std::string& file, const std::function<Result<>(GpuStates&)>& edit) {
  const StateLock lock(file);
  GpuStates states = TRY(load_gpu_states(file));
  TRY_VOID(edit(states));
  return save_gpu_states(file, states);
}

struct FaultName {
  GpuFault fault;
  const char* name;
};
constexpr std::array fault_names = {FaultName{GpuFault::lost, "lost"},
                                    FaultName{GpuFault::ecc_uncorrected, "ecc-uncorrected"},
                                    FaultName{GpuFault::gsp, "gsp"},
                                    FaultName{GpuFault::row_remap_failure, "row-remap-failure"},
                                    FaultName{GpuFault::row_remap_pending, "row-remap-pending"},
                                    FaultName{GpuFault::nvlink_down, "nvlink-down"},
                                    FaultName{GpuFault::throttle, "throttle"},
                                    FaultName{GpuFault::fabric_lost, "fabric-lost"},
                                    FaultName{GpuFault::driver_hang, "driver-hang"}};

/// Clocks event reasons. Source: nvml.h, nvmlClocksEventReasonHwThermalSlowdown; checked 2026-11
constexpr std::int64_t hw_thermal_slowdown = 0x40;
/// nvmlGpuFabricState. Source: nvml.h 12, NVML_GPU_FABRIC_STATE_*; checked 2026-11
constexpr std::int64_t not_registered = 1, registered = 3;
constexpr std::int64_t slow_clock = 345;  ///< MHz
constexpr std::int64_t for_ever_ms = 24 * 3600 * 1000;

void break_gpu(GpuState& gpu, GpuFault fault) {
  switch (fault) {
    case GpuFault::lost:
      gpu.lost = 1;
      return;
    case GpuFault::ecc_uncorrected:
      ++gpu.ecc_uncorrected;
      ++gpu.ecc_uncorrected_aggregate;
      gpu.remap_pending = 1;
      gpu.recovery_action = 1;
      return;
    case GpuFault::gsp:
      gpu.gsp = 1;
      gpu.recovery_action = 1;
      return;
    case GpuFault::row_remap_failure:
      ++gpu.ecc_uncorrected;
      ++gpu.ecc_uncorrected_aggregate;
      gpu.remap_failure = 1;
      gpu.recovery_action = 1;
      return;
    case GpuFault::row_remap_pending:
      gpu.remap_pending = 1;
      gpu.recovery_action = 1;
      return;
    case GpuFault::nvlink_down:
      if (gpu.nvlinks > 0) {
        --gpu.nvlinks;
        ++gpu.nvlinks_lost;
      }
      gpu.recovery_action = 1;
      return;
    case GpuFault::throttle:
      if (gpu.clock > slow_clock) {
        gpu.clock_lost += gpu.clock - slow_clock;
        gpu.clock = slow_clock;
      }
      gpu.throttle |= hw_thermal_slowdown;
      return;
    case GpuFault::fabric_lost:
      gpu.fabric_state = not_registered;
      return;
    case GpuFault::driver_hang:
      gpu.hang_ms = for_ever_ms;
      return;
  }
}

// A reset of the GPU, which every boot includes: pending remaps take effect, sticky faults return.
void restart_gpu(GpuState& gpu) {
  gpu.remapped += gpu.remap_pending;
  gpu.gsp = gpu.ecc_uncorrected = gpu.ecc_corrected = gpu.remap_pending = gpu.recovery_action = 0;
  gpu.fabric_state = registered;
  gpu.nvlinks += std::exchange(gpu.nvlinks_lost, 0);
  if (gpu.clock_lost > 0) gpu.throttle &= ~hw_thermal_slowdown;
  gpu.clock += std::exchange(gpu.clock_lost, 0);
  const auto kept = split(gpu.sticky, ',');
  for (const auto& [fault, name] : fault_names) {
    if (std::find(kept.begin(), kept.end(), name) != kept.end()) break_gpu(gpu, fault);
  }
}

}  // namespace

GpuStates make_gpu_states(const GpuInventory& inventory) {
  // The buses of an eight-GPU HGX board, spread as the firmware spreads them.
  static constexpr std::array<int, 8> buses = {0x1b, 0x43, 0x52, 0x61, 0x9d, 0xc3, 0xd1, 0xdf};
  GpuStates out;
  for (int i = 0; i < inventory.gpus; ++i) {
    GpuState gpu;
    gpu.index = i;
    gpu.name = inventory.name;
    gpu.fabric_clique = inventory.clique;
    gpu.serial = printed("16523%04d%02d", inventory.node, i);
    gpu.uuid = printed("GPU-%08x-%04x-4000-8000-", inventory.node, i) +
               printed("%06x%06x", inventory.node, i);
    const int bus = buses[static_cast<std::size_t>(i) % buses.size()];
    gpu.pci = printed("0000:%02x:%02x.0", bus, i / static_cast<int>(buses.size()));
    out.gpus.push_back(std::move(gpu));
  }
  return out;
}

Result<GpuStates> parse_gpu_states(std::string_view text) {
  GpuStates out;
  for (const auto& line : split(text, '\n')) {
    const std::string_view trimmed = trim(line);
    if (trimmed.empty() || trimmed.starts_with('#')) continue;
    if (trimmed.starts_with("driver=")) {
      out.driver = trimmed.substr(trimmed.find('=') + 1);
      continue;
    }
    GpuState gpu;
    for (const auto& word : split(trimmed, ' ')) {
      if (!word.empty()) TRY_VOID(set_key(gpu, word));
    }
    out.gpus.push_back(std::move(gpu));
  }
  return out;
}

std::string render_gpu_states(const GpuStates& states) {
  std::string out = "driver=" + states.driver + "\n";
  for (const GpuState& gpu : states.gpus) {
    std::vector<std::string> words;
    for (const Key& key : keys) {
      const std::string value = key.text != nullptr ? with_replaced(gpu.*(key.text), ' ', '_')
                                                    : std::to_string(gpu.*(key.number));
      words.push_back(std::string(key.name) + "=" + value);
    }
    out += join(words, " ") + "\n";
  }
  return out;
}

Result<GpuStates> load_gpu_states(const std::string& file) {
  std::ifstream in(file);
  if (!in) return make_error(Code::not_found, "no GPU state at " + file);
  std::stringstream text;
  text << in.rdbuf();
  return parse_gpu_states(text.str());
}

Result<> save_gpu_states(const std::string& file, const GpuStates& states) {
  const std::string fresh = file + ".new." + std::to_string(getpid());
  std::ofstream out(fresh, std::ios::trunc);
  out << render_gpu_states(states);
  out.close();
  if (!out || std::rename(fresh.c_str(), file.c_str()) != 0) {
    return make_error(Code::unavailable, "cannot write the GPU state " + file);
  }
  return {};
}

Result<> apply_fault(const std::string& file, int gpu, GpuFault fault, Sticky sticky) {
  return change(file, [&](GpuStates& states) -> Result<> {
    for (GpuState& state : states.gpus) {
      if (state.index != gpu) continue;
      break_gpu(state, fault);
      if (sticky == Sticky::no) return {};
      auto names = state.sticky.empty() ? std::vector<std::string>{} : split(state.sticky, ',');
      for (const auto& known : fault_names) {
        if (known.fault == fault) names.emplace_back(known.name);
      }
      state.sticky = join(names, ",");
      return {};
    }
    return make_error(Code::not_found, "no GPU " + std::to_string(gpu) + " in " + file);
  });
}

Result<> clear_on_boot(const std::string& file) {
  unlink((file + ".events").c_str());
  return change(file, [](GpuStates& states) -> Result<> {
    for (GpuState& gpu : states.gpus) {
      gpu.lost = gpu.hang_ms = gpu.mem_used = gpu.util = 0;
      gpu.pids.clear();
      restart_gpu(gpu);
    }
    return {};
  });
}

Result<GpuState> find_gpu(const GpuStates& states, std::string_view which) {
  const auto index = parse_integer(which);
  const auto pci = normalise_pci(which);
  for (const GpuState& gpu : states.gpus) {
    if (index == gpu.index || which == gpu.uuid || (pci && pci == normalise_pci(gpu.pci))) {
      return gpu;
    }
  }
  return make_error(Code::not_found, "no GPU " + std::string(which));
}

Result<> reset_gpu(const std::string& file, std::string_view which) {
  return change(file, [&](GpuStates& states) -> Result<> {
    const GpuState found = TRY(find_gpu(states, which));
    if (found.lost != 0) {
      return make_error(Code::unavailable, "GPU " + found.pci + " is lost")
          .with_remedy("reboot the node");
    }
    if (!found.pids.empty()) {
      return make_error(Code::conflict, "GPU " + found.pci + " is in use by " + found.pids);
    }
    for (GpuState& gpu : states.gpus) {
      if (gpu.index == found.index) restart_gpu(gpu);
    }
    return {};
  });
}

Result<> append_xid_event(const std::string& file, int gpu, int xid) {
  std::ofstream out(file + ".events", std::ios::app);
  out << gpu << " " << xid << "\n" << std::flush;
  if (!out) return make_error(Code::unavailable, "cannot write " + file + ".events");
  return {};
}

}  // namespace tundish::lab
