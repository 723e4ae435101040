// Linux with FRR where the kernel has no VRF devices: a network namespace for each VRF.
#include "families/switches/frr_parts/frr_parts.hpp"

namespace tundish::switches {
namespace {

constexpr auto kernel = frr_parts::Kernel::netns_per_vni;

SwitchCapabilities capabilities() {
  SwitchCapabilities out = frr_parts::capabilities_of(kernel);
  out.proof = ProofLevel::wire;
  out.proof_by = "tests/lab/network.sh, tests/netns/frr_driver.sh";
  return out;
}

}  // namespace

extern const SwitchItem frr_netns;
const SwitchItem frr_netns{
    .name = "frr_netns",
    .doc = "Linux with FRR where the kernel has no VRF devices: a network namespace for each VRF",
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
