#include "control/network/tunnel_peers.hpp"

#include <algorithm>

namespace tundish::control::network {
namespace {

int owner_of(const Intent& intent, int vni) {
  for (const auto* table : {&intent.by_l2vni, &intent.by_l3vni}) {
    const auto found = table->find(vni);
    if (found != table->end()) return found->second;
  }
  return nobody;
}

/// Tunnel ends of the other switches that the network is on; nullopt: one is not known.
std::optional<std::set<std::string>> ends_of(const Intent& intent, int network,
                                             const std::string& but) {
  std::set<std::string> out;
  for (const auto& [name, device] : intent.switches) {
    const auto& here = device.networks;
    if (name == but || std::find(here.begin(), here.end(), network) == here.end()) continue;
    if (device.vtep_address.empty()) return std::nullopt;
    out.insert(device.vtep_address);
  }
  return out;
}

std::string name_of_end(const Intent& intent, const std::string& address) {
  for (const auto& [name, device] : intent.switches) {
    if (device.vtep_address == address) return address + " of " + name;
  }
  return address;
}

}  // namespace

std::vector<Difference> peer_differences(const Intent& intent, const std::string& switch_name,
                                         const std::vector<TunnelPeer>& peers) {
  std::vector<Difference> out;
  std::map<int, std::optional<std::set<std::string>>> ends;
  for (const auto& peer : peers) {
    const int owner = owner_of(intent, peer.vni);
    if (owner == nobody) continue;
    const auto [known, fresh] = ends.try_emplace(owner);
    if (fresh) known->second = ends_of(intent, owner, switch_name);
    if (!known->second || known->second->contains(peer.address)) continue;
    const std::string& label = intent.networks[static_cast<std::size_t>(owner)].label;
    out.push_back({"VNI " + std::to_string(peer.vni) + ": sends to " +
                       name_of_end(intent, peer.address) + ", where " + label +
                       " is not; take it out of the forwarding table",
                   {owner},
                   true});
  }
  return out;
}

}  // namespace tundish::control::network
