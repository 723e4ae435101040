#include <algorithm>
#include <set>

#include "families/switches/frr_parts/frr_parts.hpp"
#include "families/switches/parts/accept.hpp"
#include "families/switches/parts/words.hpp"

namespace tundish::switches::frr_parts {
namespace {

// Source: Linux, include/uapi/linux/if.h: IFNAMSIZ 16 with the closing zero; checked 2026-11.
constexpr std::size_t link_name_max = 15;

Result<> accept_spaces(const SwitchState& desired) {
  for (const auto& vrf : desired.vrfs) {
    // br<number> is a segment's bridge up to 4094 and an L3VNI's above.
    if (vrf.l3vni > 4094) continue;
    return refuse("vrf/" + vrf.name, "VNI " + std::to_string(vrf.l3vni) + " looks like a VLAN",
                  "use an L3VNI above 4094");
  }
  std::set<std::string> links;
  for (const auto& [tenant, other] : leak_pairs(desired)) {
    if (links.insert(leak_link(tenant->vrf_id, other->vrf_id)).second) continue;
    return refuse("vrf/" + tenant->name, "it exchanges routes with two VRFs of greater number",
                  "leak from one storage VRF only");
  }
  return {};
}

/// Without what FRR has forgotten: it is there as it is, and no order of others is refused for it.
SwitchState without_lost(SwitchState state) {
  std::set<std::string> vrfs;
  std::set<int> vlans;
  for (const auto& vrf : state.vrfs) {
    if (is_lost(vrf)) vrfs.insert(vrf.name);
  }
  for (const auto& segment : state.segments) {
    if (is_lost(segment) || vrfs.contains(segment.vrf)) vlans.insert(segment.vlan);
  }
  if (vrfs.empty() && vlans.empty()) return state;
  std::erase_if(state.vrfs, [](const VrfState& vrf) { return is_lost(vrf); });
  for (auto& vrf : state.vrfs) {
    std::erase_if(vrf.leaks, [&](const LeakState& leak) { return vrfs.contains(leak.from_vrf); });
  }
  std::erase_if(state.segments,
                [&](const SegmentState& segment) { return vlans.contains(segment.vlan); });
  std::erase_if(state.ports, [&](const SwitchPortState& port) {
    return (port.mode == PortMode::access && vlans.contains(port.vlan)) ||
           (port.mode == PortMode::routed && vrfs.contains(port.vrf));
  });
  return state;
}

/// The tunnel's numbers that the files disagree about are in nobody's state.
class Joiner {
 public:
  Joiner(Kernel kernel, const SwitchOwnership& ownership) : kernel_(kernel), own_(ownership) {}

  SwitchSeen join(FrrSeen frr, KernelSeen kernel, NftSeen nft) {
    out_.own.asn = frr.asn;
    out_.own.router_id = frr.router_id;
    out_.own.vtep_address = kernel.vtep_address;
    if (!kernel.anycast_mac.empty()) out_.own.anycast_mac = kernel.anycast_mac;
    out_.foreign = std::move(frr.foreign);
    for (const int vni : kernel.foreign.vnis) out_.foreign.vnis.push_back(vni);
    for (const int vlan : kernel.foreign.vlans) out_.foreign.vlans.push_back(vlan);
    for (auto& vrf : kernel.foreign.vrfs) out_.foreign.vrfs.push_back(std::move(vrf));
    for (auto& acl : nft.foreign_acls) out_.foreign.acls.push_back(std::move(acl));
    for (auto* list : {&frr.unclear, &kernel.unclear, &nft.unclear}) {
      for (auto& line : *list) out_.unclear.push_back(std::move(line));
    }
    join_vrfs(frr, kernel);
    join_segments(frr, kernel, nft);
    out_.own.ports = std::move(kernel.ports);
    out_.peers = std::move(kernel.peers);
    out_.own.acls = std::move(nft.acls);
    for (const auto& [place, acl] : nft.applied) {
      if (is_own_acl(acl, own_)) note("nft: " + place + " jumps to " + acl);
    }
    if (kernel_ == Kernel::netns_per_vni) join_leaks(kernel);
    sort_state(out_.own);
    tidy_up(out_.foreign);
    return std::move(out_);
  }

 private:
  void note(std::string what) { out_.unclear.push_back(std::move(what)); }

  void join_vrfs(FrrSeen& frr, const KernelSeen& kernel) {
    for (auto& [name, seen] : frr.vrfs) {
      const auto device = kernel.vrfs.find(name);
      if (device == kernel.vrfs.end()) {
        note("frr.conf: " + name + " is not in the kernel");
      } else {
        const bool lost = !seen.has_bgp && seen.vrf.l3vni == 0;
        if (!lost && device->second.l3vni != seen.vrf.l3vni) {
          note(name + " has VNI " + std::to_string(seen.vrf.l3vni) + " in FRR and " +
               std::to_string(device->second.l3vni) + " in the kernel");
        }
        seen.vrf.l3vni = device->second.l3vni;
        seen.vrf.l3vlan = device->second.l3vlan;
        seen.vrf.description = device->second.description;
      }
      out_.own.vrfs.push_back(std::move(seen.vrf));
    }
    for (const auto& [name, vrf] : kernel.vrfs) {
      if (frr.vrfs.contains(name)) continue;
      out_.own.vrfs.push_back(vrf);  // FRR has lost it
    }
  }

