#include "model/switch_state.hpp"

#include <algorithm>
#include <set>

#include "model/network.hpp"

namespace tundish {
namespace {

/// Puts each of `items` in the place of the one with the same key, or adds it.
template <class T, class Key>
void put_all(std::vector<T>& into, const std::vector<T>& items, Key key) {
  for (const auto& item : items) {
    const auto same = std::find_if(into.begin(), into.end(), [&](const T& have) {
      return std::invoke(key, have) == std::invoke(key, item);
    });
    if (same == into.end()) {
      into.push_back(item);
    } else {
      *same = item;
    }
  }
}

template <class T, class Key, class Wanted>
const T* find_in(const std::vector<T>& list, Key key, const Wanted& wanted) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const T& item) { return std::invoke(key, item) == wanted; });
  return found == list.end() ? nullptr : &*found;
}

/// The number that a VRF's name ends with; 0: none.
int number_of(const std::string& vrf) {
  const auto from = vrf.find_last_not_of("0123456789") + 1;
  return from == vrf.size() || vrf.size() - from > 8 ? 0 : std::stoi(vrf.substr(from));
}

/// `others`: VRFs whose segments and lists stay as they are, be they in use or not.
void drop_unused(SwitchState& state, const std::vector<std::string>& keep_vrfs,
                 const std::set<std::string>& others) {
  std::set<int> vlans;
  std::set<std::string> used(keep_vrfs.begin(), keep_vrfs.end());
  std::set<std::string> lists;
  for (const auto& vrf : others) lists.insert(acl_name(number_of(vrf)));
  for (const auto& port : state.ports) {
    if (port.mode == PortMode::access) vlans.insert(port.vlan);
    if (port.mode == PortMode::routed) used.insert(port.vrf);
  }
  std::erase_if(state.segments, [&](const SegmentState& segment) {
    return !vlans.contains(segment.vlan) && !others.contains(segment.vrf);
  });
  for (const auto& segment : state.segments) {
    used.insert(segment.vrf);
    if (!segment.acl_in.empty()) lists.insert(segment.acl_in);
  }
  // A VRF that a used one leaks from is used too: the storage VRF leaks from tenants that have no
  // port on this switch.
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& vrf : state.vrfs) {
      if (!used.contains(vrf.name)) continue;
      for (const auto& leak : vrf.leaks) grown = used.insert(leak.from_vrf).second || grown;
    }
  }
  std::erase_if(state.vrfs, [&](const VrfState& vrf) { return !used.contains(vrf.name); });
  std::erase_if(state.acls, [&](const AclState& acl) { return !lists.contains(acl.name); });
}

/// The VRF that several networks share, as it is there: an order changes of it only what it takes
/// from networks that are not somebody else's.
VrfState share_vrf(const VrfState& wanted, const VrfState* there,
                   const std::set<std::string>& others) {
  VrfState out = there ? *there : wanted;
  std::erase_if(out.leaks,
                [&](const LeakState& leak) { return !there || !others.contains(leak.from_vrf); });
  for (const auto& leak : wanted.leaks) {
    if (!others.contains(leak.from_vrf)) out.leaks.push_back(leak);
  }
  return out;
}

}  // namespace

void sort_state(SwitchState& state) {
  for (auto& vrf : state.vrfs) {
    std::sort(vrf.import_targets.begin(), vrf.import_targets.end());
    std::sort(vrf.export_targets.begin(), vrf.export_targets.end());
    std::ranges::sort(vrf.leaks, {}, &LeakState::from_vrf);
    for (auto& leak : vrf.leaks) std::sort(leak.prefixes.begin(), leak.prefixes.end());
    std::ranges::sort(vrf.routes, {}, &AddressRoute::prefix);
  }
  for (auto& segment : state.segments) {
    std::sort(segment.import_targets.begin(), segment.import_targets.end());
    std::sort(segment.export_targets.begin(), segment.export_targets.end());
  }
  for (auto& acl : state.acls) std::ranges::sort(acl.rules, {}, &AclRule::sequence);
  std::ranges::sort(state.vrfs, {}, &VrfState::name);
  std::ranges::sort(state.segments, {}, &SegmentState::vlan);
  std::ranges::sort(state.ports, {}, &SwitchPortState::name);
  std::ranges::sort(state.acls, {}, &AclState::name);
}

SwitchState merge_patch(SwitchState state, const SwitchPatch& patch,
                        const std::vector<std::string>& keep_vrfs) {
  std::set<std::string> others(keep_vrfs.begin(), keep_vrfs.end());
  for (const auto& vrf : patch.vrfs) others.erase(vrf.name);
  auto vrfs = patch.vrfs;
  for (auto& vrf : vrfs) {
    const bool shared = !others.empty() && std::find(keep_vrfs.begin(), keep_vrfs.end(),
                                                     vrf.name) != keep_vrfs.end();
    if (shared) vrf = share_vrf(vrf, find_vrf(state, vrf.name), others);
  }
  put_all(state.vrfs, vrfs, &VrfState::name);
  put_all(state.segments, patch.segments, &SegmentState::vlan);
  put_all(state.acls, patch.acls, &AclState::name);
  put_all(state.ports, patch.ports, &SwitchPortState::name);
  drop_unused(state, keep_vrfs, others);
  sort_state(state);
  return state;
}

const VrfState* find_vrf(const SwitchState& state, std::string_view name) {
  return find_in(state.vrfs, &VrfState::name, name);
}
const SegmentState* find_segment(const SwitchState& state, int vlan) {
  return find_in(state.segments, &SegmentState::vlan, vlan);
}
const SwitchPortState* find_port(const SwitchState& state, std::string_view name) {
  return find_in(state.ports, &SwitchPortState::name, name);
}
const AclState* find_acl(const SwitchState& state, std::string_view name) {
  return find_in(state.acls, &AclState::name, name);
}

}  // namespace tundish
