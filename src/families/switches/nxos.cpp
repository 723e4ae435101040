// Cisco NX-OS: a running configuration, changed line by line over NX-API. There is no session that
// takes all or nothing: the driver sets a checkpoint before and rolls back to it.
#include <algorithm>

#include "families/switches/nxos_parts/parts.hpp"
#include "families/switches/parts/accept.hpp"

namespace tundish::switches {
namespace {

SwitchCapabilities capabilities() {
  SwitchCapabilities out;
  out.address_routes = true;
  out.needs_l3vlan = true;
  // Source: Cisco document 213908, "Limitations": what is leaked cannot be leaked again;
  // checked 2026-11.
  out.transitive_leak = false;
  // Source: Cisco Nexus 9000 NX-OS unicast routing guide, VRF names up to 32 characters; ours are
  // kept to the 15 that every vendor holds. Access lists: security guide, 64 characters;
  // checked 2026-11.
  out.vrf_name_limit = 15;
  out.acl_name_limit = 31;
  // Source: Cisco Nexus 9000 NX-OS layer 2 guide, "Reserved VLANs": 3968..4094 by default; from
  // memory, the page was not to be read in 2026-11. Our own VLANs end at 2999.
  out.reserved_vlans = {{3968, 4094}};
  out.proof = ProofLevel::emulator;
  out.proof_by = "tests/contract/switch_drivers_test";
  return out;
}

/// Ethernet1/3, Ethernet1/3/1, Ethernet101/1/3.
bool is_port_name(std::string_view name) {
  constexpr std::string_view word = "Ethernet";
  if (!name.starts_with(word)) return false;
  bool digit = false;
  int slashes = 0;
  for (const char c : name.substr(word.size())) {
    if (c == '/' && !digit) return false;
    if (c != '/' && (c < '0' || c > '9')) return false;
    digit = c != '/';
    slashes += c == '/' ? 1 : 0;
  }
  return digit && slashes >= 1 && slashes <= 2;
}

Result<> accept(const SwitchState& desired) {
  TRY_VOID(accept_state(desired, capabilities()));
  for (const auto& port : desired.ports) {
    if (is_port_name(port.name)) continue;
    return refuse("port/" + port.name, "NX-OS has no port of that name",
                  "write it in full, for example Ethernet1/3");
  }
  for (const auto& vrf : desired.vrfs) {
    for (const auto& leak : vrf.leaks) {
      // A leak is made by targets: a source that shares one with the VRF would enter whole.
      for (const auto& target : find_vrf(desired, leak.from_vrf)->export_targets) {
        const auto& own = vrf.import_targets;
        if (std::find(own.begin(), own.end(), target) == own.end()) continue;
        return refuse(
            "vrf/" + vrf.name,
            leak.from_vrf + " exports " + target + ", which the VRF imports without a limit",
            "give the two VRFs targets of their own");
      }
    }
  }
  return {};
}

Result<SwitchFiles> render(const SwitchState& desired) {
  TRY_VOID(accept(desired));
  return SwitchFiles{{"running-config", render_lines(desired, nexus::dialect())}};
}

Result<SwitchSeen> parse(const SwitchFiles& files, const SwitchOwnership& ownership) {
  LineTree config;
  for (const auto& file : files) {
    if (file.name == "running-config") config = parse_line_tree(file.text);
  }
  return nexus::read_config(config, ownership);
}

Result<std::vector<SwitchStep>> steps(const SwitchState& from, const SwitchState& to) {
  TRY_VOID(accept(to));
  return plan_lines(from, to, nexus::dialect());
}

}  // namespace

extern const SwitchItem nxos;
const SwitchItem nxos = {
    "nxos",
    "Cisco NX-OS on Nexus 9000, over NX-API",
    "Cisco Nexus 9000 NX-OS VXLAN configuration guide; Cisco document 213908; ipspace/netlab "
    "templates evpn/nxos.j2, vxlan/nxos.j2",
    capabilities,
    accept,
    render,
    parse,
    steps};

}  // namespace tundish::switches
