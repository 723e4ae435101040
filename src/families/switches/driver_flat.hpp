#pragma once
// The first switch driver: ports in flat segments, over the lab leaf's management interface. What
// it reads back is what the switch shows, not what it was told.
#include <string>

#include "ports/drivers.hpp"
#include "ports/wire.hpp"

namespace tundish::families {

/// Parses the answer of GET /ports. Unknown members are ignored, missing ones are an error.
Result<std::vector<PortObserved>> parse_flat_ports(const std::string& switch_name,
                                                   std::string_view json);

class FlatSwitch final : public SwitchDriver {
 public:
  explicit FlatSwitch(Wire& wire) : wire_(wire) {}
  void attach(const PortRef& port, const PortIntent& intent, Duration limit, Done done) override;
  void read(const PortRef& any_port_of_switch, const SwitchOwnership& ownership, Duration limit,
            ReadDone done) override;

 private:
  Wire& wire_;
};

}  // namespace tundish::families
