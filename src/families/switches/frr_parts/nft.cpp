#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "families/switches/frr_parts/frr_parts.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/words.hpp"

namespace tundish::switches::frr_parts {
namespace {

constexpr std::string_view first_hook = "type filter hook prerouting priority -150; policy accept;";
constexpr std::string_view six_table = "ip6 tundish";
constexpr int most_sequence = 9999;

/// nft prints a /32 without its length.
std::string prefix_text(const std::string& prefix) {
  return prefix.ends_with("/32") ? prefix.substr(0, prefix.size() - 3) : prefix;
}

std::string rule_line(const AclRule& rule) {
  std::string out = "\t\t";
  if (!rule.source.empty()) out += "ip saddr " + prefix_text(rule.source) + " ";
  if (!rule.destination.empty()) out += "ip daddr " + prefix_text(rule.destination) + " ";
  if (rule.port_from != 0) {
    out += rule.protocol + " dport " + std::to_string(rule.port_from);
    if (rule.port_to != 0) out += "-" + std::to_string(rule.port_to);
    out += " ";
  } else if (rule.protocol != "ip") {
    out += "ip protocol " + rule.protocol + " ";
  }
  return out + (rule.action == AclAction::permit ? "accept" : "drop") + " comment \"" +
         std::to_string(rule.sequence) + "\"\n";
}

/// `nft -nn` shows numbers. Source: IANA protocol numbers; checked 2026-11.
std::string protocol_of(const std::string& text) {
  static const std::map<std::string, std::string> names{
      {"1", "icmp"}, {"6", "tcp"}, {"17", "udp"}, {"icmp", "icmp"}, {"tcp", "tcp"}, {"udp", "udp"}};
  const auto found = names.find(text);
  return found == names.end() ? "" : found->second;
}

/// Lists and segments of one namespace; "" is the one of the underlay.
struct Place {
  std::vector<const AclState*> acls;
  std::vector<const SegmentState*> segments;
};

std::map<std::string, Place> places_of(Kernel kernel, const SwitchState& state) {
  std::map<std::string, Place> out;
  for (const auto& segment : state.segments) {
    const AclState* acl = find_acl(state, segment.acl_in);
    if (acl == nullptr) continue;
    Place& place = out[kernel == Kernel::netns_per_vni ? segment.vrf : ""];
    add_once(place.acls, acl);
    place.segments.push_back(&segment);
  }
  for (const auto& acl : state.acls) {
    const bool applied = std::any_of(out.begin(), out.end(), [&](const auto& place) {
      const auto& acls = place.second.acls;
      return std::find(acls.begin(), acls.end(), &acl) != acls.end();
    });
    if (!applied) out[""].acls.push_back(&acl);
  }
  return out;
}

/// The table that lets no IPv6 in from these segments.
std::string nft_no_ipv6(Kernel kernel, const std::vector<const SegmentState*>& segments) {
  std::string out = "table " + std::string(six_table) +
                    " {\n\tchain segments {\n\t\t" + std::string(first_hook) + "\n";
  for (const auto* segment : segments) {
    out += "\t\tiifname \"" + segment_link(kernel, *segment) + "\" drop\n";
  }
  return out + "\t}\n}\n";
}

class Reader {
 public:
  explicit Reader(const SwitchOwnership& ownership) : ownership_(ownership) {}

  NftSeen read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      const auto words = words_of(line);
      if (words.empty()) continue;
      if (words.size() == 3 && words[0] == "#" && words[1] == "netns") {
        netns_ = words[2];
        depth_ = 0;
      } else if (words[0][0] != '#') {
        take(words, line);
      }
    }
    close_chain();
    for (const auto& [place, acl] : seen_.applied) {
      if (is_own_acl(acl, ownership_) && !closed_.contains(place)) {
        seen_.unclear.push_back("nft: " + place + " lets IPv6 in");
      }
    }
    std::ranges::sort(seen_.acls, {}, &AclState::name);
    return std::move(seen_);
  }

