#include <map>

#include "base/text.hpp"
#include "families/switches/junos_parts/parts.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/line_reader.hpp"

namespace tundish::switches::juniper {
namespace {

bool put_ports(AclRule& rule, const std::string& text) {
  // Source: Juniper firewall filter user guide, match condition destination-port; checked 2026-11.
  static const std::map<std::string, int> names = {{"ssh", 22},    {"domain", 53}, {"http", 80},
                                                   {"ntp", 123},   {"bgp", 179},   {"https", 443},
                                                   {"telnet", 23}, {"smtp", 25}};
  if (const auto known = names.find(text); known != names.end()) {
    rule.port_from = known->second;
    return true;
  }
  const std::size_t dash = text.find('-');
  const auto from = read_number(text.substr(0, dash), 1, 65535);
  if (!from) return false;
  rule.port_from = *from;
  if (dash == std::string::npos) return true;
  const auto to = read_number(text.substr(dash + 1), 1, 65535);
  if (!to || *to <= *from) return false;
  rule.port_to = *to;
  return true;
}

/// `more`: the words behind the term's name. False: not a statement that a term of ours may have.
bool put_rule(AclRule& rule, const Statement& more) {
  if (more.size() == 2 && more[0] == "then") {
    rule.action = more[1] == "accept" ? AclAction::permit : AclAction::deny;
    return more[1] == "accept" || more[1] == "discard" || more[1] == "reject";
  }
  if (more.size() != 3 || more[0] != "from") return false;
  if (more[1] == "source-address" && rule.source.empty() && parse_network4(more[2])) {
    rule.source = more[2];
  } else if (more[1] == "destination-address" && rule.destination.empty() &&
             parse_network4(more[2])) {
    rule.destination = more[2];
  } else if (more[1] == "protocol" && rule.protocol == "ip" &&
             (more[2] == "tcp" || more[2] == "udp" || more[2] == "icmp")) {
    rule.protocol = more[2];
  } else if (more[1] == "destination-port" && rule.port_from == 0) {
    return put_ports(rule, more[2]);
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::vector<AclRule> read_filter(const std::vector<Statement>& lines,
                                 std::vector<std::string>& unclear) {
  std::map<int, AclRule> rules;
  int last = 0;
  for (const auto& line : lines) {
    const bool term = line.size() >= 4 && line[0] == "term";
    // Terms act in the order they were set, so numbers must rise; ours are called t10, t20.
    const auto number = term
                            ? read_number(line[1].substr(line[1].starts_with("t") ? 1 : 0), 1, 9999)
                            : std::nullopt;
    if (!number || *number < last) {
      unclear.push_back(render_statement(line));
      continue;
    }
    last = *number;
    rules[*number].sequence = *number;
    const Statement more(line.begin() + 2, line.end());
    if (!put_rule(rules[*number], more)) unclear.push_back(render_statement(line));
  }
  std::vector<AclRule> out;
  for (auto& [number, rule] : rules) out.push_back(std::move(rule));
  return out;
}

}  // namespace tundish::switches::juniper
