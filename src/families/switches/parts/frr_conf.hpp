#pragma once
// The part of frr.conf that is a tenant's: VRFs with their VNI, route targets and distinguishers,
// leaks. Shared by the items whose control plane is FRR (frr, frr_netns, sonic).
// Source: FRR 8.4 user guide, evpn.rst, bgp.rst, zebra.rst, static.rst; facts/cloud.md 3.2, 3.3 and
// 3.9; checked 2026-11 with `vtysh -C` of 8.4.4.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "families/switches/switch_item.hpp"
#include "model/switch_state.hpp"

namespace tundish::switches {

/// How a leaked route enters a VRF.
enum class FrrLeaks {
  import_vrf,  ///< `import vrf`, limited by a route-map: the kernel has VRF devices
  link         ///< static routes over a veth pair: VRFs are network namespaces, which a next hop
               ///< cannot point across
};

/// Descriptions of VRFs as those of their interfaces; with `link` the kernel file has them.
enum class FrrTexts { in_frr, elsewhere };

/// A VRF that FRR has forgotten and the kernel has not.
enum class FrrLost {
  unclear,  ///< is a line that nobody understands
  shown     ///< is a VRF without distinguisher and targets, without leaks and routes
};

struct FrrDialect {
  FrrLeaks leaks = FrrLeaks::import_vrf;
  FrrTexts texts = FrrTexts::elsewhere;
  FrrLost lost = FrrLost::unclear;
};

/// The two ends of every leak link. They are never routed: T-CONNECTED keeps them out of BGP.
inline constexpr std::string_view leak_address_a = "169.254.1.1";
inline constexpr std::string_view leak_address_b = "169.254.1.2";
/// Name of the link between two VRFs: the smaller number is the tenant's, whose end is `a`.
std::string leak_link(int vrf_id, int other_id);
std::string leak_end(int vrf_id, int other_id);

/// Imported while a VRF has no target of its own left: with an empty list FRR would derive one that
/// matches any AS with that VNI. No VNI has 32 bits, so nobody exports it.
inline constexpr const char* target_of_nobody = "65535:4294967295";

std::string render_frr_conf(const SwitchState& state, const FrrDialect& dialect);

// Commands for `vtysh -f`, each complete from the top level.
std::string frr_vrf_bgp(const SwitchState& state, const VrfState& vrf, const FrrDialect& dialect);
std::string frr_vrf_vni(const VrfState& vrf, const FrrDialect& dialect);
std::string frr_vrf_text(const VrfState& vrf);
std::string frr_vni(const SwitchState& state, const SegmentState& segment);
/// Leaks that `to` has and `from` has not, or has otherwise; the others are not touched.
std::string frr_new_leaks(const SwitchState& state, const VrfState* from, const VrfState& to,
                          const FrrDialect& dialect);
/// Leaks and routes that `to` has no longer.
std::string frr_old_leaks(const SwitchState& state, const VrfState& from, const VrfState* to,
                          const FrrDialect& dialect);
/// Host routes, and their announcement to the other switches of the VRF.
std::string frr_new_routes(const SwitchState& state, const VrfState* from, const VrfState& to);
std::string frr_old_routes(const SwitchState& state, const VrfState& from, const VrfState* to);
std::string frr_no_vrf_vni(const VrfState& vrf);
std::string frr_no_vrf(const SwitchState& state, const VrfState& vrf);
std::string frr_no_vni(const SwitchState& state, const SegmentState& segment);
/// Brings targets and distinguisher from one to the other; imports that go, go first, and the list
/// is never empty in between.
std::string frr_vrf_targets(const SwitchState& state, const VrfState& from, const VrfState& to);
std::string frr_vni_targets(const SwitchState& state, const SegmentState& from,
                            const SegmentState& to);
/// The fast revoke: the VRF imports from nobody.
std::string frr_vrf_revoke(const SwitchState& state, const VrfState& vrf);
std::string frr_vni_revoke(const SwitchState& state, const SegmentState& segment);
/// What all VRFs share; "" when the dialect needs none.
std::string frr_shared(const FrrDialect& dialect);
std::string frr_no_shared(const FrrDialect& dialect);

struct FrrVrfSeen {
  VrfState vrf;  ///< name, vrf_id, l3vni, rd, targets, leaks and, if in_frr, the description
  bool has_bgp = false;
};

struct FrrVniSeen {
  int vni = 0;
  std::string rd;
  std::vector<std::string> import_targets, export_targets;
};

struct FrrSeen {
  std::int64_t asn = 0;
  std::string router_id;
  std::map<std::string, FrrVrfSeen> vrfs;  ///< only ours
  std::map<int, FrrVniSeen> vnis;          ///< also those of others: the caller knows whose
  ForeignNumbers foreign;
  std::vector<std::string> unclear;
};

/// Total.
FrrSeen parse_frr_conf(std::string_view text, const SwitchOwnership& ownership,
                       const FrrDialect& dialect);

}  // namespace tundish::switches
