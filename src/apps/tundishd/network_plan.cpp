#include "apps/tundishd/network_plan.hpp"

#include "families/switches/switch_item.hpp"

namespace tundish::tundishd {
namespace {

/// What a person or a pipeline can do with a file of a plan. The steps run in order are what works.
std::string about_file(const std::string& driver, const std::string& file) {
  if (file == "kernel") {
    return "a description of links, addresses and routes, to compare with; not to be run: the "
           "commands are in the steps";
  }
  if (file == "nft") {
    return "the rulesets as nft lists them, to compare with; the commands are in the steps";
  }
  if (file == "frr.conf") return "lines of ours in FRR's configuration, as vtysh takes them";
  return "lines of ours in the configuration of " + driver + ", as it takes and shows them";
}

}  // namespace

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
  for (const auto& file : files) {
    out.files.push_back(
        {device.meta.name, file.name, file.text, about_file(device.spec.driver, file.name)});
  }
  SwitchOwnership everything;
  for (const auto& port : full.ports) everything.ports.push_back(port.name);
  out.read_back = TRY(item->parse(files, everything)).own;
  return out;
}

}  // namespace tundish::tundishd
