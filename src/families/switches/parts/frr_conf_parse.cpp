#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/frr_conf.hpp"
#include "families/switches/parts/words.hpp"

namespace tundish::switches {
namespace {

using Words = std::vector<std::string>;

enum class Block {
  top,
  vrf,
  interface,
  router,
  router_ipv4,
  router_evpn,
  router_evpn_vni,
  route_map,
  other
};

struct Open {
  Block block = Block::other;
  std::string name;  ///< VRF, route-map; "" for the default instance
  int indent = 0;    ///< of the line that opened it
  int vni = 0;
};

/// Lines are taken in the block that their indentation leaves open, as FRR writes them.
class Reader {
 public:
  Reader(const SwitchOwnership& ownership, const FrrDialect& dialect)
      : ownership_(ownership), dialect_(dialect) {}

  FrrSeen read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      const Words words = words_of(line);
      if (words.empty() || words[0][0] == '!' || words[0][0] == '#') continue;
      const int indent = indent_of(line);
      while (!open_.empty() && indent <= open_.back().indent) open_.pop_back();
      line_ = std::string(trim(line));
      if (words[0] == "exit" || words[0].starts_with("exit-") || words[0] == "end") continue;
      take(words, indent);
    }
    finish();
    return std::move(seen_);
  }

 private:
  Block block() const { return open_.empty() ? Block::top : open_.back().block; }
  const std::string& vrf_name() const { return open_.back().name; }
  bool is_own(const std::string& vrf) const { return is_own_vrf(vrf, ownership_); }
  /// A line within an object of ours that says something we do not know.
  void unclear() { seen_.unclear.push_back("frr.conf: " + line_ + where()); }
  std::string where() const {
    if (open_.empty() || open_.back().name.empty()) return "";
    return " (in " + open_.back().name + ")";
  }

  void take(const Words& words, int indent) {
    switch (block()) {
      case Block::top: return take_top(words, indent);
      case Block::vrf: return take_vrf(words);
      case Block::interface: return take_interface(words);
      case Block::router: return take_router(words, indent);
      case Block::router_ipv4: return take_ipv4(words);
      case Block::router_evpn: return take_evpn(words, indent);
      case Block::router_evpn_vni: return take_vni(words);
      case Block::route_map: return take_route_map(words);
      case Block::other: return;
    }
  }

  void take_top(const Words& w, int indent) {
    if (w[0] == "vrf" && w.size() >= 2) {
      if (is_own(w[1])) {
        own(w[1]);
      } else if (w[1] != "default") {
        seen_.foreign.vrfs.push_back(w[1]);
      }
      open_.push_back({Block::vrf, w[1], indent});
    } else if (w[0] == "interface" && w.size() >= 2) {
      const bool ours = dialect_.texts == FrrTexts::in_frr && is_own(w[1]);
      if (ours && !interfaces_.insert(w[1]).second) unclear();
      open_.push_back({Block::interface, w[1], indent});
    } else if (w[0] == "router" && w.size() >= 3 && w[1] == "bgp") {
      take_router_bgp(w, indent);
    } else if (w[0] == "route-map" && w.size() >= 4) {
      const bool ours = is_own_map(w[1]) || w[1] == "T-CONNECTED";
      if (ours && w[2] != "permit") unclear();
      open_.push_back({Block::route_map, w[1], indent});
    } else if (w[0] == "ip" && w.size() >= 7 && w[1] == "prefix-list") {
      take_prefix_list(w);
    } else {
      open_.push_back({Block::other, "", indent});
    }
  }

  void take_router_bgp(const Words& w, int indent) {
    const std::string vrf = w.size() >= 5 && w[3] == "vrf" ? w[4] : "";
    if (vrf.empty()) {
      if (const auto asn = parse_integer(w[2])) seen_.asn = *asn;
    } else if (is_own(vrf)) {
      own(vrf).has_bgp = true;
      asn_of_[vrf] = w[2];
    } else {
      seen_.foreign.vrfs.push_back(vrf);
    }
    open_.push_back({Block::router, vrf, indent});
  }

  bool is_own_map(const std::string& name) const {
    return name.ends_with("-LEAK") && is_own(name.substr(0, name.size() - 5));
  }

