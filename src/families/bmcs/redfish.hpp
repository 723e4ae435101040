#pragma once
// Power through a BMC that speaks Redfish (DSP0266), and what it watches. A reset is a request that
// may be accepted and not done, or done and answered late: the node's new boot id is what counts,
// or of a power-off the state that the BMC shows.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "families/bmcs/leak_look.hpp"
#include "ports/drivers.hpp"
#include "ports/scheduler.hpp"
#include "ports/wire.hpp"

namespace tundish::families {

struct RedfishAccess {
  /// {address} is replaced by the address in the inventory.
  std::string url_template = "https://{address}";
  std::string user = "admin";
  std::string password;
};

/// ResetType of a verb. Source: DMTF DSP0268, ComputerSystem.Reset; checked 2026-11.
std::string_view redfish_reset_type(PowerVerb verb);

class RedfishBmc final : public Bmc {
 public:
  RedfishBmc(Wire& wire, Scheduler& scheduler, RedfishAccess access)
      : wire_(wire), scheduler_(scheduler), access_(std::move(access)) {}
  void start(const std::string& bmc_address, PowerVerb verb, Duration limit, Done done) override;
  void read(const std::string& bmc_address, Duration limit, ReadDone done) override;

 private:
  using Known = std::map<std::string, std::vector<LeakCollection>>;
  HttpRequest request_to(const std::string& bmc_address, const std::string& path) const;

  void reset(const std::string& bmc_address, PowerVerb verb, Duration limit, Done done);

  Wire& wire_;
  Scheduler& scheduler_;
  RedfishAccess access_;
  /// Of each BMC that has detectors, where it lists them. A look may outlive this driver.
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

}  // namespace tundish::families
