#include "model/firewall.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/prefix.hpp"

namespace tundish {
namespace {

const char* const form = "write permit tcp/443@203.0.113.0/24, deny ip@198.51.100.0/24 or the like";

/// Which of its list's rules it is, as people are told.
struct RulePlace {
  const char* list;
  std::size_t number;
};

Error refuse(RulePlace place, const std::string& what, const std::string& remedy) {
  const std::string number = std::to_string(place.number);
  return make_error(Code::invalid, std::string(place.list) + " rule " + number + ": " + what)
      .about(std::string(place.list) + "/" + number)
      .with_remedy(remedy);
}

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// Digits only; 0 is no port.
std::optional<int> parse_port(std::string_view text) {
  if (text.empty() || text.size() > 5) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value >= 1 && value <= 65535 ? std::optional<int>(value) : std::nullopt;
}

bool read_ports(std::string_view text, FirewallRule& rule) {
  const auto dash = text.find('-');
  const auto from = parse_port(text.substr(0, dash));
  if (!from) return false;
  rule.port_from = *from;
  if (dash == std::string_view::npos) return true;
  const auto to = parse_port(text.substr(dash + 1));
  if (!to) return false;
  rule.port_to = *to;
  return true;
}

Result<> check_rule(const FirewallRule& rule, RulePlace place) {
  if (!is_one_of(rule.protocol, {"ip", "tcp", "udp", "icmp"})) {
    return refuse(place, "protocol \"" + rule.protocol + "\" is not known",
                  "use ip, tcp, udp or icmp");
  }
  for (const auto* prefix : {&rule.source, &rule.destination}) {
    if (!prefix->empty() && !parse_prefix(*prefix)) {
      return refuse(place, "\"" + *prefix + "\" is no IPv4 prefix",
                    "write the network with its length, for example 10.10.0.0/24");
    }
  }
  const int last = rule.port_to == 0 ? rule.port_from : rule.port_to;
  if (rule.port_from < 0 || last > 65535 || last < rule.port_from) {
    return refuse(place, "ports are no range of 1 to 65535", "give the lower port first");
  }
  if (rule.port_from > 0 && !is_one_of(rule.protocol, {"tcp", "udp"})) {
    return refuse(place, "protocol " + rule.protocol + " has no ports", "use tcp or udp");
  }
  return {};
}

Result<FirewallRule> parse_rule(std::string_view text, RulePlace place) {
  const Error malformed = refuse(place, "\"" + std::string(text) + "\" is no rule", form);
  const auto blank = text.find(' ');
  const auto at = text.find('@');
  if (blank == std::string_view::npos || at == std::string_view::npos || at < blank) {
    return malformed;
  }
  FirewallRule rule;
  const std::string_view action = text.substr(0, blank);
  if (action != "permit" && action != "deny") return malformed;
  rule.action = action == "permit" ? AclAction::permit : AclAction::deny;
  const std::string_view what = text.substr(blank + 1, at - blank - 1);
  const auto slash = what.find('/');
  rule.protocol = std::string(what.substr(0, slash));
  rule.destination = std::string(text.substr(at + 1));
  if (rule.destination.empty()) return malformed;
  if (slash != std::string_view::npos && !read_ports(what.substr(slash + 1), rule)) {
    return refuse(place, "\"" + std::string(what.substr(slash + 1)) + "\" is no port",
                  "use 1 to 65535, or two of them with a - between");
  }
  TRY_VOID(check_rule(rule, place));
  return rule;
}

/// "tcp/1000-2000"
std::string what_of(const FirewallRule& rule) {
  std::string out = rule.protocol;
  if (rule.port_from != 0) out += "/" + std::to_string(rule.port_from);
  if (rule.port_to != 0 && rule.port_to != rule.port_from) {
    out += "-" + std::to_string(rule.port_to);
  }
  return out;
}

}  // namespace

Result<FirewallRule> parse_firewall_rule(std::string_view text, std::size_t number) {
  return parse_rule(text, {"firewall", number});
}

Result<FirewallRule> parse_access_rule(std::string_view text, std::size_t number) {
  const RulePlace place{"access", number};
  auto parsed = parse_rule("permit " + std::string(text), place);
  if (!parsed) {
    Error error = parsed.error();
    const Error malformed = refuse(place, "\"" + std::string(text) + "\" is no rule", "");
    // What was put before it is not the reader's.
    if (error.what.find("\"permit ") != std::string::npos) error = malformed;
    return Error(std::move(error))
        .with_remedy("write tcp/22@203.0.113.0/24 or the like for who may come in");
  }
  FirewallRule rule = std::move(*parsed);
  std::swap(rule.source, rule.destination);
  TRY_VOID(check_access_rule(rule, number));
  return rule;
}

std::string render_access_rule(const FirewallRule& rule) {
  return what_of(rule) + "@" + (rule.source.empty() ? "0.0.0.0/0" : rule.source);
}

std::string render_firewall_rule(const FirewallRule& rule) {
  return (rule.action == AclAction::permit ? "permit " : "deny ") + what_of(rule) + "@" +
         (rule.destination.empty() ? "0.0.0.0/0" : rule.destination);
}

Result<> check_access_rule(const FirewallRule& rule, std::size_t number) {
  const RulePlace place{"access", number};
  TRY_VOID(check_rule(rule, place));
  if (rule.action != AclAction::permit || !is_one_of(rule.protocol, {"tcp", "udp"}) ||
      rule.port_from == 0 || !rule.destination.empty()) {
    return refuse(place, "a gateway lets in ports of tcp or udp", "write tcp/22@203.0.113.0/24");
  }
  return {};
}

Result<> check_firewall_rule(const FirewallRule& rule, std::size_t number) {
  return check_rule(rule, {"firewall", number});
}

Result<> check_firewall_reach(const FabricSpec& fabric, const FirewallRule& rule,
                              std::size_t number) {
  const auto wanted = parse_prefix(rule.destination);
  if (!wanted || rule.action != AclAction::permit) return {};
  const auto check = [&](const std::string& what, const std::string& text) -> Result<> {
    const auto own = parse_prefix(text);
    if (!own || !own->contains(*wanted)) return {};
    return refuse({"firewall", number},
                  rule.destination + " lies in the " + what + " " + text + " of the fabric",
                  "no rule of a tenant opens it: leave the rule out");
  };
  for (const auto& text : fabric.underlay) TRY_VOID(check("underlay", text));
  for (const auto& text : fabric.management) TRY_VOID(check("management network", text));
  if (!fabric.storage_prefix.empty()) {
    TRY_VOID(check("storage addresses of nodes,", fabric.storage_node_pool));
  }
  return {};
}

}  // namespace tundish
