// What a person does to the cables of an frr fabric.
#include "base/log.hpp"
#include "base/text.hpp"
#include "lab/frr_fabric.hpp"

namespace tundish::lab {
namespace {

constexpr Duration flap_length = milliseconds(300);
const std::string lab_network = "/proc/1/ns/net";  // the service's process 1 is in the same

/// Out of wherever it is, into the lab's root network.
Result<> take_out(const PortState& from, const std::string& port, const std::string& name) {
  return run_ip_batch_in(from.network, "link set " + port + " down\nlink set " + port + " name " +
                                           name + "\nlink set " + name + " netns " + lab_network +
                                           "\n");
}

/// The device becomes the port that was described: the switch's configuration stays with it.
Result<> put_in(const PortState& to, const std::string& name, const std::string& port) {
  TRY_VOID(run_ip_batch("link set " + name + " netns " + to.network + "\n"));
  std::string lines = "link set " + name + " name " + port + "\nlink set " + port + " address " +
                      to.mac + " mtu " + std::to_string(to.mtu) + "\n";
  if (!to.master.empty()) lines += "link set " + port + " master " + to.master + "\n";
  for (const auto& address : to.addresses) lines += "addr add " + address + " dev " + port + "\n";
  if (to.up) lines += "link set " + port + " up\n";
  return run_ip_batch_in(to.network, lines);
}

}  // namespace

Result<FrrFabric::Cable*> FrrFabric::find_cable(const std::string& end) {
  for (auto& cable : cables_) {
    if (end == cable.leaf + "/" + cable.port || end == cable.node + "/" + cable.interface) {
      return &cable;
    }
  }
  return make_error(Code::not_found, "no cable of a node ends at " + end)
      .with_remedy("name an end as leaf1/swp3 or n01/eth0");
}

/// The spine's end goes down, whichever end was named: a leaf sees a dead cable, not a port that
/// somebody has shut.
Result<> FrrFabric::set_uplink(const std::string& end, LinkState state) {
  for (auto& [name, box] : boxes_) {
    if (box->plan.role != SwitchRole::leaf) continue;
    for (const auto& link : box->plan.links) {
      if (end != name + "/" + link.port && end != link.peer + "/" + link.peer_port) continue;
      Box& spine = *boxes_.at(link.peer);
      spine.links[link.peer_port] = state;
      if (spine.pid == 0) return {};
      return run_ip_batch_in(
          spine.chassis.network(),
          "link set " + link.peer_port + (state == LinkState::up ? " up\n" : " down\n"));
    }
  }
  return make_error(Code::not_found, "no cable ends at " + end)
      .with_remedy("name an end as leaf1/swp3, leaf1/up2, n01/eth0 or n01/mlx5_0");
}

Result<> FrrFabric::set_state(const std::string& end, LinkState state) {
  if (ib_ && ib_->has_end(end)) return ib_->set_link(end, state);
  const auto cable = find_cable(end);
  if (!cable) return set_uplink(end, state);
  (*cable)->state = state;
  if ((*cable)->network.empty()) return {};
  return set_link(port_peer((*cable)->node, (*cable)->interface), state);
}

Result<> FrrFabric::set_cable(const CableRequest& request) {
  log(LogLevel::info, "lab_cable",
      {{"end", request.port}, {"action", static_cast<int>(request.action)}});
  if (request.action == CableFault::mend) return set_state(request.port, LinkState::up);
  TRY_VOID(set_state(request.port, LinkState::down));
  if (request.action == CableFault::cut) return {};
  loop_.at(loop_.now() + flap_length, [this, end = request.port] {
    const auto done = set_state(end, LinkState::up);
    if (!done) log(LogLevel::error, "lab_cable_flap", {{"error", done.error().message()}});
  });
  return {};
}

Result<> FrrFabric::swap_cables(const SwapRequest& request) {
  Cable& a = *TRY(find_cable(request.port));
  Cable& b = *TRY(find_cable(request.other));
  if (&a == &b) return make_error(Code::invalid, "both ends belong to one cable");
  for (const auto& leaf : {a.leaf, b.leaf}) {
    Box& box = *boxes_.at(leaf);
    if (box.phase == Phase::running) box.chassis.follow(box.pid);
  }
  const PortState at_a = TRY(boxes_.at(a.leaf)->chassis.find(a.port));
  const PortState at_b = TRY(boxes_.at(b.leaf)->chassis.find(b.port));
  TRY_VOID(take_out(at_a, a.port, "swap-a"));
  TRY_VOID(take_out(at_b, b.port, "swap-b"));
  TRY_VOID(put_in(at_b, "swap-a", b.port));
  TRY_VOID(put_in(at_a, "swap-b", a.port));
  std::swap(a.leaf, b.leaf);
  std::swap(a.port, b.port);
  log(LogLevel::info, "lab_cables_swapped", {{"one", request.port}, {"other", request.other}});
  return {};
}

}  // namespace tundish::lab
