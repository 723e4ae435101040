#include "lab/fabric.hpp"

#include "lab/frr_fabric.hpp"
#include "lab/leaf_sim.hpp"

namespace tundish::lab {
namespace {

Error no_hardware() {
  return make_error(Code::unsupported, "a flat fabric has no switches and cables of their own")
      .with_remedy("start the lab with --fabric frr");
}

}  // namespace

Result<> Fabric::set_switch(const SwitchRequest&) { return no_hardware(); }
Result<> Fabric::set_cable(const CableRequest&) { return no_hardware(); }
Result<> Fabric::set_storage(const StorageRequest&) {
  return make_error(Code::unsupported,
                    "a flat lab has no storage server: its nodes bind a folder of this machine")
      .with_remedy("start the lab with --fabric frr");
}
Result<> Fabric::swap_cables(const SwapRequest&) { return no_hardware(); }

std::unique_ptr<Fabric> make_fabric(net::Loop& loop, const LabSpec& spec) {
  if (spec.fabric == FabricKind::frr) return std::make_unique<FrrFabric>(loop, spec);
  return std::make_unique<LeafSwitches>(loop, spec);
}

}  // namespace tundish::lab
