#include "families/switches/parts/acl_line.hpp"

#include <array>
#include <utility>

#include "base/text.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/line_tree.hpp"

namespace tundish::switches {
namespace {

std::string render_side(const std::string& prefix, AclHosts hosts) {
  if (prefix.empty()) return " any";
  if (hosts == AclHosts::named && prefix.ends_with("/32")) {
    return " host " + prefix.substr(0, prefix.size() - 3);
  }
  return " " + prefix;
}

/// Both vendors show well-known ports by name.
/// Source: EOS user manual, ACLs; NX-OS security guide, ip access lists; checked 2026-11.
std::optional<int> parse_port(const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, int>, 16> names = {{{"ssh", 22},
                                                                              {"telnet", 23},
                                                                              {"smtp", 25},
                                                                              {"domain", 53},
                                                                              {"www", 80},
                                                                              {"http", 80},
                                                                              {"ntp", 123},
                                                                              {"snmp", 161},
                                                                              {"bgp", 179},
                                                                              {"https", 443},
                                                                              {"tftp", 69},
                                                                              {"bootps", 67},
                                                                              {"bootpc", 68},
                                                                              {"ftp", 21},
                                                                              {"syslog", 514},
                                                                              {"sunrpc", 111}}};
  for (const auto& [name, number] : names) {
    if (text == name) return number;
  }
  const auto number = parse_integer(text);
  if (!number || *number < 1 || *number > 65535) return std::nullopt;
  return static_cast<int>(*number);
}

class RuleReader {
 public:
  explicit RuleReader(std::vector<std::string> words) : words_(std::move(words)) {}

  std::optional<AclRule> run() {
    AclRule rule;
    const auto sequence = parse_integer(next());
    if (!sequence || *sequence < 1 || *sequence > 2000000000) return std::nullopt;
    rule.sequence = static_cast<int>(*sequence);
    const std::string action = next();
    if (action != "permit" && action != "deny") return std::nullopt;
    rule.action = action == "permit" ? AclAction::permit : AclAction::deny;
    rule.protocol = next();
    if (rule.protocol != "ip" && rule.protocol != "icmp" && !has_ports(rule)) return std::nullopt;
    if (!side(rule.source) || !side(rule.destination) || !ports(rule)) return std::nullopt;
    if (at_ != words_.size()) return std::nullopt;
    return rule;
  }

 private:
  static bool has_ports(const AclRule& rule) {
    return rule.protocol == "tcp" || rule.protocol == "udp";
  }

  std::string next() { return at_ < words_.size() ? words_[at_++] : ""; }

  bool side(std::string& out) {
    const std::string word = next();
    if (word == "any") return true;
    if (word == "host") {
      out = next() + "/32";
      return parse_network4(out).has_value();
    }
    out = word;
    if (parse_network4(out)) return true;
    // NX-OS and EOS also take an inverse mask: 10.0.0.0 0.0.0.255.
    const auto address = parse_ipv4(word);
    const auto wild = parse_ipv4(next());
    if (!address || !wild || (*wild & (*wild + 1)) != 0) return false;
    int length = 32;
    for (std::uint32_t bits = *wild; bits != 0; bits >>= 1U) --length;
    out = word + "/" + std::to_string(length);
    return parse_network4(out).has_value();
  }

  bool ports(AclRule& rule) {
    if (at_ == words_.size()) return true;
    const std::string word = next();
    if (!has_ports(rule) || (word != "eq" && word != "range")) return false;
    const auto from = parse_port(next());
    if (!from) return false;
    rule.port_from = *from;
    if (word == "eq") return true;
    const auto to = parse_port(next());
    if (!to || *to <= *from) return false;
    rule.port_to = *to;
    return true;
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

}  // namespace

std::string render_acl_rule(const AclRule& rule, AclHosts hosts) {
  std::string out = std::to_string(rule.sequence) +
                    (rule.action == AclAction::permit ? " permit " : " deny ") + rule.protocol +
                    render_side(rule.source, hosts) + render_side(rule.destination, hosts);
  if (rule.port_to > rule.port_from) {
    out += " range " + std::to_string(rule.port_from) + " " + std::to_string(rule.port_to);
  } else if (rule.port_from != 0) {
    out += " eq " + std::to_string(rule.port_from);
  }
  return out;
}

std::optional<AclRule> parse_acl_rule(std::string_view line) {
  return RuleReader(words_of_line(line)).run();
}

}  // namespace tundish::switches
