// NVIDIA Cumulus Linux through NVUE: one tree, changed in revisions.
#include <algorithm>

#include "families/switches/nvue_parts/nvue_parts.hpp"
#include "families/switches/parts/accept.hpp"

namespace tundish::switches {
namespace {

SwitchCapabilities capabilities() {
  SwitchCapabilities out;
  out.address_routes = true;
  out.session_diff = true;  // GET /nvue_v1/?rev=ID&diff=applied before the apply
  // Source: Cumulus Linux 5.10 user guide, VLAN-aware Bridge Mode: 3725-3999 are reserved for
  // L3VNIs and internal use by default. From memory: the page was not to be read in 2026-11, and
  // older releases reserve 3000-3999. Our own VLANs end at 2999.
  out.reserved_vlans = {{3725, 3999}};
  out.proof = ProofLevel::emulator;
  out.proof_by = "tests/contract/switch_drivers_test";
  return out;
}

Result<> accept(const SwitchState& desired) {
  TRY_VOID(accept_state(desired, capabilities()));
  for (const auto& port : desired.ports) {
    const bool plain = std::all_of(port.name.begin(), port.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    });
    if (plain && port.name.starts_with("swp") && port.name.size() <= 15) continue;
    return refuse("port/" + port.name, "Cumulus Linux has no port of that name",
                  "write for example swp1 or swp1s0");
  }
  return {};
}

Result<SwitchFiles> render(const SwitchState& desired) {
  TRY_VOID(accept(desired));
  return SwitchFiles{{"nvue.json", nvue_parts::render_tree(desired)}};
}

Result<SwitchSeen> parse(const SwitchFiles& files, const SwitchOwnership& ownership) {
  for (const auto& file : files) {
    if (file.name == "nvue.json") return nvue_parts::read_tree(file.text, ownership);
  }
  return make_error(Code::corrupt, "there is no nvue.json");
}

}  // namespace

extern const SwitchItem nvue;
const SwitchItem nvue{
    .name = "nvue",
    .doc = "NVIDIA Cumulus Linux 5 through NVUE",
    .source = "Cumulus Linux 5.10 user guide: NVUE API, EVPN, VRF, Access Control Lists",
    .capabilities = capabilities,
    .accept = accept,
    .render = render,
    .parse = parse,
    .steps = nvue_parts::plan_steps,
};

}  // namespace tundish::switches
