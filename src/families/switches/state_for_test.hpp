#pragma once
// Random valid states for the tests of every switch item: tenants with the same prefixes, storage
// with leaks both ways, access lists, routed ports, ports in quarantine. The same seed gives the
// same state.
#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "families/switches/switch_item.hpp"
#include "model/switch_state.hpp"

namespace tundish::switches {

/// How a vendor writes ports, and what it cannot keep.
struct StateShape {
  std::function<std::string(int)> port_name = [](int i) { return "swp" + std::to_string(i); };
  enum class VrfText { kept, lost } vrf_text = VrfText::kept;
};

inline SwitchOwnership ownership_for_test(const SwitchState& state) {
  SwitchOwnership out;
  for (const auto& port : state.ports) out.ports.push_back(port.name);
  return out;
}

class StateMaker {
 public:
  StateMaker(std::uint32_t seed, const SwitchCapabilities& capabilities, StateShape shape = {})
      : random_(seed), capabilities_(capabilities), shape_(std::move(shape)) {}

  SwitchState make(int tenants) {
    SwitchState state;
    state.asn = upto(2) == 0 ? 4200000101 : 65001 + upto(8);
    state.router_id = state.vtep_address = "10.255.0." + std::to_string(1 + upto(250));
    if (upto(4) == 0) state.anycast_mac = "02:00:5e:00:01:1" + std::to_string(upto(9));
    for (int tenant = 1; tenant <= tenants; ++tenant) add_tenant(state, tenant);
    if (tenants > 0 && upto(2) == 0) add_storage(state);
    for (int spare = upto(3); spare > 0; --spare) {
      add_port(state).description = upto(2) == 0 ? "" : "spare " + std::to_string(spare);
    }
    sort_state(state);
    return state;
  }

  /// `state` after a few changes of the kind that orders bring.
  SwitchState change(SwitchState state) {
    for (int n = 1 + upto(3); n > 0; --n) change_once(state);
    state = merge_patch(std::move(state), {}, {"Vrf60001"});
    for (auto& vrf : state.vrfs) {
      std::erase_if(vrf.routes,
                    [&](const AddressRoute& route) { return !leads(state, vrf, route); });
    }
    return state;
  }

  int upto(int bound) { return static_cast<int>(random_() % static_cast<std::uint32_t>(bound)); }

 private:
  /// To a segment that is there: a route goes with the segment that it leads into.
  static bool leads(const SwitchState& state, const VrfState& vrf, const AddressRoute& route) {
    const std::string net = route.via.substr(0, route.via.rfind('.') + 1);
    return std::any_of(state.segments.begin(), state.segments.end(), [&](const auto& segment) {
      return segment.vrf == vrf.name && segment.gateway.starts_with(net);
    });
  }

  static std::string five(int number) { return std::to_string(100000 + number).substr(1); }

  VrfState make_vrf(const SwitchState& state, int vrf_id, int l3vni) {
    VrfState vrf;
    vrf.name = "Vrf" + five(vrf_id);
    if (shape_.vrf_text == StateShape::VrfText::kept && upto(3) > 0) {
      vrf.description = "tenant-" + std::to_string(vrf_id) + " train (a/b), 8x";
    }
    vrf.vrf_id = vrf_id;
    vrf.l3vni = l3vni;
    if (capabilities_.needs_l3vlan) vrf.l3vlan = 2000 + static_cast<int>(state.vrfs.size());
    vrf.rd = state.router_id + ":" + std::to_string(vrf_id);
    vrf.import_targets = vrf.export_targets = {"65000:" + std::to_string(l3vni)};
    if (upto(5) == 0) vrf.import_targets.push_back("65000:99" + five(vrf_id).substr(2));
    return vrf;
  }

  SegmentState make_segment(const SwitchState& state, const std::string& vrf, int index) {
    SegmentState segment;
    segment.vrf = vrf;
    segment.vlan = 100 + static_cast<int>(state.segments.size());
    segment.l2vni = 10001 + static_cast<int>(state.segments.size()) * 7;
    segment.rd = state.router_id + ":" + std::to_string(segment.vlan);
    segment.import_targets = segment.export_targets = {"65000:" + std::to_string(segment.l2vni)};
    // The second segment of every tenant has the same prefix: tenants may overlap.
    if (upto(6) > 0) segment.gateway = "10.10." + std::to_string(index) + ".1/24";
    if (upto(3) == 0) segment.mtu = 1500;
    return segment;
  }

  AclState make_acl(const std::string& name) {
    AclState acl;
    acl.name = name;
    for (int n = 1 + upto(4); n > 0; --n) {
      AclRule rule;
      rule.sequence = 10 * static_cast<int>(acl.rules.size() + 1);
      rule.action = upto(3) == 0 ? AclAction::deny : AclAction::permit;
      static constexpr const char* protocols[] = {"ip", "tcp", "udp", "icmp"};
      rule.protocol = protocols[upto(4)];
      if (upto(2) == 0) rule.source = "10.10.0.0/24";
      if (upto(2) == 0) rule.destination = "10.200." + std::to_string(upto(9)) + ".0/24";
      if ((rule.protocol == "tcp" || rule.protocol == "udp") && upto(2) == 0) {
        rule.port_from = 1 + upto(60000);
        if (upto(2) == 0) rule.port_to = rule.port_from + 1 + upto(100);
      }
      acl.rules.push_back(rule);
    }
    return acl;
  }

