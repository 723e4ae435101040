#include "lab/pci_files.hpp"

#include <filesystem>

#include "lab/namespaces.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

struct File {
  const char* name;
  const char* text;
};

// Source: Linux Documentation/ABI/testing/sysfs-bus-pci and sysfs-bus-pci-devices-aer_stats; ids of
// an H100 SXM5 (10de:2330); checked 2026-11.
constexpr File files[] = {
    {"vendor", "0x10de\n"},
    {"device", "0x2330\n"},
    {"class", "0x030200\n"},
    {"current_link_speed", "32.0 GT/s PCIe\n"},
    {"max_link_speed", "32.0 GT/s PCIe\n"},
    {"current_link_width", "16\n"},
    {"max_link_width", "16\n"},
    {"aer_dev_correctable", "RxErr 0\nBadTLP 0\nBadDLLP 0\nTOTAL_ERR_COR 0\n"},
    {"aer_dev_nonfatal", "Undefined 0\nTLP 0\nTOTAL_ERR_NONFATAL 0\n"},
    {"aer_dev_fatal", "Undefined 0\nTLP 0\nTOTAL_ERR_FATAL 0\n"},
};

/// Vendor and device of the first four bytes, little-endian.
const std::string config_head("\xde\x10\x30\x23\x06\x04\x10\x00", 8);

}  // namespace

Result<> prepare_pci(const std::string& folder, const GpuStates& gpus) {
  TRY_VOID(make_folder(folder));
  for (const auto& gpu : gpus.gpus) {
    const std::string device = folder + "/" + gpu.pci;
    std::error_code ignored;
    if (fs::exists(device + "/config", ignored)) continue;
    TRY_VOID(make_folder(device));
    for (const auto& file : files) TRY_VOID(write_text(device + "/" + file.name, file.text));
    TRY_VOID(write_text(device + "/config", config_head + std::string(56, '\0')));
  }
  return {};
}

}  // namespace tundish::lab