  void take_prefix_list(const Words& w) {
    const std::size_t from = w[2].find("-FROM-");
    if (w[2] == "T-CONNECTED") {
      shared_.push_back(line_);
      return;
    }
    if (from == std::string::npos || !is_own(w[2].substr(0, from))) return;
    const bool exact = w.size() == 7 && w[6].ends_with("/32");
    const bool longer = w.size() == 9 && w[7] == "le" && w[8] == "32";
    if (w[3] != "seq" || !parse_integer(w[4]) || w[5] != "permit" || !(exact || longer) ||
        !parse_network4(w[6])) {
      return unclear();
    }
    lists_[w[2]].push_back(w[6]);
  }

  void take_vrf(const Words& w) {
    if (!is_own(vrf_name())) {
      const auto vni =
          w.size() >= 2 && w[0] == "vni" ? parse_number(w[1], 1, 16777215) : std::nullopt;
      if (vni) seen_.foreign.vnis.push_back(*vni);
      return;
    }
    auto& vrf = own(vrf_name()).vrf;
    if (w[0] == "vni" && w.size() == 2) {
      if (const auto vni = parse_number(w[1], 1, 16777215)) {
        vrf.l3vni = *vni;
        return;
      }
    }
    const bool to_host = w.size() == 4 && w[0] == "ip" && w[1] == "route" &&
                         w[2].ends_with("/32") && parse_network4(w[2]) && parse_ipv4(w[3]);
    if (to_host) {
      vrf.routes.push_back({w[2], w[3]});
      return;
    }
    const bool route = dialect_.leaks == FrrLeaks::link && w.size() == 6 && w[0] == "ip" &&
                       w[1] == "route" && w[5] == "onlink";
    if (!route) return unclear();
    // `ip route` prints before the VRFs of others are known; judged in finish().
    routes_[vrf.name].insert(w[2] + " " + w[3] + " " + w[4]);
  }

  void take_interface(const Words& w) {
    if (dialect_.texts != FrrTexts::in_frr || !is_own(vrf_name())) return;
    if (w[0] != "description" || line_.size() < 13) return unclear();
    own(vrf_name()).vrf.description = std::string(trim(line_.substr(12)));
  }

  void take_router(const Words& w, int indent) {
    const std::string vrf = vrf_name();
    if (w[0] == "address-family" && w.size() >= 3) {
      const Block family = w[1] == "ipv4" && w[2] == "unicast" ? Block::router_ipv4
                           : w[1] == "l2vpn" && w[2] == "evpn" ? Block::router_evpn
                                                               : Block::other;
      if (family == Block::other && is_own(vrf)) unclear();
      open_.push_back({family, vrf, indent});
      return;
    }
    if (w.size() == 3 && w[0] == "bgp" && w[1] == "router-id") {
      if (vrf.empty()) seen_.router_id = w[2];
      if (is_own(vrf)) router_ids_[vrf] = w[2];
      return;
    }
    if (is_own(vrf) && !(w[0] == "no" && w.size() >= 2 && w[1] == "bgp")) unclear();
  }

  void take_ipv4(const Words& w) {
    const std::string& vrf = vrf_name();
    if (!is_own(vrf)) return;
    Words& flags = flags_[vrf];
    if (line_ == connected() || line_ == "redistribute static route-map " + vrf + "-LEAK" ||
        line_ == "import vrf route-map " + vrf + "-LEAK") {
      flags.push_back(line_);
    } else if (w.size() == 3 && w[0] == "import" && w[1] == "vrf") {
      imports_[vrf].push_back(w[2]);
    } else if (w.size() == 2 && w[0] == "network") {
      networks_[vrf].push_back(w[1]);
    } else {
      unclear();
    }
  }

  std::string connected() const {
    return dialect_.leaks == FrrLeaks::link ? "redistribute connected route-map T-CONNECTED"
                                            : "redistribute connected";
  }

