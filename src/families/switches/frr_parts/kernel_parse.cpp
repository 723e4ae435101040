#include <algorithm>
#include <optional>
#include <set>

#include "families/switches/frr_parts/frr_parts.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/words.hpp"

namespace tundish::switches::frr_parts {
namespace {

struct Link {
  std::string line, name, netns, type, local, dstport, master, parent, address, alias;
  std::string peer = {}, peer_netns = {};  ///< the other end of a pair, where it was read too
  int id = 0, table = 0, mtu = 0;
  bool up = false, nolearning = false, external = false, vnifilter = false, filtering = false;
  bool ipv6 = false;
  std::vector<std::string> addresses, addresses6;
  bool used = false;  ///< explained as part of an object of ours
};

struct VlanLine {
  std::string line, dev;
  int vlan = 0;
  bool pvid = false, untagged = false, self = false;
  bool used = false;
};

struct VniLine {
  std::string line;
  int vni = 0, vlan = 0;
  bool used = false;
};

struct PeerLine {
  std::string address, dev, netns;
  int vni = 0;  ///< 0: its device has only one
};

/// The lines as they are, before anything is made of them.
class Lines {
 public:
  std::string kernel, vtep, mac;
  std::vector<std::string> spaces;
  std::vector<Link> links;
  std::vector<VlanLine> vlans;
  std::vector<VniLine> vnis;
  std::vector<PeerLine> peers;
  std::vector<std::pair<std::string, std::string>> routes;  ///< VRF and line, of those by hand
  std::vector<std::string> unclear;

  void read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      const auto words = words_of(line);
      if (words.empty() || words[0][0] == '#') continue;
      if (!take(words, std::string(line))) unclear.push_back("kernel: " + std::string(line));
    }
  }

  Link* find(const std::string& netns, const std::string& name) {
    const auto at = index_.find({netns, name});
    return at == index_.end() ? nullptr : &links[at->second];
  }
  /// The first line of this VLAN at this device.
  VlanLine* find_vlan(const std::string& dev, int vlan) {
    const auto found = vlans_of_.find(dev);
    if (found == vlans_of_.end()) return nullptr;
    const auto at = found->second.find(vlan);
    return at == found->second.end() ? nullptr : &vlans[at->second];
  }
  /// By VLAN: where the first line of each is in `vlans`.
  const std::map<int, std::size_t>& vlans_of(const std::string& dev) const {
    static const std::map<int, std::size_t> none;
    const auto found = vlans_of_.find(dev);
    return found == vlans_of_.end() ? none : found->second;
  }
  /// Links of this name, in whatever namespace.
  std::vector<Link*> named(const std::string& name) {
    std::vector<Link*> out;
    const auto [from, to] = names_.equal_range(name);
    for (auto at = from; at != to; ++at) out.push_back(&links[at->second]);
    return out;
  }

 private:
  using Words = std::vector<std::string>;

  bool take(const Words& w, const std::string& line) {
    if (w[0] == "switch" && w.size() == 7 && w[1] == "kernel" && w[3] == "vtep" &&
        w[5] == "anycast_mac") {
      kernel = w[2];
      vtep = w[4];
      mac = w[6];
      return true;
    }
    if (w[0] == "netns" && w.size() == 2) {
      spaces.push_back(w[1]);
      return true;
    }
    if (w[0] == "link" && w.size() >= 4) return take_link(w, line);
    if (w[0] == "addr" && (w.size() == 4 || w.size() == 6) && w[2] == "dev") {
      Link* link = find(w.size() == 6 && w[4] == "netns" ? w[5] : "", w[3]);
      if (link == nullptr) return false;
      const bool six = w[1].find(':') != std::string::npos;
      (six ? link->addresses6 : link->addresses).push_back(w[1]);
      return true;
    }
    if (w[0] == "route" && w.size() >= 4 && w[w.size() - 2] == "vrf") {
      routes.emplace_back(w.back(), line);
      return true;
    }
    if (w[0] == "peer" && w.size() >= 4 && w[2] == "dev") return take_peer(w);
    if (w[0] == "vlan" && w.size() >= 4 && w[2] == "dev") return take_vlan(w, line);
    if (w[0] == "vni" && w.size() == 6 && w[2] == "dev" && w[4] == "vlan") {
      const auto vni = parse_number(w[1], 1, 16777215), vlan = parse_number(w[5], 1, 4094);
      if (!vni || !vlan) return false;
      vnis.push_back({line, *vni, *vlan});
      return true;
    }
    return false;
  }

