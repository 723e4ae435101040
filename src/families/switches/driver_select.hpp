#pragma once
// One SwitchDriver for all: passes each call to the driver that the port's switch names.
#include <map>
#include <memory>
#include <string>

#include "families/switches/driver_http.hpp"
#include "families/switches/driver_transport.hpp"
#include "ports/exec.hpp"
#include "ports/scheduler.hpp"
#include "ports/wire.hpp"

namespace tundish::switches {

/// What the drivers need of the outside.
struct SwitchTools {
  Wire& wire;
  Exec& exec;
  Scheduler& scheduler;
  HttpLogin login;  ///< for switches that speak HTTP
};

class SwitchDrivers final : public SwitchDriver {
 public:
  explicit SwitchDrivers(const SwitchTools& tools);
  void attach(const PortRef& port, const PortIntent& intent, Duration limit, Done done) override;
  void read(const PortRef& any_port_of_switch, const SwitchOwnership& ownership, Duration limit,
            ReadDone done) override;

 private:
  void add(const std::string& name, std::unique_ptr<SwitchTransport> transport,
           Scheduler& scheduler);
  SwitchDriver* find(const std::string& name);
  Error unknown(const PortRef& port) const;

  std::map<std::string, std::unique_ptr<SwitchTransport>> transports_;
  std::map<std::string, std::unique_ptr<SwitchDriver>> drivers_;
};

}  // namespace tundish::switches
