#include "control/node/checks.hpp"

#include "base/text.hpp"

namespace tundish::control {

Expectation expectation_of(const View& view, const Node& node) {
  Expectation out;
  out.serial = node.spec.serial;
  if (const Sku* sku = view.reg.find_named<Sku>(node.spec.sku)) {
    out.gpu_count = sku->spec.gpus;
    out.hca_count = sku->spec.nics;
  }
  for (const auto& gpu : node.status.accepted_gpus) out.gpus.push_back({gpu.uuid, gpu.serial});
  for (const auto& port : node.spec.ports) {
    if (!port.mac.empty()) out.nic_macs.push_back(port.mac);
  }
  return out;
}

Action make_checks(const View& view, const Node& node, std::vector<std::string> checks,
                   std::string key) {
  Action action;
  action.key = std::move(key);
  action.name = "run_checks";
  action.action_class = ActionClass::look;
  action.node = node.id;
  action.limit = seconds(60);
  VerbCall call;
  call.verb = Verb::run_checks;
  call.run_checks = RunChecks{std::move(checks), expectation_of(view, node)};
  action.act = VerbAct{std::move(call)};
  return action;
}

Action make_wipe(const Node& node, std::string key) {
  Action action;
  action.key = std::move(key);
  action.name = "wipe";
  action.action_class = ActionClass::node_setup;
  action.node = node.id;
  action.group = action.key;
  action.limit = seconds(60);
  VerbCall call;
  call.verb = Verb::wipe;
  action.act = VerbAct{std::move(call)};
  return action;
}

std::string drift_of(const Node& node) {
  std::vector<std::string> found;
  const auto& seen = node.status.hardware;
  if (!seen.at.is_set()) return "";
  if (!node.spec.serial.empty() && !seen.serial.empty() && node.spec.serial != seen.serial) {
    found.push_back("serial is " + seen.serial + ", declared " + node.spec.serial);
  }
  for (const auto& port : node.spec.ports) {
    if (port.mac.empty()) continue;
    bool present = false;
    for (const auto& mac : seen.nic_macs) present = present || mac == port.mac;
    if (!present && port.role != PortRole::east_west) {
      found.push_back("no interface with MAC " + port.mac + " (" + port.name + ")");
    }
  }
  return join(found, "; ");
}

}  // namespace tundish::control
