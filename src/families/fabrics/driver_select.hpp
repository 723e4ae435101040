#pragma once
// One FabricManager for all: ssh://... is a node with opensm, http(s)://... is UFM.
#include <memory>
#include <string>

#include "ports/drivers.hpp"
#include "ports/exec.hpp"
#include "ports/scheduler.hpp"
#include "ports/wire.hpp"

namespace tundish::fabrics {

struct FabricTools {
  Wire& wire;
  Exec& exec;
  Scheduler& scheduler;
  std::string ufm_authorization;  ///< Authorization header; empty: none
};

class FabricDrivers final : public FabricManager {
 public:
  explicit FabricDrivers(const FabricTools& tools);
  void apply(const FabricRef& ref, const FabricState& desired, Duration limit, Done done) override;
  void read(const FabricRef& ref, Duration limit, ReadDone done) override;
  void find_paths(const FabricRef& ref, std::vector<FabricPath> asked, Duration limit,
                  PathsDone done) override;

 private:
  FabricManager& choose(const FabricRef& ref);
  std::unique_ptr<FabricManager> opensm_, ufm_;
};

}  // namespace tundish::fabrics
