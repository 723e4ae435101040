#include "families/fabrics/driver_select.hpp"

#include "families/fabrics/driver_opensm.hpp"
#include "families/fabrics/driver_ufm.hpp"

namespace tundish::fabrics {

FabricDrivers::FabricDrivers(const FabricTools& tools)
    : opensm_(std::make_unique<families::OpensmManager>(tools.exec, tools.scheduler)),
      ufm_(std::make_unique<families::UfmManager>(
          tools.wire, tools.scheduler,
          [word = tools.ufm_authorization](const std::string&) { return word; })) {}

FabricManager& FabricDrivers::choose(const FabricRef& ref) {
  return ref.management_url.rfind("ssh://", 0) == 0 ? *opensm_ : *ufm_;
}

void FabricDrivers::apply(const FabricRef& ref, const FabricState& desired, Duration limit,
                          Done done) {
  choose(ref).apply(ref, desired, limit, std::move(done));
}

void FabricDrivers::read(const FabricRef& ref, Duration limit, ReadDone done) {
  choose(ref).read(ref, limit, std::move(done));
}

void FabricDrivers::find_paths(const FabricRef& ref, std::vector<FabricPath> asked, Duration limit,
                               PathsDone done) {
  choose(ref).find_paths(ref, std::move(asked), limit, std::move(done));
}

}  // namespace tundish::fabrics