  bool take_peer(const Words& w) {
    PeerLine out{w[1], w[3], ""};
    for (std::size_t at = 4; at + 1 < w.size(); at += 2) {
      const auto vni = w[at] == "vni" ? parse_number(w[at + 1], 1, 16777215) : std::nullopt;
      if (w[at] == "netns") {
        out.netns = w[at + 1];
      } else if (vni) {
        out.vni = *vni;
      } else {
        return false;
      }
    }
    if (w.size() % 2 != 0) return false;
    peers.push_back(std::move(out));
    return true;
  }

  bool take_vlan(const Words& w, const std::string& line) {
    const auto vlan = parse_number(w[1], 1, 4094);
    if (!vlan) return false;
    VlanLine out{line, w[3], *vlan};
    for (std::size_t at = 4; at < w.size(); ++at) {
      if (w[at] == "pvid") {
        out.pvid = true;
      } else if (w[at] == "untagged") {
        out.untagged = true;
      } else if (w[at] == "self") {
        out.self = true;
      } else {
        return false;
      }
    }
    vlans_of_[out.dev].emplace(out.vlan, vlans.size());
    vlans.push_back(std::move(out));
    return true;
  }

  bool take_link(const Words& w, const std::string& line) {
    Link link;
    link.line = line;
    link.name = w[1];
    const std::map<std::string_view, std::string*> texts{
        {"netns", &link.netns},   {"type", &link.type},      {"local", &link.local},
        {"master", &link.master}, {"parent", &link.parent},  {"address", &link.address},
        {"alias", &link.alias},   {"dstport", &link.dstport},
        {"peer", &link.peer},     {"peer_netns", &link.peer_netns}};
    const std::map<std::string_view, int*> numbers{
        {"id", &link.id}, {"table", &link.table}, {"mtu", &link.mtu}};
    const std::map<std::string_view, bool*> flags{{"up", &link.up},
                                                  {"nolearning", &link.nolearning},
                                                  {"external", &link.external},
                                                  {"vnifilter", &link.vnifilter},
                                                  {"ipv6", &link.ipv6},
                                                  {"vlan_filtering", &link.filtering}};
    for (std::size_t at = 2; at < w.size(); ++at) {
      const bool more = at + 1 < w.size();
      if (const auto text = texts.find(w[at]); text != texts.end() && more) {
        *text->second = w[++at];
      } else if (const auto number = numbers.find(w[at]); number != numbers.end() && more) {
        const auto value = parse_number(w[++at], 0, 99999999);
        if (!value) return false;
        *number->second = *value;
      } else if (const auto flag = flags.find(w[at]); flag != flags.end()) {
        *flag->second = true;
      } else if (w[at] != "down") {
        return false;
      }
    }
    if (!index_.emplace(std::pair(link.netns, link.name), links.size()).second) return false;
    names_.emplace(link.name, links.size());
    links.push_back(std::move(link));
    return true;
  }

  std::map<std::pair<std::string, std::string>, std::size_t> index_;
  std::multimap<std::string, std::size_t> names_;
  std::map<std::string, std::map<int, std::size_t>> vlans_of_;
};

/// A route by hand that ends so may lead into another network.
constexpr const char* leads_out_words = " leads out of its segments";

class Reader {
 public:
  Reader(Kernel kernel, const SwitchOwnership& ownership)
      : kernel_(kernel), ownership_(ownership) {}

  KernelSeen read(std::string_view text) {
    lines_.read(text);
    seen_.vtep_address = lines_.vtep;
    seen_.anycast_mac = lines_.mac;
    seen_.unclear = lines_.unclear;
    if (lines_.kernel != (netns() ? "netns_per_vni" : "vrf_vlan_aware")) {
      note("kernel is '" + lines_.kernel + "'");
    }
    netns() ? read_spaces() : read_devices();
    read_ports();
    if (netns()) read_leaks();
    read_peers();
    leftovers();
    tidy_up(seen_.foreign);
    return std::move(seen_);
  }

 private:
  bool netns() const { return kernel_ == Kernel::netns_per_vni; }
  void note(const std::string& what) { seen_.unclear.push_back("kernel: " + what); }
  void odd(const Link& link) { note(link.line); }

  bool is_tunnel(const Link& link) const {
    return link.type == "vxlan" && link.local == lines_.vtep && link.dstport == "4789" &&
           link.nolearning && link.up;
  }

  // ---- netns_per_vni
  void read_spaces() {
    for (const auto& space : lines_.spaces) {
      if (!is_own_vrf(space, ownership_)) {
        seen_.foreign.vrfs.push_back(space);
        continue;
      }
      VrfState& vrf = seen_.vrfs[space];
      vrf.name = space;
      vrf.vrf_id = vrf_id_of(space);
    }
    for (Link& link : lines_.links) {
      if (link.type != "vxlan") continue;
      if (!seen_.vrfs.contains(link.netns)) {
        seen_.foreign.vnis.push_back(link.id);
        continue;
      }
      read_tunnel(link);
    }
  }

