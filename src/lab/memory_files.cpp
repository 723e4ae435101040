#include "lab/memory_files.hpp"

#include <filesystem>

#include "base/text.hpp"
#include "lab/namespaces.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

constexpr const char* in_sysfs = "/devices/system";
constexpr const char* machine = "/sys/devices/system";

std::string controller_of(const std::string& folder) { return folder + "/edac/mc/mc0"; }
std::string sticky_of(const std::string& folder) { return folder + ".sticky"; }

/// What the kernel shows beside EDAC: CPUs, memory blocks, NUMA nodes.
std::vector<std::string> parts_of_machine() {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(machine, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name != "edac" && entry.is_directory(ignored)) out.push_back(name);
  }
  return out;
}

/// Source: Linux Documentation/ABI/testing/sysfs-devices-edac; checked 2026-11.
Result<> write_counts(const std::string& folder, std::int64_t uncorrected) {
  const std::string controller = controller_of(folder);
  TRY_VOID(write_text(controller + "/mc_name", "Intel_10nm Socket#0 IMC#0\n"));
  TRY_VOID(write_text(controller + "/ce_count", "0\n"));
  return write_text(controller + "/ue_count", std::to_string(uncorrected) + "\n");
}

}  // namespace

Result<> prepare_memory(const std::string& folder) {
  for (const auto& name : parts_of_machine()) TRY_VOID(make_folder(folder + "/" + name));
  std::error_code ignored;
  if (fs::exists(controller_of(folder), ignored)) return {};
  TRY_VOID(make_folder(controller_of(folder)));
  return write_counts(folder, 0);
}

Result<> count_memory_error(const std::string& folder, Sticky sticky) {
  const std::string text = TRY(process::read_file(controller_of(folder) + "/ue_count"));
  const std::int64_t before = parse_integer(trim(text)).value_or(0);
  if (sticky == Sticky::yes) {
    TRY_VOID(write_text(sticky_of(folder), "1\n"));
  }
  return write_counts(folder, before + 1);
}

Result<> clear_memory_on_boot(const std::string& folder) {
  std::error_code ignored;
  if (!fs::exists(controller_of(folder), ignored)) return {};
  return write_counts(folder, fs::exists(sticky_of(folder), ignored) ? 1 : 0);
}

Result<> mount_memory(const std::string& root, const std::string& folder,
                      const std::string& sysfs) {
  const std::string system = root + machine;
  std::error_code ignored;
  if (!fs::exists(folder, ignored) || !fs::exists(system, ignored)) return {};
  TRY_VOID(bind_mount({folder, system}));
  for (const auto& name : parts_of_machine()) {
    if (!fs::exists(folder + "/" + name, ignored)) continue;
    TRY_VOID(bind_mount({sysfs + in_sysfs + "/" + name, system + "/" + name}));
    TRY_VOID(remount_read_only(system + "/" + name));
  }
  return remount_read_only(system);
}

}  // namespace tundish::lab