 private:
  using Words = std::vector<std::string>;
  void unclear(std::string_view line) {
    const std::string where = netns_.empty() ? "" : "netns " + netns_ + ": ";
    seen_.unclear.push_back("nft: " + where + std::string(trim(line)));
  }

  void take(const Words& w, std::string_view line) {
    if (w[0] == "}") {
      if (depth_ == 2) close_chain();
      if (depth_ > 0) --depth_;
      return;
    }
    const bool opens = w.back() == "{";
    if (depth_ == 0 && opens) {
      const bool named = w.size() == 4 && w[0] == "table" && w[2] == "tundish";
      our_table_ = named && w[1] == "ip";
      six_table_ = named && w[1] == "ip6";
      depth_ = 1;
      if (!our_table_ && !six_table_ && is_own_vrf(netns_, ownership_)) unclear(line);
    } else if (depth_ == 1 && opens) {
      open_chain(w);
      depth_ = 2;
    } else if (opens) {
      ++depth_;
      if (our_table_ || six_table_) unclear(line);
    } else if (depth_ >= 2 && six_table_) {
      take_six(w, line);
    } else if (depth_ >= 2 && our_table_) {
      take_rule(w, line);
    }
  }

  void open_chain(const Words& w) {
    chain_ = w.size() == 3 && w[0] == "chain" ? w[1] : "";
    acl_ = {chain_, {}};
    ends_with_drop_ = false;
    const bool is_foreign = our_table_ && chain_ != "segments" && !is_own_acl(chain_, ownership_);
    if (is_foreign && is_own_vrf(netns_, ownership_)) unclear("chain " + chain_);
    if (is_foreign) {
      seen_.foreign_acls.push_back(chain_);
    }
    if (six_table_ && chain_ != "segments") unclear("chain " + chain_);
  }

  /// Our networks have no IPv6: of the table for it every line is known.
  void take_six(const Words& w, std::string_view line) {
    if (chain_ == "segments" && w[0] == "type") return take_hook(line);
    if (w.size() != 3 || w[0] != "iifname" || w[2] != "drop") return unclear(line);
    closed_.insert(netns_ + " " + w[1]);
  }

  void take_hook(std::string_view line) {
    const bool known = line.find("type filter hook prerouting priority ") != line.npos &&
                       line.ends_with("; policy accept;");
    if (!known) unclear(line);
  }

  void take_rule(const Words& w, std::string_view line) {
    if (chain_ == "segments") return take_segment(w, line);
    if (!is_own_acl(chain_, ownership_)) return;
    if (ends_with_drop_) return unclear(line);
    if (w.size() == 1 && w[0] == "drop") {
      ends_with_drop_ = true;
      return;
    }
    AclRule rule;
    if (!parse_rule(w, rule)) return unclear(line);
    // One by hand has no number of ours: it stands where it was put.
    const int last = acl_.rules.empty() ? 0 : acl_.rules.back().sequence;
    if (rule.sequence == 0) rule.sequence = last + 1;
    if (rule.sequence <= last || rule.sequence > most_sequence) return unclear(line);
    acl_.rules.push_back(rule);
  }

  void take_segment(const Words& w, std::string_view line) {
    if (w[0] == "type") return take_hook(line);
    if (w.size() != 4 || w[0] != "iifname" || w[2] != "jump" ||
        !seen_.applied.emplace(netns_ + " " + w[1], w[3]).second) {
      unclear(line);
    }
  }