  void join_segments(FrrSeen& frr, KernelSeen& kernel, NftSeen& nft) {
    for (SegmentState& segment : kernel.segments) {
      const auto vni = frr.vnis.find(segment.l2vni);
      if (vni != frr.vnis.end()) {  // else FRR has lost it, and it shows no targets
        segment.rd = vni->second.rd;
        segment.import_targets = vni->second.import_targets;
        segment.export_targets = vni->second.export_targets;
        frr.vnis.erase(vni);
      }
      const std::string place = kernel_ == Kernel::netns_per_vni ? segment.vrf : "";
      const auto applied = nft.applied.find(place + " " + segment_link(kernel_, segment));
      if (applied != nft.applied.end()) {
        segment.acl_in = applied->second;
        nft.applied.erase(applied);
      }
      out_.own.segments.push_back(std::move(segment));
    }
    for (const auto& [number, vni] : frr.vnis) {
      if (is_own_vni(number, own_)) {
        note("frr.conf: vni " + std::to_string(number) + " has no segment");
        continue;
      }
      out_.foreign.vnis.push_back(number);
      for (const auto* list : {&vni.import_targets, &vni.export_targets}) {
        for (const auto& target : *list) out_.foreign.route_targets.push_back(target);
      }
    }
  }

  void join_leaks(const KernelSeen& kernel) {
    std::set<std::string> wanted;
    for (const auto& [tenant, other] : leak_pairs(out_.own)) {
      wanted.insert(leak_link(tenant->vrf_id, other->vrf_id) + " " + tenant->name + " " +
                    other->name);
    }
    const std::set<std::string> have(kernel.leak_links.begin(), kernel.leak_links.end());
    for (const auto& link : wanted) {
      if (!have.contains(link)) note("kernel: the link " + link + " of a leak is missing");
    }
    for (const auto& link : have) {
      const auto& vrfs = out_.own.vrfs;
      const bool lost = std::any_of(vrfs.begin(), vrfs.end(), [&](const VrfState& vrf) {
        return is_lost(vrf) && link.find(" " + vrf.name) != std::string::npos;
      });
      if (!wanted.contains(link) && !lost) note("kernel: the link " + link + " serves no leak");
    }
  }

  Kernel kernel_;
  const SwitchOwnership& own_;
  SwitchSeen out_;
};

std::string_view text_of(const SwitchFiles& files, std::string_view name) {
  for (const auto& file : files) {
    if (file.name == name) return file.text;
  }
  return {};
}

}  // namespace

FrrDialect dialect_of(Kernel kernel) {
  return {kernel == Kernel::netns_per_vni ? FrrLeaks::link : FrrLeaks::import_vrf,
          FrrTexts::elsewhere, FrrLost::shown};
}

SwitchCapabilities capabilities_of(Kernel kernel) {
  SwitchCapabilities out;
  out.needs_l3vlan = kernel == Kernel::vrf_vlan_aware;
  out.vrf_name_limit = link_name_max;
  out.address_routes = true;
  return out;
}

Result<> accept_for(Kernel kernel, const SwitchState& wanted) {
  const SwitchState desired = without_lost(wanted);
  TRY_VOID(accept_state(desired, capabilities_of(kernel)));
  for (const auto& port : desired.ports) {
    if (port.name.size() <= link_name_max && port.name.find('/') == std::string::npos) continue;
    return refuse("port/" + port.name, "Linux cannot hold the name",
                  "use at most 15 characters without '/'");
  }
  return kernel == Kernel::netns_per_vni ? accept_spaces(desired) : Result<>{};
}

Result<SwitchFiles> render_for(Kernel kernel, const SwitchState& desired) {
  TRY_VOID(accept_for(kernel, desired));
  return SwitchFiles{{"frr.conf", render_frr_conf(desired, dialect_of(kernel))},
                     {"kernel", render_kernel(kernel, desired)},
                     {"nft", render_nft(kernel, desired)}};
}

Result<SwitchSeen> parse_for(Kernel kernel, const SwitchFiles& files,
                             const SwitchOwnership& ownership) {
  auto frr = parse_frr_conf(text_of(files, "frr.conf"), ownership, dialect_of(kernel));
  auto links = parse_kernel(kernel, text_of(files, "kernel"), ownership);
  auto nft = parse_nft(text_of(files, "nft"), ownership);
  return Joiner(kernel, ownership).join(std::move(frr), std::move(links), std::move(nft));
}

}  // namespace tundish::switches::frr_parts
