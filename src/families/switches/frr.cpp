// Linux leaf or DPU with FRR: VRF devices and one VLAN-aware bridge.
#include "families/switches/frr_parts/frr_parts.hpp"

namespace tundish::switches {
namespace {

constexpr auto kernel = frr_parts::Kernel::vrf_vlan_aware;

SwitchCapabilities capabilities() {
  SwitchCapabilities out = frr_parts::capabilities_of(kernel);
  out.proof_by = "families/switches/frr_test, frr_vtysh_test";
  return out;
}

}  // namespace

extern const SwitchItem frr;
const SwitchItem frr{
    .name = "frr",
    .doc = "Linux leaf or DPU with FRR: VRF devices and one VLAN-aware bridge",
    .source = "FRR 8.4 user guide (evpn.rst, bgp.rst, zebra.rst); ip-link(8), bridge(8), nft(8)",
    .capabilities = capabilities,
    .accept = [](const SwitchState& desired) { return frr_parts::accept_for(kernel, desired); },
    .render = [](const SwitchState& desired) { return frr_parts::render_for(kernel, desired); },
    .parse = [](const SwitchFiles& files,
                const SwitchOwnership& own) { return frr_parts::parse_for(kernel, files, own); },
    .steps = [](const SwitchState& from,
                const SwitchState& to) { return frr_parts::steps_for(kernel, from, to); },
};

}  // namespace tundish::switches
