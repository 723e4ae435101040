#include "families/switches/parts/changes.hpp"

#include <algorithm>
#include <functional>

namespace tundish::switches {
namespace {

template <class T, class Key>
std::vector<Change<T>> compare(const std::vector<T>& from, const std::vector<T>& to, Key key) {
  std::vector<Change<T>> out;
  const auto find = [&](const std::vector<T>& list, const T& item) -> const T* {
    for (const T& other : list) {
      if (std::invoke(key, other) == std::invoke(key, item)) return &other;
    }
    return nullptr;
  };
  for (const T& old : from) {
    const T* now = find(to, old);
    if (now == nullptr || !(*now == old)) out.push_back({&old, now});
  }
  for (const T& now : to) {
    if (find(from, now) == nullptr) out.push_back({nullptr, &now});
  }
  return out;
}

}  // namespace

StateChanges find_changes(const SwitchState& from, const SwitchState& to) {
  return {compare(from.vrfs, to.vrfs, &VrfState::name),
          compare(from.segments, to.segments, &SegmentState::vlan),
          compare(from.ports, to.ports, &SwitchPortState::name),
          compare(from.acls, to.acls, &AclState::name)};
}

bool moves(const Change<SwitchPortState>& port) {
  if (port.is_new() || port.is_gone()) return true;
  SwitchPortState same = *port.to;
  same.description = port.from->description;
  return !(same == *port.from);
}

std::string place_of(const SwitchPortState& port) {
  switch (port.mode) {
    case PortMode::access: return "vlan " + std::to_string(port.vlan);
    case PortMode::routed: return "vrf " + port.vrf;
    case PortMode::quarantine: break;
  }
  return "quarantine";
}

std::vector<std::string> missing_in(const std::vector<std::string>& from,
                                    const std::vector<std::string>& to) {
  std::vector<std::string> out;
  for (const auto& item : from) {
    if (std::find(to.begin(), to.end(), item) == to.end()) out.push_back(item);
  }
  return out;
}

}  // namespace tundish::switches
