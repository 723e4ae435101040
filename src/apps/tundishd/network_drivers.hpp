#pragma once
// The drivers of switches and fabrics, by the name that the inventory gives: the place that wires.
#include <map>
#include <memory>
#include <string>

#include "edge/api/contract_network.hpp"
#include "families/switches/driver_transport.hpp"
#include "model/physical.hpp"
#include "ports/exec.hpp"
#include "ports/scheduler.hpp"
#include "ports/wire.hpp"

namespace tundish::tundishd {

/// What the drivers need of the outside.
struct NetworkTools {
  Wire& wire;
  Exec& exec;
  Scheduler& scheduler;
  std::string switch_authorization;  ///< Authorization header of switches that speak HTTP
  std::string ufm_authorization;
};

/// One SwitchDriver for all: passes each call to the driver that the port's switch names.
class SwitchDrivers final : public SwitchDriver {
 public:
  explicit SwitchDrivers(const NetworkTools& tools);
  void attach(const PortRef& port, const PortIntent& intent, Duration limit, Done done) override;
  void read(const PortRef& any_port_of_switch, const SwitchOwnership& ownership, Duration limit,
            ReadDone done) override;

 private:
  void add(const std::string& name, std::unique_ptr<switches::SwitchTransport> transport,
           Scheduler& scheduler);
  SwitchDriver* find(const std::string& name);
  Error unknown(const PortRef& port) const;

  std::map<std::string, std::unique_ptr<switches::SwitchTransport>> transports_;
  std::map<std::string, std::unique_ptr<SwitchDriver>> drivers_;
};

/// Likewise for InfiniBand managers: ssh://... is a node with opensm, http(s)://... is UFM.
class FabricDrivers final : public FabricManager {
 public:
  explicit FabricDrivers(const NetworkTools& tools);
  void apply(const FabricRef& ref, const FabricState& desired, Duration limit, Done done) override;
  void read(const FabricRef& ref, Duration limit, ReadDone done) override;

 private:
  FabricManager& choose(const FabricRef& ref);
  std::unique_ptr<FabricManager> opensm_, ufm_;
};

std::vector<edge::SwitchDriverInfo> switch_driver_infos();
/// For `network plan`: steps and whole text of one switch, and what the text reads back as.
Result<edge::SwitchPlan> plan_switch_text(const Switch& device, const SwitchState& seen,
                                          const SwitchState& wanted);

}  // namespace tundish::tundishd