  void read_tunnel(Link& tunnel) {
    Link* bridge = lines_.find(tunnel.netns, tunnel.master);
    tunnel.used = true;
    if (bridge == nullptr || bridge->type != "bridge" || !bridge->up || bridge->used ||
        !is_tunnel(tunnel) || tunnel.name != "vx" + std::to_string(tunnel.id)) {
      return odd(tunnel);
    }
    bridge->used = true;
    const int number =
        bridge->name.starts_with("br")
            ? parse_number(std::string_view(bridge->name).substr(2), 2, 16777215).value_or(0)
            : 0;
    if (number == 0) return odd(*bridge);
    if (number > 4094) {
      VrfState& vrf = seen_.vrfs[tunnel.netns];
      if (number != tunnel.id || vrf.l3vni != 0 || !bridge->addresses.empty()) return odd(*bridge);
      vrf.l3vni = tunnel.id;
      vrf.description = bridge->alias;
      return;
    }
    SegmentState segment;
    segment.vrf = tunnel.netns;
    segment.vlan = number;
    segment.l2vni = tunnel.id;
    read_gateway(*bridge, segment);
    if (tunnel.mtu != segment.mtu) odd(tunnel);
    seen_.segments.push_back(std::move(segment));
  }

  void read_gateway(const Link& link, SegmentState& segment) {
    segment.mtu = link.mtu;
    if (link.addresses.size() > 1 || !link.alias.empty()) odd(link);
    if (link.addresses.empty()) return;
    segment.gateway = link.addresses[0];
    if (link.address != lines_.mac) odd(link);
  }

  // ---- vrf_vlan_aware
  void read_devices() {
    Link* bridge = lines_.find("", std::string(vlan_bridge));
    Link* tunnel = lines_.find("", std::string(vlan_vxlan));
    if (bridge == nullptr || bridge->type != "bridge" || !bridge->filtering || !bridge->up) {
      note("there is no VLAN-aware bridge br_default that is up");
    }
    if (tunnel == nullptr || !is_tunnel(*tunnel) || !tunnel->external || !tunnel->vnifilter ||
        tunnel->master != vlan_bridge) {
      note("there is no VXLAN device vxlan48 with a VNI filter in br_default");
    }
    for (Link* link : {bridge, tunnel}) {
      if (link != nullptr) link->used = true;
    }
    for (Link& link : lines_.links) {
      if (link.type == "vrf") read_vrf(link);
      if (link.type == "vxlan" && !link.used) seen_.foreign.vnis.push_back(link.id);
    }
    for (VniLine& map : lines_.vnis) read_map(map);
  }

  void read_vrf(Link& link) {
    if (!is_own_vrf(link.name, ownership_)) {
      seen_.foreign.vrfs.push_back(link.name);
      return;
    }
    link.used = true;
    VrfState& vrf = seen_.vrfs[link.name];
    vrf.name = link.name;
    vrf.vrf_id = vrf_id_of(link.name);
    vrf.description = link.alias;
    if (link.table != table_base + vrf.vrf_id || !link.up) odd(link);
  }

  void read_map(VniLine& map) {
    const bool l3 = is_own_l3vlan(map.vlan, ownership_);
    if (!l3 && !is_own_vlan(map.vlan, ownership_)) {
      seen_.foreign.vnis.push_back(map.vni);
      return;
    }
    map.used = true;
    Link* svi = lines_.find("", "vlan" + std::to_string(map.vlan));
    VlanLine* self = lines_.find_vlan(std::string(vlan_bridge), map.vlan);
    VlanLine* tunnel = lines_.find_vlan(std::string(vlan_vxlan), map.vlan);
    if (svi == nullptr || svi->used || svi->type != "vlan" || svi->parent != vlan_bridge ||
        svi->id != map.vlan || !svi->up || self == nullptr || !self->self || tunnel == nullptr ||
        !seen_.vrfs.contains(svi->master)) {
      return note(map.line);
    }
    svi->used = self->used = tunnel->used = true;
    if (l3) {
      VrfState& vrf = seen_.vrfs[svi->master];
      if (vrf.l3vni != 0 || !svi->addresses.empty()) return note(map.line);
      vrf.l3vni = map.vni;
      vrf.l3vlan = map.vlan;
      return;
    }
    SegmentState segment;
    segment.vrf = svi->master;
    segment.vlan = map.vlan;
    segment.l2vni = map.vni;
    read_gateway(*svi, segment);
    seen_.segments.push_back(std::move(segment));
  }

