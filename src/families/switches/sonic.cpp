// SONiC, community build: CONFIG_DB and FRR.
#include <algorithm>

#include "families/switches/parts/accept.hpp"
#include "families/switches/parts/words.hpp"
#include "families/switches/sonic_parts/sonic_parts.hpp"

namespace tundish::switches {
namespace {

SwitchCapabilities capabilities() {
  SwitchCapabilities out;
  out.needs_l3vlan = true;
  out.address_routes = true;
  out.proof = ProofLevel::emulator;
  out.proof_by = "tests/contract/switch_drivers_test";
  return out;
}

Result<> accept(const SwitchState& desired) {
  TRY_VOID(accept_state(desired, capabilities()));
  for (const auto& vrf : desired.vrfs) {
    // Source: sonic-vrf.yang, pattern of name: "Vrf" and up to 12 more; checked 2026-11.
    if (vrf.name.starts_with("Vrf")) continue;
    return refuse("vrf/" + vrf.name, "SONiC wants a name that begins with Vrf",
                  "use for example Vrf00010");
  }
  for (const auto& port : desired.ports) {
    if (port.name.starts_with("Ethernet") &&
        parse_number(std::string_view(port.name).substr(8), 0, 9999)) {
      continue;
    }
    return refuse("port/" + port.name, "SONiC has no port of that name",
                  "write for example Ethernet4");
  }
  for (const auto& acl : desired.acls) {
    if (acl.rules.back().sequence < 9999) continue;
    return refuse("acl/" + acl.name, "sequence 9999 is that of the closing deny", "use 1..9998");
  }
  return {};
}

Result<SwitchFiles> render(const SwitchState& desired) {
  TRY_VOID(accept(desired));
  return SwitchFiles{
      {"config_db.json", sonic_parts::render_tables(sonic_parts::tables_of(desired))},
      {"frr.conf", render_frr_conf(desired, sonic_parts::dialect)}};
}

std::string_view text_of(const SwitchFiles& files, std::string_view name) {
  for (const auto& file : files) {
    if (file.name == name) return file.text;
  }
  return {};
}

void join_vrfs(SwitchSeen& out, FrrSeen& frr) {
  for (VrfState& vrf : out.own.vrfs) {
    const auto found = frr.vrfs.find(vrf.name);
    if (found == frr.vrfs.end()) {
      out.unclear.push_back("config_db.json: " + vrf.name + " is not in FRR");
      continue;
    }
    if (found->second.vrf.l3vni != vrf.l3vni) {
      out.unclear.push_back("frr.conf: " + vrf.name + " has VNI " +
                            std::to_string(found->second.vrf.l3vni) + " there");
    }
    VrfState joined = std::move(found->second.vrf);
    joined.l3vni = vrf.l3vni;
    joined.l3vlan = vrf.l3vlan;
    vrf = std::move(joined);
    frr.vrfs.erase(found);
  }
  for (auto& [name, seen] : frr.vrfs) {
    out.unclear.push_back("frr.conf: " + name + " is not in CONFIG_DB");
    out.own.vrfs.push_back(std::move(seen.vrf));
  }
}

void join_segments(SwitchSeen& out, FrrSeen& frr, const SwitchOwnership& ownership) {
  for (SegmentState& segment : out.own.segments) {
    const auto vni = frr.vnis.find(segment.l2vni);
    if (vni == frr.vnis.end()) {
      out.unclear.push_back("config_db.json: vni " + std::to_string(segment.l2vni) +
                            " has no targets in FRR");
      continue;
    }
    segment.rd = vni->second.rd;
    segment.import_targets = std::move(vni->second.import_targets);
    segment.export_targets = std::move(vni->second.export_targets);
    frr.vnis.erase(vni);
  }
  for (const auto& [number, vni] : frr.vnis) {
    if (is_own_vni(number, ownership)) {
      out.unclear.push_back("frr.conf: vni " + std::to_string(number) + " has no segment");
      continue;
    }
    out.foreign.vnis.push_back(number);
    for (const auto* list : {&vni.import_targets, &vni.export_targets}) {
      for (const auto& target : *list) out.foreign.route_targets.push_back(target);
    }
  }
}

Result<SwitchSeen> parse(const SwitchFiles& files, const SwitchOwnership& ownership) {
  const sonic_parts::Databases databases{
      text_of(files, "appl_db.json"), text_of(files, "asic_db.json"),
      text_of(files, "counters_db.json"), text_of(files, "state_db.json")};
  // A file alone has no databases; an answer of a switch has all of them.
  const bool live = !databases.appl.empty();
  auto config = TRY(sonic_parts::parse_tables(text_of(files, "config_db.json"), ownership,
                                              live ? &databases : nullptr));
  auto frr = parse_frr_conf(text_of(files, "frr.conf"), ownership, sonic_parts::dialect);
  SwitchSeen out{std::move(config.own), std::move(config.foreign), std::move(config.unclear), {}};
  out.own.asn = frr.asn;
  out.own.router_id = frr.router_id;
  for (auto& line : frr.unclear) out.unclear.push_back(std::move(line));
  for (auto& vrf : frr.foreign.vrfs) out.foreign.vrfs.push_back(std::move(vrf));
  for (const int vni : frr.foreign.vnis) out.foreign.vnis.push_back(vni);
  for (auto& target : frr.foreign.route_targets)
    out.foreign.route_targets.push_back(std::move(target));
  join_vrfs(out, frr);
  join_segments(out, frr, ownership);
  sort_state(out.own);
  tidy_up(out.foreign);
  return out;
}

}  // namespace

extern const SwitchItem sonic;
const SwitchItem sonic{
    .name = "sonic",
    .doc = "SONiC, community build: CONFIG_DB by JSON Patch, route targets in FRR",
    .source = "SONiC Configuration.md and sonic-yang-models; FRR 8.4 user guide (evpn.rst)",
    .capabilities = capabilities,
    .accept = accept,
    .render = render,
    .parse = parse,
    .steps = sonic_parts::plan_steps,
};

}  // namespace tundish::switches