  SwitchPortState& add_port(SwitchState& state) {
    SwitchPortState port;
    port.name = shape_.port_name(static_cast<int>(state.ports.size()) + 1);
    state.ports.push_back(port);
    return state.ports.back();
  }

  void add_tenant(SwitchState& state, int tenant) {
    const int vrf_id = tenant * 10 + upto(9);
    VrfState vrf = make_vrf(state, vrf_id, 50010 + tenant * 3);
    const std::string acl = "T-" + std::to_string(vrf_id) + "-IN";
    const bool filtered = upto(2) == 0;
    for (int index = 0; index < 1 + upto(2); ++index) {
      SegmentState segment = make_segment(state, vrf.name, index);
      if (filtered && !segment.gateway.empty()) segment.acl_in = acl;
      for (int n = 1 + upto(3); n > 0; --n) {
        SwitchPortState& port = add_port(state);
        port.mode = PortMode::access;
        port.vlan = segment.vlan;
        if (upto(2) == 0) port.description = "node" + five(n) + " eth0";
      }
      state.segments.push_back(segment);
    }
    for (const auto& segment : state.segments) {
      if (segment.vrf != vrf.name || segment.gateway.empty() || !vrf.routes.empty()) continue;
      for (int n = upto(3); n > 0; --n) {
        vrf.routes.push_back(
            {"100.65." + std::to_string(vrf_id % 250) + "." + std::to_string(n) + "/32",
             segment.gateway.substr(0, segment.gateway.rfind('.')) + "." + std::to_string(10 + n)});
      }
    }
    if (upto(3) == 0) {
      SwitchPortState& port = add_port(state);
      port.mode = PortMode::routed;
      port.vrf = vrf.name;
      port.address = "10.1.0." + std::to_string(2 * upto(100)) + "/31";
    }
    const bool used = std::any_of(state.segments.begin(), state.segments.end(),
                                  [&](const SegmentState& s) { return s.acl_in == acl; });
    if (used) state.acls.push_back(make_acl(acl));
    state.vrfs.push_back(std::move(vrf));
  }

  void add_storage(SwitchState& state) {
    VrfState storage = make_vrf(state, 60001, 60001);
    for (auto& tenant : state.vrfs) {
      if (upto(3) == 0) continue;
      tenant.leaks.push_back({storage.name, {"10.200.0.0/24"}});
      LeakState back{tenant.name, {}};
      for (int n = 1 + upto(2); n > 0; --n) {
        back.prefixes.push_back("100.64." + std::to_string(tenant.vrf_id % 250) + "." +
                                std::to_string(n) + "/32");
      }
      storage.leaks.push_back(std::move(back));
    }
    SegmentState segment = make_segment(state, storage.name, 0);
    segment.gateway = "10.200.0.1/24";
    SwitchPortState& port = add_port(state);
    port.mode = PortMode::access;
    port.vlan = segment.vlan;
    port.description = "storage1";
    state.segments.push_back(std::move(segment));
    state.vrfs.push_back(std::move(storage));
  }

  void change_once(SwitchState& state) {
    const int kind = upto(8);
    if (kind < 3 && !state.ports.empty()) {
      auto& port =
          state.ports[static_cast<std::size_t>(upto(static_cast<int>(state.ports.size())))];
      port = {port.name, PortMode::quarantine, 0, "", "", port.description};
      if (kind == 1 && !state.segments.empty()) {
        port.mode = PortMode::access;
        port.vlan = state.segments[0].vlan;
      }
      if (kind == 2) port.description = "moved";
    } else if (kind == 3 && !state.vrfs.empty()) {
      auto& vrf = state.vrfs[static_cast<std::size_t>(upto(static_cast<int>(state.vrfs.size())))];
      vrf.import_targets = {"65000:" + std::to_string(vrf.l3vni), "65000:98001"};
      vrf.leaks.clear();
      if (!vrf.routes.empty()) vrf.routes.pop_back();
    } else if (kind == 4 && !state.segments.empty()) {
      auto& segment = state.segments.back();
      segment.mtu = segment.mtu == 9000 ? 4200 : 9000;
      if (!segment.gateway.empty() && segment.vrf != "Vrf60001") segment.gateway = "10.77.3.1/25";
      for (auto& vrf : state.vrfs) {
        if (vrf.name == segment.vrf) vrf.routes.clear();
      }
    } else if (kind == 5 && !state.acls.empty()) {
      state.acls[0] = make_acl(state.acls[0].name);
    } else if (kind == 6 && !state.segments.empty()) {
      state.segments[0].l2vni = 40001 + upto(50);
      state.segments[0].acl_in.clear();
    } else if (kind == 7 && find_vrf(state, "Vrf00990") == nullptr) {
      add_late_tenant(state);
    }
    sort_state(state);
  }

  void add_late_tenant(SwitchState& state) {
    VrfState vrf = make_vrf(state, 990, 58000);
    SegmentState segment = make_segment(state, vrf.name, 0);
    segment.vlan = 991;
    segment.l2vni = 20990;
    segment.rd = state.router_id + ":991";
    if (capabilities_.needs_l3vlan) vrf.l3vlan = 2990;
    SwitchPortState& port = add_port(state);
    port.name = shape_.port_name(90);
    port.mode = PortMode::access;
    port.vlan = segment.vlan;
    state.segments.push_back(segment);
    state.vrfs.push_back(vrf);
  }

  std::mt19937 random_;
  SwitchCapabilities capabilities_;
  StateShape shape_;
};

}  // namespace tundish::switches
