// Juniper Junos: statements, changed in one confirmed commit: the switch undoes what nobody
// confirms.
#include <algorithm>

#include "families/switches/junos_parts/parts.hpp"
#include "families/switches/parts/accept.hpp"
#include "families/switches/parts/same_switch.hpp"

namespace tundish::switches {
namespace {

SwitchCapabilities capabilities() {
  SwitchCapabilities out;
  out.address_routes = true;
  out.confirmed_commit = true;
  out.session_diff = true;  // show | compare
  // Source: Juniper CLI reference, routing-instances: names up to 127 characters; ours are kept to
  // the 15 that every vendor holds. Filters: up to 64; checked 2026-11.
  out.vrf_name_limit = 15;
  out.acl_name_limit = 31;
  out.proof = ProofLevel::emulator;
  out.proof_by = "tests/contract/switch_drivers_test";
  return out;
}

/// et-0/0/3, xe-0/0/3:1 and the like.
bool is_port_name(std::string_view name) {
  if (name.size() < 8 || name[2] != '-') return false;
  const std::string_view kind = name.substr(0, 2);
  if (kind != "et" && kind != "xe" && kind != "ge" && kind != "mge") return false;
  int slashes = 0, colons = 0;
  bool digit = false;
  for (const char c : name.substr(3)) {
    const bool mark = c == '/' || c == ':';
    if (mark && !digit) return false;
    if (!mark && (c < '0' || c > '9')) return false;
    slashes += c == '/' ? 1 : 0;
    colons += c == ':' ? 1 : 0;
    digit = !mark;
  }
  return digit && slashes == 2 && colons <= 1;
}

Result<> accept(const SwitchState& desired) {
  TRY_VOID(accept_state(desired, capabilities()));
  for (const auto& port : desired.ports) {
    if (is_port_name(port.name)) continue;
    return refuse("port/" + port.name, "Junos has no port of that name",
                  "write it in full and without a unit, for example et-0/0/3");
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
  using namespace juniper;
  std::string text;
  const auto add = [&](const JunosObject& object) {
    for (const auto& line : object.lines) text += "set " + render_statement(line) + "\n";
  };
  add(declared_object(desired));
  add(fabric_object(desired));
  for (const auto& acl : desired.acls) add(acl_object(acl));
  for (const auto& vrf : desired.vrfs) add(vrf_object(vrf, desired));
  for (const auto& segment : desired.segments) add(segment_object(segment, desired));
  for (const auto& port : desired.ports) add(port_object(port, desired));
  return SwitchFiles{{"configuration", text}};
}

Result<SwitchSeen> parse(const SwitchFiles& files, const SwitchOwnership& ownership) {
  juniper::Statements config;
  for (const auto& file : files) {
    if (file.name == "configuration") config = juniper::parse_statements(file.text);
  }
  return juniper::read_config(config, ownership);
}

Result<std::vector<SwitchStep>> steps(const SwitchState& from, const SwitchState& to) {
  TRY_VOID(accept(to));
  if (from == to) return std::vector<SwitchStep>{};
  TRY_VOID(same_switch(from, to));
  return juniper::plan_steps(from, to);
}

}  // namespace

extern const SwitchItem junos;
const SwitchItem junos = {
    "junos",
    "Juniper Junos and Junos Evolved with mac-vrf instances, over NETCONF or REST",
    "Juniper EVPN user guide (MAC-VRF, IRB symmetric routing, ip-prefix-routes); ipspace/netlab "
    "template evpn/vjunos-switch.j2",
    capabilities,
    accept,
    render,
    parse,
    steps};

}  // namespace tundish::switches
