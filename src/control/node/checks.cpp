#include "control/node/checks.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/network.hpp"

namespace tundish::control {

Expectation expectation_of(const View& view, const Node& node) {
  Expectation out;
  out.serial = node.spec.serial;
  if (const Sku* sku = view.reg.find_named<Sku>(node.spec.sku)) {
    out.gpu_count = sku->spec.gpus;
    out.hca_count = sku->spec.nics;
    out.gpu_model = sku->spec.gpu_model;
    out.cpus = sku->spec.cpus;
    out.sockets = sku->spec.sockets;
    out.memory_mib = sku->spec.memory_mib;
  }
  for (const auto& gpu : node.status.accepted_gpus) out.gpus.push_back({gpu.uuid, gpu.serial});
  for (const auto& port : node.spec.ports) {
    if (!port.mac.empty()) out.nic_macs.push_back(port.mac);
  }
  out.in_use = !node.status.allocation.empty();
  return out;
}

namespace {

bool has_infiniband(const Node& node) {
  return std::any_of(node.spec.ports.begin(), node.spec.ports.end(),
                     [](const Port& port) { return !port.guid.empty(); });
}

/// Partition keys are somebody's business here only when a network has one.
bool are_partitions_managed(const View& view) {
  for (const auto& [id, network] : view.reg.all<Network>()) {
    if (network.status.pkey != 0) return true;
  }
  return false;
}

}  // namespace

Expectation expectation_in_service(const View& view, const Node& node) {
  Expectation out = expectation_of(view, node);
  const Allocation* allocation = view.reg.find(node.status.allocation);
  const bool partitions = has_infiniband(node) && are_partitions_managed(view);
  if (!allocation && partitions && node.status.phase == NodePhase::ready) {
    out.pkeys.emplace();  // a free node carries nobody's
  }
  // Of a cluster that is deleted everything is taken away by us, at once.
  if (!allocation || allocation->status.phase == AllocationPhase::releasing) return out;
  const Network* network = view.reg.find(allocation->status.network);
  for (const auto& member : allocation->status.nodes) {
    const bool serves = member.role == MemberRole::member || member.role == MemberRole::login;
    if (member.node != node.id || !member.joined || !serves) continue;
    if (network && network->status.pkey != 0 && member.attached && has_infiniband(node)) {
      out.pkeys = std::vector<int>{network->status.pkey};
    }
    const Tenant* tenant = view.reg.find(allocation->meta.tenant);
    if (!tenant) continue;
    out.exports.push_back(
        {view.limits.export_source + tenant->meta.name, "/data", view.limits.export_type});
    out.services.push_back(member.role == MemberRole::login ? "sshd" : "slurmd");
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
  call.run_checks = RunChecks{std::move(checks), expectation_in_service(view, node)};
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
