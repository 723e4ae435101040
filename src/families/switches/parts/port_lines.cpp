// Ports of EOS and NX-OS.
#include <algorithm>

#include "families/switches/parts/line_reader.hpp"

namespace tundish::switches {
namespace {

/// Frames of 9000 bytes and more fit: what an access port of ours may say.
constexpr int jumbo_mtu = 9216;

struct PortLines {
  bool shut = false, routed = false;
  int vlan = 0, mtu = 0;
  std::string vrf, address;
};

/// False: not a line that a port of ours may have.
bool take_line(const LineTree& child, const PortWords& known, PortLines& seen,
               SwitchPortState& port) {
  const auto words = words_of_line(child.line);
  if (!child.children.empty()) return false;
  if (words[0] == "description") {
    port.description = rest_of(words, 1);
  } else if (child.line == "shutdown") {
    seen.shut = true;
  } else if (child.line == "no switchport") {
    seen.routed = true;
  } else if (child.line.starts_with("switchport access vlan ") && words.size() == 4) {
    seen.vlan = read_number(words[3], 1, 4094).value_or(0);
    return seen.vlan != 0;
  } else if (child.line.starts_with(known.vrf) &&
             words_of_line(known.vrf).size() + 1 == words.size()) {
    seen.vrf = words.back();
  } else if (child.line.starts_with("ip address ") && words.size() == 3) {
    seen.address = words[2];
  } else if (words[0] == "mtu" && words.size() == 2) {
    seen.mtu = read_number(words[1], 1, 65535).value_or(0);
    return seen.mtu == known.routed_mtu || seen.mtu == jumbo_mtu;
  } else {
    return std::ranges::find(known.plain, child.line) != known.plain.end();
  }
  return true;
}

}  // namespace

bool fits_segment_name(std::string_view name, int vni) {
  constexpr std::string_view head = "seg";
  if (vni == 0 || !name.starts_with(head)) return true;
  const auto number = read_number(name.substr(head.size()), 0, 99999999);
  return !number || *number == vni;
}

void LineReader::read_port(const LineTree& node, const std::string& name, const PortWords& words) {
  SwitchPortState port;
  port.name = name;
  PortLines seen;
  for (const auto& child : node.children) {
    if (!take_line(child, words, seen, port)) unclear_all(node.line, child);
  }
  const bool layer3 = !seen.vrf.empty() || !seen.address.empty();
  if (seen.routed && seen.shut && !layer3) {
    port.mode = PortMode::quarantine;
  } else if (seen.routed && !seen.shut && layer3) {
    port.mode = PortMode::routed;
    port.vrf = seen.vrf;
    port.address = seen.address;
    if (seen.mtu != 0 && seen.mtu != words.routed_mtu) {
      unclear(node.line, "mtu " + std::to_string(seen.mtu));
    }
  } else if (!seen.routed && !seen.shut && seen.vlan != 0 && !layer3) {
    port.mode = PortMode::access;
    port.vlan = seen.vlan;
    if (seen.mtu == words.routed_mtu) unclear(node.line, "mtu " + std::to_string(seen.mtu));
  } else {
    // In no state of ours, so not in `own`: a change brings it to a known state first.
    if (seen.vlan != 0 || layer3) unclear(node.line, "half way between two states");
    return;
  }
  state_.ports.push_back(std::move(port));
}

}  // namespace tundish::switches
