#include "control/network/acl.hpp"

#include <algorithm>
#include <set>

#include "model/prefix.hpp"

namespace tundish::control::network {
namespace {

constexpr Prefix everything{0, 0};
/// One protocol without ports that no rule names: what "ip" alone lets through.
const std::vector<std::string> protocols = {"tcp", "udp", "icmp", "other"};

struct Packet {
  std::string_view protocol;
  std::uint32_t source = 0, destination = 0;
  int port = 0;
};

struct ReadRule {
  AclAction action = AclAction::permit;
  std::string protocol;
  Prefix source, destination;
  int port_from = 0, port_to = 65535;
  bool matches(const Packet& packet) const {
    if (protocol != "ip" && protocol != packet.protocol) return false;
    const bool has_ports = packet.protocol == "tcp" || packet.protocol == "udp";
    if (has_ports && (packet.port < port_from || packet.port > port_to)) return false;
    return source.contains({packet.source, 32}) && destination.contains({packet.destination, 32});
  }
};

bool read_end(const std::string& text, Prefix& out) {
  out = everything;
  if (text.empty()) return true;
  const auto parsed = parse_prefix(text);
  if (parsed) out = *parsed;
  return parsed.has_value();
}

std::vector<ReadRule> read_rules(std::vector<AclRule> rules) {
  std::ranges::stable_sort(rules, {}, &AclRule::sequence);
  std::vector<ReadRule> out;
  for (const auto& rule : rules) {
    ReadRule next;
    next.action = rule.action;
    next.protocol = rule.protocol;
    const bool known = rule.protocol == "ip" || std::find(protocols.begin(), protocols.end(),
                                                          rule.protocol) != protocols.end();
    bool clear = known && read_end(rule.source, next.source);
    clear = read_end(rule.destination, next.destination) && clear;
    if (rule.port_from != 0) {
      next.port_from = rule.port_from;
      next.port_to = rule.port_to == 0 ? rule.port_from : rule.port_to;
    }
    if (!clear) {
      next = {};
      next.protocol = "ip";
    }
    out.push_back(std::move(next));
  }
  return out;
}

bool lets_through(const std::vector<ReadRule>& rules, const Packet& packet) {
  for (const auto& rule : rules) {
    if (rule.matches(packet)) return rule.action == AclAction::permit;
  }
  return false;
}

/// One address of every class that the prefixes tell apart: each begin, and what follows each end.
void add_ends(const Prefix& prefix, std::set<std::uint32_t>& out) {
  out.insert(prefix.address);
  if (prefix.last() != ~std::uint32_t{0}) out.insert(prefix.last() + 1);
}

struct Classes {
  std::set<std::uint32_t> sources = {0}, destinations = {0};
  std::set<int> ports = {0};
  void add(const std::vector<ReadRule>& rules) {
    for (const auto& rule : rules) {
      add_ends(rule.source, sources);
      add_ends(rule.destination, destinations);
      ports.insert(rule.port_from);
      if (rule.port_to < 65535) ports.insert(rule.port_to + 1);
    }
  }
};

std::string describe(const Packet& packet) {
  const bool has_ports = packet.protocol == "tcp" || packet.protocol == "udp";
  return std::string(packet.protocol) + " " + render_ipv4(packet.source) + " to " +
         render_ipv4(packet.destination) +
         (has_ports ? " port " + std::to_string(packet.port) : "");
}

}  // namespace

AclComparison compare_acls(const std::vector<AclRule>& wanted, const std::vector<AclRule>& actual) {
  if (wanted == actual) return {};
  const auto a = read_rules(wanted);
  const auto b = read_rules(actual);
  Classes classes;
  classes.add(a);
  classes.add(b);
  AclComparison out{AclVerdict::same_effect, ""};
  for (const auto& protocol : protocols) {
    const bool has_ports = protocol == "tcp" || protocol == "udp";
    for (const auto source : classes.sources) {
      for (const auto destination : classes.destinations) {
        for (const int port : has_ports ? classes.ports : std::set<int>{0}) {
          const Packet packet{protocol, source, destination, port};
          const bool may = lets_through(a, packet);
          const bool does = lets_through(b, packet);
          if (does && !may) return {AclVerdict::weaker, describe(packet)};
          if (may && !does && out.verdict == AclVerdict::same_effect) {
            out = {AclVerdict::stronger, describe(packet)};
          }
        }
      }
    }
  }
  return out;
}

}  // namespace tundish::control::network
