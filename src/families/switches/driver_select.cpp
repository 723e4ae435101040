#include "families/switches/driver_select.hpp"

#include "families/switches/driver_configured.hpp"
#include "families/switches/driver_eos.hpp"
#include "families/switches/driver_flat.hpp"
#include "families/switches/driver_frr.hpp"
#include "families/switches/driver_junos.hpp"
#include "families/switches/driver_nvue.hpp"
#include "families/switches/driver_nxos.hpp"
#include "families/switches/driver_sonic.hpp"
#include "families/switches/switch_item.hpp"

namespace tundish::switches {

SwitchDrivers::SwitchDrivers(const SwitchTools& tools) {
  drivers_["flat"] = std::make_unique<families::FlatSwitch>(tools.wire);
  using frr_parts::Kernel;
  add("frr", std::make_unique<FrrTransport>(tools.exec, Kernel::vrf_vlan_aware), tools.scheduler);
  add("frr_netns", std::make_unique<FrrTransport>(tools.exec, Kernel::netns_per_vni),
      tools.scheduler);
  add("arista_eos", std::make_unique<EosTransport>(tools.wire, tools.scheduler, tools.login),
      tools.scheduler);
  add("nxos", std::make_unique<NxosTransport>(tools.wire, tools.login), tools.scheduler);
  add("nvue", std::make_unique<NvueTransport>(tools.wire, tools.scheduler, tools.login),
      tools.scheduler);
  add("sonic", std::make_unique<SonicTransport>(tools.exec), tools.scheduler);
  add("junos", std::make_unique<JunosTransport>(tools.wire, tools.login), tools.scheduler);
}

void SwitchDrivers::add(const std::string& name, std::unique_ptr<SwitchTransport> transport,
                        Scheduler& scheduler) {
  const SwitchItem* item = find_switch_item(name);
  if (!item) return;
  drivers_[name] = std::make_unique<ConfiguredSwitch>(*item, *transport, scheduler);
  transports_[name] = std::move(transport);
}

SwitchDriver* SwitchDrivers::find(const std::string& name) {
  const auto found = drivers_.find(name.empty() ? "flat" : name);
  return found == drivers_.end() ? nullptr : found->second.get();
}

Error SwitchDrivers::unknown(const PortRef& port) const {
  std::string known;
  for (const auto& [name, driver] : drivers_) known += (known.empty() ? "" : ", ") + name;
  return make_error(Code::unsupported,
                    "switch " + port.switch_name + " names driver " + port.driver)
      .about("switch/" + port.switch_name)
      .with_remedy("use one of " + known);
}

void SwitchDrivers::attach(const PortRef& port, const PortIntent& intent, Duration limit,
                           Done done) {
  SwitchDriver* driver = find(port.driver);
  if (!driver) return done(unknown(port));
  driver->attach(port, intent, limit, std::move(done));
}

void SwitchDrivers::read(const PortRef& port, const SwitchOwnership& ownership, Duration limit,
                         ReadDone done) {
  SwitchDriver* driver = find(port.driver);
  if (!driver) return done(unknown(port));
  driver->read(port, ownership, limit, std::move(done));
}

}  // namespace tundish::switches
