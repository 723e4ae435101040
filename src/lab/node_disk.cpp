#include "lab/node_disk.hpp"

#include <filesystem>

#include "base/text.hpp"
#include "lab/gpu_state.hpp"
#include "lab/hca_files.hpp"
#include "lab/memory_files.hpp"
#include "lab/namespaces.hpp"
#include "lab/pci_files.hpp"
#include "lab/root_parts.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

const char* const nvml_in_node = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1";
const char* const cuda_in_node = "/usr/lib/x86_64-linux-gnu/libcuda.so.1";
const char* const smi_in_node = "/usr/bin/nvidia-smi";

/// Stand-ins for what an operator installs to test nodes. Where they were not built a link leads
/// nowhere, and the program is not installed.
constexpr const char* test_tools[] = {"dcgmi", "nvbandwidth", "all_reduce_perf", "ib_write_bw",
                                      "gpu_burn"};

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

Result<> make_link(const std::string& target, const std::string& path) {
  if (exists(path)) return {};
  TRY_VOID(make_folder(fs::path(path).parent_path().string()));
  std::error_code failed;
  fs::create_symlink(target, path, failed);
  if (failed) return make_error(Code::unavailable, "cannot link " + path + ": " + failed.message());
  return {};
}

Result<> prepare_disk(const LabPaths& paths, const LabNode& node) {
  const std::string disk = paths.node(node.name) + "/disk";
  TRY_VOID(prepare_upper_layer(disk, {paths.root, node.name}));
  if (node.gpus == 0) return {};
  TRY_VOID(make_link("/run/tundish-hw/lib/libnvidia-ml.so.1", disk + nvml_in_node));
  TRY_VOID(make_link("/run/tundish-hw/lib/libcuda.so.1", disk + cuda_in_node));
  TRY_VOID(make_link("/run/tundish-hw/bin/nvidia-smi", disk + smi_in_node));
  for (const char* const tool : test_tools) {
    TRY_VOID(make_link(std::string("/run/tundish-hw/bin/") + tool,
                       disk + "/usr/bin/" + tool));
  }
  return {};
}

Result<> prepare_sysclass(const std::string& folder, const LabNode& node) {
  const std::string dmi = folder + "/dmi/id";
  TRY_VOID(make_folder(dmi));
  TRY_VOID(make_folder(folder + "/net"));
  TRY_VOID(write_text(dmi + "/product_serial", node.serial + "\n", 0400));
  TRY_VOID(write_text(dmi + "/board_serial", node.serial + "-B\n", 0400));
  TRY_VOID(write_text(dmi + "/product_name", "Tundish Lab " + node.role + " node\n", 0444));
  return prepare_hcas(folder, node);
}

}  // namespace

Result<> prepare_node(const LabSpec& spec, const LabNode& node) {
  const LabPaths paths = paths_of(spec);
  const std::string folder = paths.node(node.name);
  for (const char* const name : {"work", "root", "sysnet", "hw/bin", "hw/lib", "hw/storage"}) {
    TRY_VOID(make_folder(folder + "/" + name));
  }
  TRY_VOID(prepare_disk(paths, node));
  TRY_VOID(prepare_sysclass(folder + "/sysclass", node));
  const std::string state = folder + "/hw/nvml.state";
  TRY_VOID(make_folder(folder + "/syspci"));
  TRY_VOID(prepare_memory(folder + "/syssystem"));
  if (node.gpus > 0 && !exists(state)) {
    GpuInventory inventory;
    inventory.node = node.index;
    inventory.gpus = node.gpus;
    inventory.clique = node.nvlink_clique;
    const auto gpus = make_gpu_states(inventory);
    TRY_VOID(save_gpu_states(state, gpus));
    TRY_VOID(prepare_pci(folder + "/syspci", gpus));
  }
  return {};
}

Result<std::string> prepare_boot(const LabSpec& spec, const LabNode& node) {
  const std::string folder = paths_of(spec).node(node.name);
  const std::string boot_id = make_uuid();
  TRY_VOID(write_text(folder + "/boot_id", boot_id + "\n", 0444));
  std::error_code ignored;
  fs::remove(folder + "/booted", ignored);
  fs::remove(folder + "/host_pid", ignored);
  TRY_VOID(clear_memory_on_boot(folder + "/syssystem"));
  if (node.gpus > 0) TRY_VOID(clear_on_boot(folder + "/hw/nvml.state"));
  return boot_id;
}

}  // namespace tundish::lab
