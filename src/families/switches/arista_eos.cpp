// Arista EOS: a running configuration, changed within a session (`configure session`), which gives
// an atomic change and its difference.
#include "families/switches/arista_eos_parts/parts.hpp"
#include "families/switches/parts/accept.hpp"

namespace tundish::switches {
namespace {

SwitchCapabilities capabilities() {
  SwitchCapabilities out;
  out.address_routes = true;
  out.confirmed_commit = true;  // `commit timer`
  out.session_diff = true;
  // Source: EOS user manual, VRF names up to 100 characters; ours are kept to what Linux allows
  // below EOS (a VRF is a network namespace ns-NAME); checked 2026-11.
  out.vrf_name_limit = 15;
  out.acl_name_limit = 31;
  // Source: EOS user manual, `vlan internal order`: routed ports take internal VLANs from 1006 up
  // (ascending, the default) or 4094 down; checked 2026-11. An operator moves the range with that
  // command, so it is told by the ownership's VLAN range, not refused here.
  out.proof = ProofLevel::emulator;
  out.proof_by = "tests/contract/switch_drivers_test";
  return out;
}

/// Ethernet3, Ethernet3/1, Ethernet3/1/1.
bool is_port_name(std::string_view name) {
  constexpr std::string_view word = "Ethernet";
  if (!name.starts_with(word)) return false;
  bool digit = false;
  for (const char c : name.substr(word.size())) {
    if (c == '/' && !digit) return false;
    if (c != '/' && (c < '0' || c > '9')) return false;
    digit = c != '/';
  }
  return digit;
}

Result<> accept(const SwitchState& desired) {
  TRY_VOID(accept_state(desired, capabilities()));
  for (const auto& port : desired.ports) {
    if (is_port_name(port.name)) continue;
    return refuse("port/" + port.name, "EOS has no port of that name",
                  "write it in full, for example Ethernet3/1");
  }
  return {};
}

Result<SwitchFiles> render(const SwitchState& desired) {
  TRY_VOID(accept(desired));
  return SwitchFiles{{"running-config", render_lines(desired, eos::dialect())}};
}

Result<SwitchSeen> parse(const SwitchFiles& files, const SwitchOwnership& ownership) {
  LineTree config;
  for (const auto& file : files) {
    if (file.name == "running-config") config = parse_line_tree(file.text);
  }
  return eos::read_config(config, ownership);
}

Result<std::vector<SwitchStep>> steps(const SwitchState& from, const SwitchState& to) {
  TRY_VOID(accept(to));
  return plan_lines(from, to, eos::dialect());
}

}  // namespace

extern const SwitchItem arista_eos;
const SwitchItem arista_eos = {
    "arista_eos",
    "Arista EOS 4.22 or later, multi-agent routing, over eAPI",
    "EOS user manual (EVPN, VXLAN, inter-VRF local route leaking); aristanetworks/avd intended "
    "configurations",
    capabilities,
    accept,
    render,
    parse,
    steps};

}  // namespace tundish::switches