  static bool parse_rule(const Words& w, AclRule& rule) {
    for (std::size_t at = 0; at < w.size();) {
      const std::size_t left = w.size() - at;
      if (left >= 3 && w[at] == "ip" && (w[at + 1] == "saddr" || w[at + 1] == "daddr")) {
        std::string prefix = w[at + 2];
        if (prefix.find('/') == std::string::npos) prefix += "/32";
        if (!parse_network4(prefix)) return false;
        (w[at + 1] == "saddr" ? rule.source : rule.destination) = prefix;
        at += 3;
      } else if (left >= 3 && w[at] == "ip" && w[at + 1] == "protocol") {
        rule.protocol = protocol_of(w[at + 2]);
        if (rule.protocol.empty()) return false;
        at += 3;
      } else if (left >= 3 && (w[at] == "tcp" || w[at] == "udp") && w[at + 1] == "dport") {
        rule.protocol = w[at];
        if (!parse_ports(w[at + 2], rule)) return false;
        at += 3;
      } else if (left == 3 && (w[at] == "accept" || w[at] == "drop") && w[at + 1] == "comment") {
        rule.action = w[at] == "accept" ? AclAction::permit : AclAction::deny;
        rule.sequence = parse_number(w[at + 2], 1, most_sequence).value_or(0);
        return rule.sequence > 0;
      } else if (left == 1 && (w[at] == "accept" || w[at] == "drop")) {
        rule.action = w[at] == "accept" ? AclAction::permit : AclAction::deny;
        return true;
      } else {
        return false;
      }
    }
    return false;
  }

  static bool parse_ports(const std::string& text, AclRule& rule) {
    const std::size_t dash = text.find('-');
    rule.port_from = parse_number(text.substr(0, dash), 1, 65535).value_or(0);
    if (dash == std::string::npos) return rule.port_from > 0;
    rule.port_to = parse_number(text.substr(dash + 1), 1, 65535).value_or(0);
    return rule.port_from > 0 && rule.port_to > rule.port_from;
  }

  void close_chain() {
    if (!our_table_ || depth_ < 2 || !is_own_acl(chain_, ownership_)) return;
    if (!ends_with_drop_) take_open_end();
    for (const AclState& other : seen_.acls) {
      if (other.name != acl_.name) continue;
      if (!(other == acl_)) unclear("chain " + chain_ + " differs between namespaces");
      return;
    }
    seen_.acls.push_back(acl_);
  }

  /// Whoever comes to the end of a chain goes back to where all are accepted.
  void take_open_end() {
    const int last = acl_.rules.empty() ? 0 : acl_.rules.back().sequence;
    if (last >= most_sequence) return unclear("chain " + chain_ + " does not end with drop");
    AclRule rest;
    rest.sequence = most_sequence;
    rest.action = AclAction::permit;
    rest.protocol = "ip";
    acl_.rules.push_back(rest);
  }

  const SwitchOwnership& ownership_;
  NftSeen seen_;
  std::string netns_, chain_;
  AclState acl_;
  int depth_ = 0;
  bool our_table_ = false, six_table_ = false, ends_with_drop_ = false;
  std::set<std::string> closed_;  ///< "Vrf00010 br110" (netns, link): no IPv6 comes in there
};

}  // namespace

std::string nft_chain(const AclState& acl) {
  std::string out = "\tchain " + acl.name + " {\n";
  for (const auto& rule : acl.rules) out += rule_line(rule);
  return out + "\t\tdrop\n\t}\n";
}

std::string nft_segments(Kernel kernel, const std::vector<const SegmentState*>& segments) {
  std::string out = "\tchain segments {\n\t\t" + std::string(first_hook) + "\n";
  for (const auto* segment : segments) {
    out += "\t\tiifname \"" + segment_link(kernel, *segment) + "\" jump " + segment->acl_in + "\n";
  }
  return out + "\t}\n";
}

std::string render_nft(Kernel kernel, const SwitchState& state) {
  std::string out;
  for (const auto& [netns, place] : places_of(kernel, state)) {
    if (!netns.empty()) out += "# netns " + netns + "\n";
    out += "table ip tundish {\n";
    for (const auto* acl : place.acls) out += nft_chain(*acl);
    if (!place.segments.empty()) out += nft_segments(kernel, place.segments);
    out += "}\n";
    if (!place.segments.empty()) out += nft_no_ipv6(kernel, place.segments);
  }
  return out;
}

NftSeen parse_nft(std::string_view text, const SwitchOwnership& ownership) {
  return Reader(ownership).read(text);
}

}  // namespace tundish::switches::frr_parts
