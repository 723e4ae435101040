#include "apps/tundishd/network_drivers.hpp"

#include "families/fabrics/driver_opensm.hpp"
#include "families/fabrics/driver_ufm.hpp"
#include "families/switches/driver_configured.hpp"
#include "families/switches/driver_eos.hpp"
#include "families/switches/driver_flat.hpp"
#include "families/switches/driver_frr.hpp"
#include "families/switches/driver_junos.hpp"
#include "families/switches/driver_nvue.hpp"
#include "families/switches/driver_nxos.hpp"
#include "families/switches/switch_item.hpp"

namespace tundish::tundishd {

SwitchDrivers::SwitchDrivers(const NetworkTools& tools) {
  drivers_["flat"] = std::make_unique<families::FlatSwitch>(tools.wire);
  const switches::HttpLogin login{tools.switch_authorization};
  using switches::frr_parts::Kernel;
  add("frr", std::make_unique<switches::FrrTransport>(tools.exec, Kernel::vrf_vlan_aware),
      tools.scheduler);
  add("frr_netns", std::make_unique<switches::FrrTransport>(tools.exec, Kernel::netns_per_vni),
      tools.scheduler);
  add("arista_eos", std::make_unique<switches::EosTransport>(tools.wire, tools.scheduler, login),
      tools.scheduler);
  add("nxos", std::make_unique<switches::NxosTransport>(tools.wire, login), tools.scheduler);
  add("nvue", std::make_unique<switches::NvueTransport>(tools.wire, tools.scheduler, login),
      tools.scheduler);
  add("junos", std::make_unique<switches::JunosTransport>(tools.wire, login), tools.scheduler);
}

void SwitchDrivers::add(const std::string& name,
                        std::unique_ptr<switches::SwitchTransport> transport,
                        Scheduler& scheduler) {
  const switches::SwitchItem* item = switches::find_switch_item(name);
  if (!item) return;
  drivers_[name] = std::make_unique<switches::ConfiguredSwitch>(*item, *transport, scheduler);
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

FabricDrivers::FabricDrivers(const NetworkTools& tools)
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

std::vector<edge::SwitchDriverInfo> switch_driver_infos() {
  std::vector<edge::SwitchDriverInfo> out;
  for (const switches::SwitchItem* item : all_switch_items()) {
    const auto can = item->capabilities();
    const auto level = enum_names(can.proof)[static_cast<std::size_t>(can.proof)];
    out.push_back({std::string(item->name), std::string(item->doc), std::string(level),
                   can.proof_by, can.confirmed_commit, can.session_diff});
  }
  return out;
}

Result<edge::SwitchPlan> plan_switch_text(const Switch& device, const SwitchState& seen,
                                          const SwitchState& wanted) {
  const switches::SwitchItem* item = switches::find_switch_item(device.spec.driver);
  if (!item) {
    return make_error(Code::unsupported, "switch " + device.meta.name + ": driver " +
                                             device.spec.driver + " renders nothing")
        .about("switch/" + device.meta.name);
  }
  SwitchState full = wanted;
  full.anycast_mac = seen.anycast_mac.empty() ? wanted.anycast_mac : seen.anycast_mac;
  TRY_VOID(item->accept(full));
  edge::SwitchPlan out;
  for (const auto& step : TRY(item->steps(seen, full))) {
    out.steps.push_back({device.meta.name, step.what, step.file, step.text});
  }
  const auto files = TRY(item->render(full));
  for (const auto& file : files) out.files.push_back({device.meta.name, file.name, file.text});
  SwitchOwnership everything;
  for (const auto& port : full.ports) everything.ports.push_back(port.name);
  out.read_back = TRY(item->parse(files, everything)).own;
  return out;
}

}  // namespace tundish::tundishd
