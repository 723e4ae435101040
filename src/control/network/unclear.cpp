#include "control/network/unclear.hpp"

#include <algorithm>
#include <optional>

#include "model/line_owner.hpp"
#include "model/prefix.hpp"

namespace tundish::control::network {
namespace {

LineMarks marks_of(const WantedNetwork& network, const std::string& place) {
  LineMarks out;
  VrfState vrf;
  vrf.name = network.vrf;
  vrf.l3vni = network.l3vni;
  SegmentState segment;
  segment.acl_in = network.acl;
  segment.l2vni = network.l2vni;
  const auto numbers = network.switches.find(place);
  if (numbers != network.switches.end()) {
    vrf.l3vlan = numbers->second.l3vlan;
    segment.vlan = numbers->second.vlan;
  }
  add_marks(vrf, out);
  add_marks(segment, out);
  if (!network.partition.empty()) out.names.insert(network.partition);
  return out;
}

/// Without the list: a segment that applies another one's list is joined to nobody by it.
std::vector<LineMarks> marks_without_lists(const Intent& intent, const std::string& place) {
  std::vector<LineMarks> out;
  for (const auto& network : intent.networks) {
    out.push_back(marks_of(network, place));
    out.back().names.erase(network.acl);
  }
  return out;
}

/// "kernel: route 10.71.0.0/24 via ... leads out of its segments"; the kernel omits a /32.
std::optional<Prefix> route_out(const std::string& line) {
  const std::string_view word = "route ";
  const auto at = line.find(word);
  if (at == std::string::npos || line.find(" leads out ") == std::string::npos) return std::nullopt;
  const auto from = at + word.size();
  std::string to = line.substr(from, line.find(' ', from) - from);
  if (to == "default") to = "0.0.0.0/0";
  if (to.find('/') == std::string::npos) to += "/32";
  return parse_prefix(to);
}

bool has_address_in(const WantedNetwork& network, const Prefix& prefix) {
  const auto touches = [&](const std::string& text) {
    const auto own = parse_prefix(text);
    return own && own->overlaps(prefix);
  };
  return std::ranges::any_of(network.prefixes, touches) ||
         std::ranges::any_of(network.storage_prefixes, touches);
}

}  // namespace

std::set<int> networks_joined_in(const Intent& intent, const std::string& place,
                                 const std::string& line) {
  const auto named = owners_named_in(marks_without_lists(intent, place), line);
  std::set<int> out(named.begin(), named.end());
  const auto to = out.size() == 1 ? route_out(line) : std::nullopt;
  for (std::size_t i = 0; to && i < intent.networks.size(); ++i) {
    if (has_address_in(intent.networks[i], *to)) out.insert(static_cast<int>(i));
  }
  return out.size() < 2 ? std::set<int>{} : out;
}

int network_named_in(const Intent& intent, const std::string& place, const std::string& line) {
  std::vector<LineMarks> marks;
  for (const auto& network : intent.networks) marks.push_back(marks_of(network, place));
  const int owner = owner_of_line(marks, line);
  return owner == no_owner ? nobody : owner;
}

}  // namespace tundish::control::network