  // ---- both
  void read_ports() {
    for (std::size_t at = 0; at < seen_.segments.size(); ++at) {
      const SegmentState& segment = seen_.segments[at];
      segments_[netns() ? std::pair(segment.vrf, segment_link(kernel_, segment))
                        : std::pair(std::string(), std::to_string(segment.vlan))] = at;
    }
    for (Link& link : lines_.links) {
      if (!is_own_port(link.name, ownership_)) continue;
      link.used = true;
      SwitchPortState port;
      port.name = link.name;
      port.description = link.alias;
      if (!read_place(link, port)) odd(link);
      seen_.ports.push_back(std::move(port));
    }
  }

  /// Where the port is. False: in a place that is none of ours, or half in one.
  bool read_place(const Link& link, SwitchPortState& port) {
    if (link.type != "port") return false;
    const std::string vrf = netns() ? link.netns : link.master;
    const std::string master = netns() ? link.master : "";
    if (seen_.vrfs.contains(vrf) && master.empty() && !link.addresses.empty()) {
      port.mode = PortMode::routed;
      port.vrf = vrf;
      port.address = link.addresses[0];
      return link.up && link.addresses.size() == 1;
    }
    if (link.netns.empty() && link.master.empty()) return !link.up && link.addresses.empty();
    return read_access(link, port);
  }

  bool read_access(const Link& link, SwitchPortState& port) {
    const SegmentState* segment = nullptr;
    int vlans = 0;
    if (netns()) {
      const auto at = segments_.find({link.netns, link.master});
      if (at != segments_.end()) segment = &seen_.segments[at->second];
    }
    for (const auto& [vlan, index] : lines_.vlans_of(link.name)) {
      const auto at = segments_.find({"", std::to_string(vlan)});
      if (netns() || at == segments_.end()) continue;
      VlanLine& line = lines_.vlans[index];
      line.used = line.pvid && line.untagged;
      if (line.used) segment = &seen_.segments[at->second];
      ++vlans;
    }
    if (segment == nullptr) return false;
    port.mode = PortMode::access;
    port.vlan = segment->vlan;
    const bool placed = netns() || (link.master == vlan_bridge && vlans == 1);
    return placed && link.up && link.addresses.empty() && link.mtu == segment->mtu;
  }

  void read_leaks() {
    for (Link& link : lines_.links) {
      if (!link.name.starts_with("lk") || !link.name.ends_with("a") || !link.up ||
          !seen_.vrfs.contains(link.netns)) {
        continue;
      }
      const std::string name = link.name.substr(0, link.name.size() - 1);
      for (Link* other_end : lines_.named(name + "b")) {
        Link& far = *other_end;
        if (!far.up || !seen_.vrfs.contains(far.netns)) continue;
        const std::vector<std::string> a{std::string(leak_address_a) + "/32"};
        const std::vector<std::string> b{std::string(leak_address_b) + "/32"};
        const int id = vrf_id_of(link.netns), other = vrf_id_of(far.netns);
        if (link.addresses != a || far.addresses != b || id >= other ||
            name != leak_link(id, other)) {
          continue;
        }
        link.used = far.used = true;
        seen_.leak_links.push_back(name + " " + link.netns + " " + far.netns);
      }
    }
  }

  /// Of the tunnels that are ours: by their network namespace, or by the VNIs mapped to our VLANs.
  void read_peers() {
    std::set<int> own;
    for (const auto& [name, vrf] : seen_.vrfs) own.insert(vrf.l3vni);
    for (const auto& segment : seen_.segments) own.insert(segment.l2vni);
    for (const auto& peer : lines_.peers) {
      const Link* device = lines_.find(peer.netns, peer.dev);
      const int vni = peer.vni != 0 ? peer.vni : device != nullptr ? device->id : 0;
      if (vni != 0 && own.contains(vni)) seen_.peers.push_back({vni, peer.address});
    }
    std::ranges::sort(seen_.peers);
    const auto same = std::ranges::unique(seen_.peers);
    seen_.peers.erase(same.begin(), same.end());
  }