  void take_evpn(const Words& w, int indent) {
    const std::string vrf = vrf_name();
    if (vrf.empty()) {
      if (w[0] != "vni" || w.size() != 2) return;  // neighbours: the underlay is not ours
      const int vni = parse_number(w[1], 1, 16777215).value_or(0);
      if (vni == 0) return seen_.unclear.push_back("frr.conf: " + line_);
      seen_.vnis[vni].vni = vni;
      open_.push_back({Block::router_evpn_vni, "", indent, vni});
      return;
    }
    if (!is_own(vrf)) {
      if (w[0] == "route-target") note_targets(w);
      return;
    }
    VrfState& into = own(vrf).vrf;
    if (line_ == "advertise ipv4 unicast") {
      flags_[vrf].push_back(line_);
    } else if (!take_numbers(w, into.rd, into.import_targets, into.export_targets)) {
      unclear();
    }
  }

  void note_targets(const Words& w) {
    for (std::size_t at = 2; at < w.size(); ++at) seen_.foreign.route_targets.push_back(w[at]);
  }

  /// `rd X` and `route-target import|export|both X...`.
  static bool take_numbers(const Words& w, std::string& rd, Words& imports, Words& exports) {
    if (w.size() == 2 && w[0] == "rd") {
      rd = w[1];
      return true;
    }
    if (w.size() < 3 || w[0] != "route-target") return false;
    const bool both = w[1] == "both";
    if (!both && w[1] != "import" && w[1] != "export") return false;
    for (std::size_t at = 2; at < w.size(); ++at) {
      if (both || w[1] == "import") add_once(imports, w[at]);
      if (both || w[1] == "export") add_once(exports, w[at]);
    }
    return true;
  }

  void take_vni(const Words& w) {
    FrrVniSeen& vni = seen_.vnis[open_.back().vni];
    if (take_numbers(w, vni.rd, vni.import_targets, vni.export_targets)) return;
    if (is_own_vni(vni.vni, ownership_)) unclear();
  }

  void take_route_map(const Words& w) {
    const std::string& map = vrf_name();
    if (map == "T-CONNECTED") return shared_.push_back(line_);
    if (!is_own_map(map)) return;
    const std::string vrf = map.substr(0, map.size() - 5);
    if (w.size() == 5 && w[0] == "match" && w[1] == "ip" && w[3] == "prefix-list" &&
        w[4].starts_with(vrf + "-FROM-")) {
      matched_[vrf].push_back(w[4].substr(vrf.size() + 6));
    } else if (w.size() == 3 && w[1] == "source-vrf" && !matched_[vrf].empty() &&
               matched_[vrf].back() == w[2]) {
      sources_[vrf].push_back(w[2]);
    } else {
      unclear();
    }
  }

  FrrVrfSeen& own(const std::string& name) {
    FrrVrfSeen& seen = seen_.vrfs[name];
    if (seen.vrf.name.empty()) {
      seen.vrf.name = name;
      seen.vrf.vrf_id = vrf_id_of(name);
    }
    return seen;
  }

  void finish() {
    for (auto& [name, seen] : seen_.vrfs) finish_vrf(seen);
    std::sort(shared_.begin(), shared_.end());
    Words wanted;
    const std::string shared = frr_shared(dialect_);
    for (const auto line : lines_of(shared)) {
      if (!line.starts_with("route-map") && line != "exit") wanted.emplace_back(trim(line));
    }
    std::sort(wanted.begin(), wanted.end());
    const bool any_bgp = std::any_of(seen_.vrfs.begin(), seen_.vrfs.end(),
                                     [](const auto& one) { return one.second.has_bgp; });
    const bool all_lost = dialect_.lost == FrrLost::shown && !any_bgp && shared_.empty();
    if (!seen_.vrfs.empty() && shared_ != wanted && dialect_.leaks == FrrLeaks::link && !all_lost) {
      seen_.unclear.push_back("frr.conf: T-CONNECTED is not as it should be");
    }
    tidy_up(seen_.foreign);
  }

  void missing(const std::string& vrf, const std::string& what) {
    seen_.unclear.push_back("frr.conf: " + vrf + " lacks " + what);
  }

  bool has_flag(const std::string& vrf, const std::string& line) {
    const Words& flags = flags_[vrf];
    return std::find(flags.begin(), flags.end(), line) != flags.end();
  }

