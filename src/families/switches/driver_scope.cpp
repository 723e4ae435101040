#include "families/switches/driver_scope.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "codec/json.hpp"
#include "model/line_owner.hpp"

namespace tundish::switches {
namespace {

template <class T, class Key, class Name>
const T* find_same(const std::vector<T>& list, Key key, const Name& name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const T& item) { return std::invoke(key, item) == name; });
  return found == list.end() ? nullptr : &*found;
}

template <class T, class Key, class Set>
void add_changed(const std::vector<T>& before, const std::vector<T>& wanted, Key key, Set& out) {
  for (const auto* list : {&before, &wanted}) {
    const auto& other = list == &before ? wanted : before;
    for (const T& item : *list) {
      const T* same = find_same(other, key, std::invoke(key, item));
      if (!same || !(*same == item)) out.insert(std::invoke(key, item));
    }
  }
}

/// Of the named ones the first that `wanted` and `seen` do not have alike.
template <class T, class Key, class Set, class Name>
std::string first_difference(const std::vector<T>& wanted, const std::vector<T>& seen, Key key,
                             const Set& scope, Name name) {
  for (const auto& one : scope) {
    const T *wants = find_same(wanted, key, one), *has = find_same(seen, key, one);
    if (!wants && has) return name(*has) + " is still there";
    if (wants && !has) return name(*wants) + " is missing";
    if (!wants || *wants == *has) continue;
    return name(*wants) + " is " + render_json(*has) + ", wanted " + render_json(*wants);
  }
  return "";
}

template <class T, class Key, class Set>
void put_back_list(std::vector<T>& now, const std::vector<T>& before, Key key, const Set& scope) {
  std::erase_if(now, [&](const T& item) { return scope.contains(std::invoke(key, item)); });
  for (const T& item : before) {
    if (scope.contains(std::invoke(key, item))) now.push_back(item);
  }
}

/// By VRF what its lines are known by, as before and as wanted.
std::map<std::string, LineMarks> marks_of(const SwitchState& before, const SwitchState& wanted) {
  std::map<std::string, LineMarks> out;
  for (const auto* state : {&before, &wanted}) {
    for (const auto& vrf : state->vrfs) add_marks(vrf, out[vrf.name]);
    for (const auto& segment : state->segments) add_marks(segment, out[segment.vrf]);
  }
  return out;
}

/// VRFs that the change touches, be it by a segment, a list or a port of theirs.
std::set<std::string> vrfs_in(const SwitchState& state, const ChangeScope& scope) {
  std::set<std::string> out = scope.vrfs;
  std::set<int> vlans = scope.vlans;
  for (const auto& port : state.ports) {
    if (!scope.ports.contains(port.name)) continue;
    if (port.mode == PortMode::access) vlans.insert(port.vlan);
    if (port.mode == PortMode::routed) out.insert(port.vrf);
  }
  for (const auto& segment : state.segments) {
    if (vlans.contains(segment.vlan) || scope.acls.contains(segment.acl_in)) {
      out.insert(segment.vrf);
    }
  }
  return out;
}

}  // namespace

ChangeScope scope_of(const SwitchState& before, const SwitchState& wanted) {
  ChangeScope out;
  add_changed(before.ports, wanted.ports, &SwitchPortState::name, out.ports);
  add_changed(before.vrfs, wanted.vrfs, &VrfState::name, out.vrfs);
  add_changed(before.segments, wanted.segments, &SegmentState::vlan, out.vlans);
  add_changed(before.acls, wanted.acls, &AclState::name, out.acls);
  return out;
}

std::vector<std::string> new_lines(const std::vector<std::string>& seen,
                                   const std::vector<std::string>& known) {
  std::vector<std::string> out;
  for (const auto& line : seen) {
    if (std::find(known.begin(), known.end(), line) == known.end()) out.push_back(line);
  }
  return out;
}

std::string find_missing(const SwitchState& wanted, const SwitchSeen& seen,
                         const ChangeScope& scope, const std::vector<std::string>& known) {
  std::string found =
      first_difference(wanted.ports, seen.own.ports, &SwitchPortState::name, scope.ports,
                       [](const auto& port) { return "port " + port.name; });
  if (found.empty()) {
    found = first_difference(wanted.vrfs, seen.own.vrfs, &VrfState::name, scope.vrfs,
                             [](const auto& vrf) { return "VRF " + vrf.name; });
  }
  if (found.empty()) {
    found = first_difference(
        wanted.segments, seen.own.segments, &SegmentState::vlan, scope.vlans,
        [](const auto& segment) { return "VLAN " + std::to_string(segment.vlan); });
  }
  if (found.empty()) {
    found = first_difference(wanted.acls, seen.own.acls, &AclState::name, scope.acls,
                             [](const auto& acl) { return "access list " + acl.name; });
  }
  const auto lines = new_lines(seen.unclear, known);
  return found.empty() && !lines.empty() ? lines.front() : found;
}

SwitchState put_back(SwitchState now, const SwitchState& before, const SwitchState& wanted,
                     const ChangeScope& scope) {
  put_back_list(now.ports, before.ports, &SwitchPortState::name, scope.ports);
  put_back_list(now.vrfs, before.vrfs, &VrfState::name, scope.vrfs);
  put_back_list(now.segments, before.segments, &SegmentState::vlan, scope.vlans);
  put_back_list(now.acls, before.acls, &AclState::name, scope.acls);
  for (auto& port : now.ports) {
    const SwitchPortState* asked = find_port(wanted, port.name);
    const bool isolated = asked && asked->mode == PortMode::quarantine;
    if (isolated && scope.ports.contains(port.name)) port = *asked;
  }
  sort_state(now);
  return now;
}

bool only_isolates(const PortIntent& intent) {
  const auto& ports = intent.patch.ports;
  return !ports.empty() && std::all_of(ports.begin(), ports.end(), [](const auto& port) {
    return port.mode == PortMode::quarantine;
  });
}

SwitchState only_ports_out(SwitchState before, const PortIntent& intent) {
  SwitchPatch patch;
  patch.ports = intent.patch.ports;
  for (const auto& port : patch.ports) {
    std::erase_if(before.ports, [&](const auto& there) { return there.name == port.name; });
    before.ports.push_back(port);
  }
  sort_state(before);
  return before;
}

std::string line_about(const std::vector<std::string>& unclear, const SwitchState& before,
                       const SwitchState& wanted, const ChangeScope& scope) {
  auto touched = vrfs_in(before, scope);
  touched.merge(vrfs_in(wanted, scope));
  std::vector<LineMarks> marks;
  std::vector<bool> is_touched;
  for (auto& [vrf, one] : marks_of(before, wanted)) {
    marks.push_back(std::move(one));
    is_touched.push_back(touched.contains(vrf));
  }
  for (const auto& line : unclear) {
    const int owner = owner_of_line(marks, line);
    const bool names = std::any_of(scope.ports.begin(), scope.ports.end(),
                                   [&](const auto& port) { return names_port(line, port); });
    if (names || owner == no_owner || is_touched[static_cast<std::size_t>(owner)]) return line;
  }
  return "";
}

std::string line_about_port(const std::vector<std::string>& unclear, const PortIntent& intent) {
  for (const auto& line : unclear) {
    const bool names =
        std::any_of(intent.patch.ports.begin(), intent.patch.ports.end(),
                    [&](const auto& port) { return names_port(line, port.name); });
    if (names) return line;
  }
  return "";
}

}  // namespace tundish::switches