  /// What touches an object of ours and was not explained is unclear; the rest is foreign.
  void leftovers() {
    std::map<std::string, std::string> astray;
    for (const Link& link : lines_.links) {
      if (is_astray(link)) astray.emplace(link.netns, link.name + " in " + link.netns);
      if (link.used || link.type == "loopback") continue;
      const bool inside = seen_.vrfs.contains(link.netns) || seen_.vrfs.contains(link.master) ||
                          (link.type == "vlan" && !netns() && is_own_number(link.id));
      if (inside && link.peer.empty()) odd(link);
      // First of all: what leads from one network to another.
      if (inside && !link.peer.empty()) note_first(link.line + leads_to(link));
      if (!inside && link.type == "vlan") seen_.foreign.vlans.push_back(link.id);
    }
    for (const VlanLine& line : lines_.vlans) {
      if (line.used) continue;
      if (is_own_number(line.vlan) || is_own_port(line.dev, ownership_)) {
        const Link* link = lines_.find("", line.dev);
        note(line.line + (link == nullptr ? "" : leads_to(*link)));
      } else {
        seen_.foreign.vlans.push_back(line.vlan);
      }
    }
    for (const auto& [vrf, line] : lines_.routes) {
      if (seen_.vrfs.contains(vrf)) note(line + (leads_out(vrf, line) ? leads_out_words : ""));
    }
    if (astray.size() > 1) {
      std::string all;
      for (const auto& [netns, what] : astray) all += (all.empty() ? "" : " and ") + what;
      note_first("links " + all + " lead to where nobody looks");
    }
    note_ipv6();
    for (const auto& [name, vrf] : seen_.vrfs) {
      if (vrf.l3vni == 0) note(name + " has no L3VNI");
    }
  }

  /// A link of somebody's in the bridge of one of our VRFs, whose other end was not read: a
  /// namespace without a name, as containers have. Two such may well be one way.
  bool is_astray(const Link& link) const {
    const bool inside = netns() && seen_.vrfs.contains(link.netns) && !link.master.empty();
    return inside && !link.used && link.type == "port" && link.peer.empty() &&
           !is_own_port(link.name, ownership_);
  }

  void note_first(const std::string& what) {
    seen_.unclear.insert(seen_.unclear.begin(), "kernel: " + what);
  }

  /// Of a pair that a stranger made: where its other end is.
  std::string leads_to(const Link& link) {
    if (link.peer.empty()) return "";
    const std::string netns = link.peer_netns;
    const Link* far = lines_.find(netns, link.peer);
    std::string place = netns;
    for (const auto& [vlan, index] : lines_.vlans_of(link.peer)) {
      const auto at = segments_.find({"", std::to_string(vlan)});
      if (!netns.empty() || at == segments_.end()) continue;
      place = seen_.segments[at->second].vrf;
    }
    if (place.empty() && far != nullptr) place = far->master;
    return " leads to " + link.peer + (place.empty() ? "" : " in " + place);
  }

  /// Over a link that is none of the VRF's own segments.
  bool leads_out(const std::string& vrf, const std::string& line) const {
    const auto words = words_of(line);
    for (std::size_t at = 0; at + 1 < words.size(); ++at) {
      if (words[at] != "dev") continue;
      const bool own = std::ranges::any_of(seen_.segments, [&](const SegmentState& segment) {
        return segment.vrf == vrf && segment_link(kernel_, segment) == words[at + 1];
      });
      if (!own) return true;
    }
    return false;
  }

  /// We give no link an IPv6 address; a leaf that has one is reached by it.
  void note_ipv6() {
    std::map<std::string, std::string> speak;
    for (const Link& link : lines_.links) {
      const bool device = seen_.vrfs.contains(link.name) || seen_.vrfs.contains(link.master);
      const std::string vrf = netns() ? link.netns : device && link.type == "vrf" ? link.name
                                                                                 : link.master;
      if (!seen_.vrfs.contains(vrf) || link.type == "loopback") continue;
      for (const auto& address : link.addresses6) {
        note("addr " + address + " dev " + link.name + " in " + vrf + ", where nobody has IPv6");
      }
      if (link.ipv6) speak[vrf] += (speak[vrf].empty() ? "" : ", ") + link.name;
    }
    for (const auto& [vrf, links] : speak) note("IPv6 is on in " + vrf + ": " + links);
  }

  bool is_own_number(int vlan) const {
    return is_own_vlan(vlan, ownership_) || is_own_l3vlan(vlan, ownership_);
  }

  Kernel kernel_;
  const SwitchOwnership& ownership_;
  Lines lines_;
  KernelSeen seen_;
  /// Where in `seen_.segments`: by VRF and bridge, or by VLAN.
  std::map<std::pair<std::string, std::string>, std::size_t> segments_;
};

}  // namespace

KernelSeen parse_kernel(Kernel kernel, std::string_view text, const SwitchOwnership& ownership) {
  return Reader(kernel, ownership).read(text);
}

}  // namespace tundish::switches::frr_parts
