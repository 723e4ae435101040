#pragma once
// SONiC, community build with FRR in split mode: CONFIG_DB holds ports, VLANs, VRFs, VXLAN maps and
// lists; route targets, distinguishers and leaks are in frr.conf of the bgp container.
// Files: config_db.json (as /etc/sonic/config_db.json or a dump of CONFIG_DB) and frr.conf.
// Steps: `config_db.json` is a JSON Patch (RFC 6902) for `config apply-patch`; fit_patch() suits it
// to the tables that the switch has. `vtysh` runs in the bgp container; the driver saves both.
// Read back: APPL_DB (what the managers took), ASIC_DB (what orchagent gave to the hardware).
// A SAG table and static_anycast_gateway have no YANG model in community SONiC, so that its
// apply-patch refuses them: the switch needs a build with SAG (sonic-buildimage PR #19069, open).
// Sources: SONiC Configuration.md and sonic-yang-models (VRF, VLAN, VLAN_MEMBER, VLAN_INTERFACE,
// VXLAN_TUNNEL, VXLAN_TUNNEL_MAP, VXLAN_EVPN_NVO, ACL_TABLE, ACL_RULE, SAG); acl-loader of
// sonic-utilities (priorities, DEFAULT_RULE); sonic-buildimage #11428, #14949, #8493;
// facts/cloud.md 3.4; checked 2026-11.
#include <map>
#include <string>
#include <string_view>

#include "families/switches/parts/frr_conf.hpp"
#include "families/switches/switch_item.hpp"

namespace tundish::switches::sonic_parts {

inline constexpr const char* tunnel_name = "vtep1";
inline constexpr FrrDialect dialect{FrrLeaks::import_vrf, FrrTexts::in_frr};

using Row = std::map<std::string, std::string>;  ///< one field, one value
using Rows = std::map<std::string, Row>;         ///< by key
/// CONFIG_DB as far as it is ours. `ports` of ACL_TABLE, a list in JSON, is joined by commas.
using Tables = std::map<std::string, Rows>;

Tables tables_of(const SwitchState& state);
std::string render_tables(const Tables& tables);

struct ConfigSeen {
  SwitchState own;
  ForeignNumbers foreign;
  std::vector<std::string> unclear;
};
/// What a switch shows beside CONFIG_DB, each as `sonic-db-dump -n DB -y` prints it.
struct Databases {
  std::string_view appl, asic, counters, state;
};
/// `databases`: nullptr when there is only a file. With them `own` is what is applied, and whatever
/// CONFIG_DB says otherwise is unclear: accepted is not applied.
Result<ConfigSeen> parse_tables(std::string_view json, const SwitchOwnership& ownership,
                                const Databases* databases = nullptr);
/// Rows of ours as the switch applied them. `notes` receives every difference from `config`.
Result<Tables> applied_tables(Tables config, const Databases& databases,
                              const SwitchOwnership& ownership, std::vector<std::string>& notes);
/// Keys of APPL_DB that follow from a change of CONFIG_DB, one a line: `present KEY`, `absent KEY`
/// or `field KEY FIELD VALUE`. What comes next waits for them.
Result<std::string> applied_keys(std::string_view config_before, std::string_view config_after);
Result<Tables> read_tables(std::string_view config_db);

Result<std::vector<SwitchStep>> plan_steps(const SwitchState& from, const SwitchState& to);

/// `config apply-patch` refuses a path into a table that is not there, and a table that becomes
/// empty: such operations are put on the table as a whole. What the configuration lacks already is
/// not removed again.
Result<std::string> fit_patch(std::string_view patch, std::string_view config_db);
/// config_db.json after the patch, as a dry run; a path that is not there is a conflict.
Result<std::string> apply_patch(std::string_view patch, std::string_view config_db);

}  // namespace tundish::switches::sonic_parts
