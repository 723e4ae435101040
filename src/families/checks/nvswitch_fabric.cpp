#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

constexpr std::int64_t not_supported = 0;
constexpr std::int64_t in_progress = 2;
constexpr std::int64_t completed = 3;

bool is_zero(const std::string& uuid) { return uuid.find_first_not_of("0-") == std::string::npos; }

void look(const GpuReading& gpu, Findings& found) {
  const std::string place = place_of(gpu);
  if (!has(gpu.fabric_state, gpu, found, "its fabric state")) return;
  if (*gpu.fabric_state == not_supported) return;  // bridges or PCIe: no NVSwitch
  if (*gpu.fabric_state == in_progress) {
    found.warn(place, "its registration with the NVLink fabric is in progress");
    return;
  }
  if (*gpu.fabric_state != completed) {
    found.fail(place, "it is not registered with the NVLink fabric");
    return;
  }
  if (gpu.fabric_status.value_or(0) != 0) {
    found.fail(place, "its registration with the NVLink fabric failed");
  } else if (gpu.fabric_uuid && is_zero(*gpu.fabric_uuid) && gpu.fabric_clique.value_or(0) != 0) {
    found.fail(place, "it belongs to an NVLink clique of no cluster");
  }
}

Verdicts judge(const CheckSample& sample) {
  if (sample.nameplate && sample.nameplate->nvlinks == 0) {
    return {make_verdict(VerdictState::ok, "the GPUs have no NVLink")};
  }
  return each_gpu(sample, "nvswitch_fabric", "every GPU is in the NVLink fabric", look);
}

}  // namespace

extern const Check nvswitch_fabric;
const Check nvswitch_fabric{
    "nvswitch_fabric",
    "Every GPU is registered with the NVLink fabric: state completed, status success, a "
    "cluster id.",
    "nvmlDeviceGetGpuFabricInfoV; Azure/azhpc-images PR 506; facts/health.md section 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "nameplate"},
    judge,
    Resource::nvswitch,
    Locality::symptom,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