  void finish_vrf(FrrVrfSeen& seen) {
    VrfState& vrf = seen.vrf;
    if (!seen.has_bgp && dialect_.lost == FrrLost::shown) {
      vrf.leaks.clear();
      vrf.routes.clear();
      return;
    }
    if (!seen.has_bgp) return missing(vrf.name, "router bgp");
    if (!has_flag(vrf.name, connected())) missing(vrf.name, connected());
    if (!has_flag(vrf.name, "advertise ipv4 unicast")) missing(vrf.name, "advertise ipv4 unicast");
    if (asn_of_[vrf.name] != std::to_string(seen_.asn)) missing(vrf.name, "the switch's AS");
    if (router_ids_[vrf.name] != seen_.router_id) missing(vrf.name, "the switch's router-id");
    std::sort(vrf.import_targets.begin(), vrf.import_targets.end());
    std::sort(vrf.export_targets.begin(), vrf.export_targets.end());
    finish_leaks(vrf);
    finish_routes(vrf);
  }

  /// A host route that nobody is told of leads nobody to it; one that is told of must be there.
  void finish_routes(VrfState& vrf) {
    std::ranges::sort(vrf.routes, {}, &AddressRoute::prefix);
    Words prefixes;
    for (const auto& route : vrf.routes) prefixes.push_back(route.prefix);
    Words& networks = networks_[vrf.name];
    std::sort(networks.begin(), networks.end());
    if (networks == prefixes) return;
    seen_.unclear.push_back("frr.conf: the host routes of " + vrf.name +
                            " differ from the networks that it announces");
  }

  /// Prefix lists, route-map, routes and imports must all say the same.
  void finish_leaks(VrfState& vrf) {
    std::set<std::string> routes;
    Words from;
    const std::string head = vrf.name + "-FROM-";
    for (auto at = lists_.lower_bound(head); at != lists_.end() && at->first.starts_with(head);
         ++at) {
      const auto& [list, prefixes] = *at;
      LeakState leak{list.substr(vrf.name.size() + 6), prefixes};
      std::sort(leak.prefixes.begin(), leak.prefixes.end());
      const int other = vrf_id_of(leak.from_vrf);
      const auto far = vrf.vrf_id < other ? leak_address_b : leak_address_a;
      for (const auto& prefix : leak.prefixes) {
        routes.insert(prefix + " " + std::string(far) + " " + leak_end(vrf.vrf_id, other));
      }
      from.push_back(leak.from_vrf);
      vrf.leaks.push_back(std::move(leak));
    }
    const bool by_link = dialect_.leaks == FrrLeaks::link;
    const std::string flag = by_link ? "redistribute static route-map " + vrf.name + "-LEAK"
                                     : "import vrf route-map " + vrf.name + "-LEAK";
    const bool flagged = has_flag(vrf.name, flag);
    auto& imports = imports_[vrf.name];
    auto& matched = matched_[vrf.name];
    auto& sources = sources_[vrf.name];
    for (Words* list : {&imports, &matched, &sources}) std::sort(list->begin(), list->end());
    const bool paths = by_link ? routes_[vrf.name] == routes && imports.empty()
                               : imports == from && sources == from;
    if (matched == from && paths && flagged == !from.empty()) return;
    // The line itself says whose routes come in; the summary below does not.
    bool told = false;
    for (const auto& name : imports) {
      if (!by_link && std::ranges::count(from, name) != 0) continue;
      seen_.unclear.push_back("frr.conf: import vrf " + name + " (in " + vrf.name + ")");
      told = true;
    }
    if (by_link && told && matched == from && routes_[vrf.name] == routes &&
        flagged == !from.empty()) {
      return;
    }
    seen_.unclear.push_back("frr.conf: the leaks of " + vrf.name +
                            " differ between prefix lists, route-map and routes");
  }

  const SwitchOwnership& ownership_;
  const FrrDialect& dialect_;
  FrrSeen seen_;
  std::vector<Open> open_;
  std::string line_;
  Words shared_;
  std::map<std::string, Words> lists_, flags_, imports_, matched_, sources_, networks_;
  std::map<std::string, std::set<std::string>> routes_;
  std::set<std::string> interfaces_;
  std::map<std::string, std::string> asn_of_, router_ids_;
};

}  // namespace

FrrSeen parse_frr_conf(std::string_view text, const SwitchOwnership& ownership,
                       const FrrDialect& dialect) {
  return Reader(ownership, dialect).read(text);
}

}  // namespace tundish::switches
