#include "families/switches/driver_frr_live.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "families/switches/driver_frr_routes.hpp"
#include "families/switches/driver_lldp.hpp"

namespace tundish::switches {
namespace {

using frr_parts::Kernel;

std::string text_of(const JsonValue& value) { return value.as_text().value_or(""); }
std::int64_t number_of(const JsonValue& value) { return value.as_integer().value_or(0); }

/// One entry of `ip -j -d addr show`.
struct Link {
  JsonValue json;
  std::string netns, name, kind, mac;
  std::string peer = {}, peer_netns = {};  ///< of a veth pair, when both ends were read
  bool up = false, carrier = false, ipv6 = false;
  std::vector<std::string> addresses;   ///< IPv4 of scope global, with length
  std::vector<std::string> addresses6;  ///< IPv6, but no link-local one of a port
};

/// One line of `peers`: a tunnel's device, its far end, and the VNI where one device has several.
struct Peer {
  std::string netns, device, address, vni;
};

bool is_leak_end(const std::string& name) {
  if (name.size() < 4 || !name.starts_with("lk")) return false;
  const char end = name.back();
  const auto digits = std::string_view(name).substr(2, name.size() - 3);
  return (end == 'a' || end == 'b') &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whatever is no device of the software's own is a port: a real one has no kind, that of a lab is
/// the end of a veth pair.
std::string kind_of(const JsonValue& json, const std::string& name) {
  if (text_of(json.at("link_type")) == "loopback") return "loopback";
  const std::string kind = text_of(json.at("linkinfo").at("info_kind"));
  for (const char* known : {"bridge", "vxlan", "vrf", "vlan"}) {
    if (kind == known) return kind;
  }
  return kind == "veth" && is_leak_end(name) ? "veth" : "port";
}

Link read_link(const JsonValue& json, const std::string& netns) {
  Link out;
  out.json = json;
  out.netns = netns;
  out.name = text_of(json.at("ifname"));
  out.kind = kind_of(json, out.name);
  out.mac = text_of(json.at("address"));
  for (const auto& flag : json.at("flags").items()) {
    if (flag.as_text() == "UP") out.up = true;
    if (flag.as_text() == "LOWER_UP") out.carrier = true;
  }
  const bool is_port = out.kind == "port" || out.kind == "vxlan";
  for (const auto& address : json.at("addr_info").items()) {
    const std::string family = text_of(address.at("family")), scope = text_of(address.at("scope"));
    const std::string text = text_of(address.at("local")) + "/" +
                             std::to_string(number_of(address.at("prefixlen")));
    if (family == "inet" && scope == "global") out.addresses.push_back(text);
    if (family == "inet6" && !(is_port && scope == "link")) out.addresses6.push_back(text);
  }
  return out;
}

/// In the grammar a text has no quote and no line end.
std::string quoted(std::string text) {
  for (char& c : text) {
    if (c == '"' || c == '\n' || c == '\r') c = '?';
  }
  return " alias \"" + text + "\"";
}

std::string vxlan_words(const JsonValue& data) {
  std::string out;
  if (data.at("external").as_flag().value_or(false)) out += " external";
  if (data.at("vnifilter").as_flag().value_or(false)) out += " vnifilter";
  if (number_of(data.at("id")) > 0) out += " id " + std::to_string(number_of(data.at("id")));
  if (const auto local = text_of(data.at("local")); !local.empty()) out += " local " + local;
  if (const auto port = number_of(data.at("port")); port > 0) {
    out += " dstport " + std::to_string(port);
  }
  if (!data.at("learning").as_flag().value_or(true)) out += " nolearning";
  return out;
}

std::string link_line(const Link& link) {
  const JsonValue data = link.json.at("linkinfo").at("info_data");
  std::string out = "link " + link.name;
  if (!link.netns.empty()) out += " netns " + link.netns;
  out += " type " + link.kind;
  if (link.kind == "vxlan") out += vxlan_words(data);
  if (link.kind == "vrf") out += " table " + std::to_string(number_of(data.at("table")));
  if (link.kind == "vlan") {
    out += " id " + std::to_string(number_of(data.at("id"))) + " parent " +
           text_of(link.json.at("link"));
  }
  if (link.kind == "bridge" && number_of(data.at("vlan_filtering")) == 1) out += " vlan_filtering";
  if (const auto master = text_of(link.json.at("master")); !master.empty()) {
    out += " master " + master;
  }
  if (link.kind == "bridge" || link.kind == "vlan") out += " address " + link.mac;
  if (!link.peer.empty()) out += " peer " + link.peer;
  if (!link.peer.empty() && !link.peer_netns.empty()) out += " peer_netns " + link.peer_netns;
  if (link.ipv6 && link.kind != "loopback") out += " ipv6";
  out += " mtu " + std::to_string(number_of(link.json.at("mtu")));
  out += link.up ? " up" : " down";
  if (const auto alias = text_of(link.json.at("ifalias")); !alias.empty()) out += quoted(alias);
  return out + "\n";
}

/// First and last of a number and its optional end.
std::pair<std::int64_t, std::int64_t> range_of(const JsonValue& value, const std::string& name) {
  const std::int64_t from = number_of(value.at(name));
  return {from, value.at(name + "End").as_integer().value_or(from)};
}

Result<std::string> vlan_lines(const std::string& text, const std::set<std::string>& bridges) {
  std::string out;
  if (trim(text).empty()) return out;
  const auto root = TRY(JsonValue::parse(text));
  for (const auto& link : root.items()) {
    const std::string name = text_of(link.at("ifname"));
    for (const auto& vlan : link.at("vlans").items()) {
      std::string words;
      for (const auto& flag : vlan.at("flags").items()) {
        if (flag.as_text() == "PVID") words += " pvid";
        if (flag.as_text() == "Egress Untagged") words += " untagged";
      }
      if (bridges.contains(name)) words = " self";
      const auto [from, to] = range_of(vlan, "vlan");
      for (auto number = from; number <= to && number <= 4094; ++number) {
        out += "vlan " + std::to_string(number) + " dev " + name + words + "\n";
      }
    }
  }
  return out;
}

Result<std::string> tunnel_lines(const std::string& text) {
  std::string out;
  if (trim(text).empty()) return out;
  const auto root = TRY(JsonValue::parse(text));
  for (const auto& link : root.items()) {
    for (const auto& tunnel : link.at("tunnels").items()) {
      const auto [from, to] = range_of(tunnel, "vlan");
      const auto vni = range_of(tunnel, "tunid").first;
      for (auto vlan = from; vlan <= to && vlan <= 4094; ++vlan) {
        out += "vni " + std::to_string(vni + vlan - from) + " dev " + text_of(link.at("ifname")) +
               " vlan " + std::to_string(vlan) + "\n";
      }
    }
  }
  return out;
}

/// The loopback's address that BGP calls the switch by; else its first.
std::string tunnel_end(const std::vector<Link>& links, const std::string& conf) {
  std::string router_id;
  for (const auto& line : split(conf, '\n')) {
    const auto words = split(trim(line), ' ');
    if (router_id.empty() && words.size() == 3 && words[0] == "bgp" && words[1] == "router-id") {
      router_id = words[2];
    }
  }
  std::set<std::string> used;
  std::string first;
  for (const auto& link : links) {
    const auto local = text_of(link.json.at("linkinfo").at("info_data").at("local"));
    if (link.kind == "vxlan" && !local.empty()) used.insert(local);
    if (link.kind != "loopback" || !link.netns.empty()) continue;
    for (const auto& address : link.addresses) {
      const std::string plain = address.substr(0, address.find('/'));
      if (first.empty() || plain == router_id) first = plain;
    }
  }
  return used.size() == 1 ? *used.begin() : first;
}

/// The MAC of most gateways; without one, the default.
std::string gateway_mac(const std::vector<Link>& links) {
  std::map<std::string, int> counts;
  for (const auto& link : links) {
    const bool gateway = (link.kind == "bridge" || link.kind == "vlan") && !link.addresses.empty();
    if (gateway) ++counts[link.mac];
  }
  const std::string usual = SwitchState{}.anycast_mac;
  if (counts.empty() || counts.contains(usual)) return usual;
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

/// Without the line by which `zebra -n` says where a VRF's namespace is, when it is where it has to
/// be: it shows that line but nobody writes it.
std::string without_places(const std::string& conf) {
  std::string out, vrf;
  for (const auto& line : split(conf, '\n')) {
    if (line.starts_with("vrf ")) vrf = trim(line.substr(4));
    if (trim(line) == "netns /run/netns/" + vrf && line.starts_with(" ")) continue;
    out += line + "\n";
  }
  return out;
}

class Live {
 public:
  explicit Live(Kernel kernel) : kernel_(kernel) {}

  Result<SwitchFetched> read(const std::vector<FrrSection>& sections) {
    SwitchFetched out;
    for (const auto& section : sections) {
      if (section.kind == "conf") conf_ = without_places(section.text);
      if (section.kind == "interrupted") out.is_interrupted = true;
      if (section.kind == "addr") TRY_VOID(take_links(section));
      if (section.kind == "nft") take_filter(section);
      if (section.kind == "rib") routes_.take_rib(section.text);
      if (section.kind == "route") TRY_VOID(take_routes(section, RouteFamily::ipv4));
      if (section.kind == "route6") TRY_VOID(take_routes(section, RouteFamily::ipv6));
      if (section.kind == "six") take_six(section);
      if (section.kind == "nsid") take_names(section);
      if (section.kind == "peer") take_peers(section);
      if (section.kind == "vlan") vlans_ = section.text;
      if (section.kind == "tunnel") tunnels_ = section.text;
      if (section.kind == "lldp") read_lldp_json0(section.text, out.facts.neighbours);
    }
    join_pairs();
    out.files = {{"frr.conf", conf_}, {"kernel", TRY(kernel_text())}, {"nft", nft_text()}};
    for (const auto& link : links_) {
      if (link.kind == "port" && link.up && link.carrier) out.facts.ports_up.push_back(link.name);
    }
    std::ranges::sort(out.facts.ports_up);
    std::ranges::sort(out.facts.neighbours, {}, &PortNeighbour::port);
    return out;
  }

 private:
  /// On a VLAN-aware kernel named namespaces are somebody else's: containers.
  bool is_ours(const std::string& netns) const {
    return netns.empty() || kernel_ == Kernel::netns_per_vni;
  }

  Result<> take_links(const FrrSection& section) {
    const std::string netns = section.netns == "-" ? "" : section.netns;
    if (!is_ours(netns)) return {};
    const auto root = TRY(JsonValue::parse(section.text));
    if (!netns.empty()) spaces_.push_back(netns);
    for (const auto& json : root.items()) links_.push_back(read_link(json, netns));
    return {};
  }

  Result<> take_routes(const FrrSection& section, RouteFamily family) {
    const std::string netns = section.netns == "-" ? "" : section.netns;
    if (!is_ours(netns) || trim(section.text).empty()) return {};
    return routes_.take_kernel(section.text, netns, family);
  }

  /// "/proc/sys/net/ipv6/conf/br110/disable_ipv6" of each link that speaks IPv6.
  void take_six(const FrrSection& section) {
    const std::string netns = section.netns == "-" ? "" : section.netns;
    for (const auto& line : split(section.text, '\n')) {
      const auto parts = split(trim(line), '/');
      if (parts.size() >= 2) six_.emplace(netns, parts[parts.size() - 2]);
    }
  }

  /// "nsid 1 (iproute2 netns name: Vrf00020)"; the namespace of the underlay has no name.
  void take_names(const FrrSection& section) {
    const std::string netns = section.netns == "-" ? "" : section.netns;
    for (const auto& line : split(section.text, '\n')) {
      const auto words = split(trim(line), ' ');
      if (words.size() < 6 || words[0] != "nsid" || !words[5].ends_with(")")) continue;
      names_[{netns, words[1]}] = words[5].substr(0, words[5].size() - 1);
    }
  }

  /// The far end of a pair that is not ours, where it was read too: within one namespace it is told
  /// by its name, and else by its number there.
  void join_pairs() {
    std::map<std::pair<std::string, std::int64_t>, const Link*> by_number;
    for (auto& link : links_) {
      link.ipv6 = six_.contains({link.netns, link.name});
      by_number[{link.netns, number_of(link.json.at("ifindex"))}] = &link;
    }
    for (auto& link : links_) {
      const std::string kind = text_of(link.json.at("linkinfo").at("info_kind"));
      if (kind != "veth" || link.kind == "veth") continue;
      if (const auto near = text_of(link.json.at("link")); !near.empty()) {
        link.peer = near;
        link.peer_netns = link.netns;
        continue;
      }
      const auto id = std::to_string(link.json.at("link_netnsid").as_integer().value_or(-1));
      const auto place = names_.find({link.netns, id});
      if (place == names_.end()) continue;
      const auto far = by_number.find({place->second, number_of(link.json.at("link_index"))});
      if (far == by_number.end()) continue;
      link.peer = far->second->name;
      link.peer_netns = place->second;
    }
  }

  void take_peers(const FrrSection& section) {
    const std::string netns = section.netns == "-" ? "" : section.netns;
    if (!is_ours(netns)) return;
    for (const auto& line : split(section.text, '\n')) {
      const auto words = split(trim(line), ' ');
      if (words.size() < 2) continue;
      peers_.push_back({netns, words[0], words[1], words.size() > 2 ? words[2] : ""});
    }
  }

  std::string peer_lines() const {
    std::string out;
    for (const auto& peer : peers_) {
      out += "peer " + peer.address + " dev " + peer.device +
             (peer.netns.empty() ? "" : " netns " + peer.netns) +
             (peer.vni.empty() ? "" : " vni " + peer.vni) + "\n";
    }
    return out;
  }

  /// A route of a VRF device is in a table of its own.
  std::string vrf_of(const KernelRoute& route) const {
    if (kernel_ == Kernel::netns_per_vni) return route.netns;
    for (const auto& link : links_) {
      const auto table = number_of(link.json.at("linkinfo").at("info_data").at("table"));
      if (link.kind == "vrf" && route.table == std::to_string(table)) return link.name;
    }
    return "";
  }

  std::string route_lines() const {
    std::string out;
    for (const auto& route : routes_.kernel()) {
      const std::string vrf = vrf_of(route);
      if (vrf.empty() || routes_.is_explained(route, vrf)) continue;
      out += "route " + route.to + route.way() + " vrf " + vrf + "\n";
    }
    return out;
  }

  void take_filter(const FrrSection& section) {
    const std::string netns = section.netns == "-" ? "" : section.netns;
    if (is_ours(netns)) filters_[netns] = section.text;
  }

  Result<std::string> kernel_text() {
    const std::string vtep = tunnel_end(links_, conf_);
    if (vtep.empty()) {
      return make_error(Code::conflict, "its loopback has no address for tunnels to end at")
          .with_remedy("give lo an address, the router-id of BGP, and announce it");
    }
    const bool spaces = kernel_ == Kernel::netns_per_vni;
    std::string out = std::string("switch kernel ") +
                      (spaces ? "netns_per_vni" : "vrf_vlan_aware") + " vtep " + vtep +
                      " anycast_mac " + gateway_mac(links_) + "\n";
    std::ranges::sort(spaces_);
    for (const auto& space : spaces_) out += "netns " + space + "\n";
    std::ranges::sort(links_, [](const Link& a, const Link& b) {
      return std::pair(a.netns, a.name) < std::pair(b.netns, b.name);
    });
    std::set<std::string> bridges;
    for (const auto& link : links_) {
      out += link_line(link);
      if (link.kind == "bridge") bridges.insert(link.name);
      if (link.kind == "loopback") continue;
      for (const auto* list : {&link.addresses, &link.addresses6}) {
        for (const auto& address : *list) {
          out += "addr " + address + " dev " + link.name +
                 (link.netns.empty() ? "" : " netns " + link.netns) + "\n";
        }
      }
    }
    out += route_lines() + peer_lines();
    if (spaces) return out;
    return out + TRY(vlan_lines(vlans_, bridges)) + TRY(tunnel_lines(tunnels_));
  }

  std::string nft_text() const {
    std::string out;
    for (const auto& [netns, text] : filters_) {
      if (!netns.empty()) out += "# netns " + netns + "\n";
      out += text + "\n";
    }
    return out;
  }

  Kernel kernel_;
  std::string conf_, vlans_, tunnels_;
  std::vector<std::string> spaces_;
  std::vector<Link> links_;
  FrrRoutes routes_;
  std::set<std::pair<std::string, std::string>> six_;
  std::map<std::pair<std::string, std::string>, std::string> names_;  ///< (in, number): namespace
  std::vector<Peer> peers_;
  std::map<std::string, std::string> filters_;
};

}  // namespace

Result<SwitchFetched> read_frr_sections(const std::vector<FrrSection>& sections, Kernel kernel) {
  return Live(kernel).read(sections);
}

}  // namespace tundish::switches
