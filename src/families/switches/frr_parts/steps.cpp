#include <algorithm>
#include <iterator>
#include <set>

#include "base/text.hpp"
#include "families/switches/frr_parts/frr_parts.hpp"
#include "families/switches/parts/declared.hpp"
#include "families/switches/parts/words.hpp"

namespace tundish::switches::frr_parts {
namespace {

bool is_replaced(const Change<SegmentState>& change) {
  return !change.is_new() && !change.is_gone() &&
         (change.from->vrf != change.to->vrf || change.from->l2vni != change.to->l2vni);
}

bool l3_replaced(const Change<VrfState>& change) {
  return !change.is_new() && !change.is_gone() &&
         (change.from->l3vni != change.to->l3vni || change.from->l3vlan != change.to->l3vlan);
}

/// What FRR forgot is told to it whole: in the kernel it is there. What is to be as FRR forgot it,
/// as when a restore is undone, stays as it is.
template <class T>
bool comes_back(const Change<T>& change) {
  return !change.is_new() && !change.is_gone() && is_lost(*change.from) && !is_lost(*change.to);
}
template <class T>
bool stays_told(const Change<T>& change) {
  return !change.is_new() && !change.is_gone() && is_lost(*change.to);
}

/// FRR refuses a VNI that it has a second time, and to take away one that it has not.
/// Source: seen with FRR 8.4.4; checked 2026-11.
std::string if_frr_has_vni(const VrfState& vrf, const char* then, const char* word) {
  const std::string vni = std::to_string(vrf.l3vni);
  return "vtysh -c 'show vrf vni' | grep -Eq '^" + vrf.name + " +" + vni + " ' " + then +
         " vtysh -c 'configure terminal' -c 'vrf " + vrf.name + "' -c '" + word + vni + "'";
}

/// "chain: rule" of each rule of a ruleset.
std::multiset<std::string> rules_in(std::string_view text) {
  std::multiset<std::string> out;
  std::string chain;
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.size() == 3 && words[0] == "chain") {
      chain = words[1];
    } else if (!words.empty() && words[0] != "}" && words.back() != "{") {
      out.insert(chain + ": " + std::string(trim(line)));
    }
  }
  return out;
}

/// A table is replaced as a whole: for who reads the step, comments say which rules come and go.
std::string what_differs(std::string_view old, std::string_view now) {
  if (old.empty() || now.empty()) return "";
  const auto before = rules_in(old), after = rules_in(now);
  std::vector<std::string> gone, come;
  std::ranges::set_difference(before, after, std::back_inserter(gone));
  std::ranges::set_difference(after, before, std::back_inserter(come));
  std::string out;
  for (const auto& rule : gone) out += "# - " + rule + "\n";
  for (const auto& rule : come) out += "# + " + rule + "\n";
  return out;
}

/// Order: what isolates, then what makes room for a number that is taken again, what is new, the
/// ports that join, and last what is gone. VNI to VLAN before VNI to VRF, deletions the other way.
class Planner {
 public:
  Planner(Kernel kernel, const SwitchState& from, const SwitchState& to)
      : kernel_(kernel),
        dialect_(dialect_of(kernel)),
        from_(from),
        to_(to),
        changes_(find_changes(from, to)) {
    with_ports_of_replaced();
  }

  std::vector<SwitchStep> plan() {
    if (changes_.empty()) return {};
    revoke();
    ports_leave();
    drop(Early::yes);
    foundation();
    for (const auto& change : changes_.vrfs) make(change);
    make_leaks();
    lists();
    for (const auto& change : changes_.segments) make(change);
    ports_join();
    drop(Early::no);
    return std::move(steps_);
  }

 private:
  enum class Early { yes, no };

  void step(const std::string& what, const char* file, std::string text) {
    if (!text.empty()) steps_.push_back({what, file, std::move(text)});
  }
  static std::string named(const VrfState& vrf) { return "vrf " + vrf.name; }
  static std::string named(const SegmentState& segment) {
    return "vlan " + std::to_string(segment.vlan);
  }

  /// A segment that is made anew loses its ports on the way.
  void with_ports_of_replaced() {
    for (const auto& change : changes_.segments) {
      if (!is_replaced(change)) continue;
      for (const auto& port : to_.ports) {
        const SwitchPortState* old = find_port(from_, port.name);
        const bool stays = port.mode == PortMode::access && port.vlan == change.to->vlan &&
                           old != nullptr && *old == port;
        if (!stays) continue;
        changes_.ports.push_back({old, &port});
        forced_.insert(port.name);
      }
    }
  }

  bool moving(const Change<SwitchPortState>& port) const {
    return moves(port) || (port.to != nullptr && forced_.contains(port.to->name));
  }

  void revoke() {
    for (const auto& change : changes_.vrfs) {
      if (change.is_new() || is_lost(*change.from) || stays_told(change)) continue;
      const std::string name = named(*change.from);
      if (change.is_gone()) {
        step(name + " imports from nobody", "vtysh", frr_vrf_revoke(to_, *change.from));
      } else {
        step(name + " has other route targets", "vtysh",
             frr_vrf_targets(to_, *change.from, *change.to));
      }
      step(name + " leaks less", "vtysh", frr_old_leaks(to_, *change.from, change.to, dialect_));
      step(name + " forgets addresses of nodes", "vtysh",
           frr_old_routes(to_, *change.from, change.to));
    }
    for (const auto& change : changes_.segments) {
      if (change.is_gone() || is_replaced(change)) {
        step(named(*change.from) + " imports from nobody", "vtysh",
             frr_vni_revoke(to_, *change.from));
      }
    }
  }

  void ports_leave() {
    for (const auto& change : changes_.ports) {
      if (change.is_new() || !moving(change)) continue;
      if (change.from->mode == PortMode::quarantine) continue;
      step("port " + change.from->name + " leaves " + place_of(*change.from), "kernel",
           port_leaves(kernel_, from_, *change.from));
    }
  }

  /// Whether a new or changed object takes a number of this one.
  bool is_reused(int vni, int vlan) const {
    for (const auto& change : changes_.segments) {
      if (change.to != nullptr && (change.to->l2vni == vni || change.to->vlan == vlan)) return true;
    }
    for (const auto& change : changes_.vrfs) {
      if (change.to == nullptr) continue;
      if (change.to->l3vni == vni || (vlan != 0 && change.to->l3vlan == vlan)) return true;
    }
    return false;
  }

  void drop(Early early) {
    for (const auto& change : changes_.segments) {
      if (!change.is_gone() && !is_replaced(change)) continue;
      const bool first = is_replaced(change) || is_reused(change.from->l2vni, change.from->vlan);
      if (first == (early == Early::yes)) drop_one(*change.from);
    }
    if (early == Early::yes) drop_leak_links();
    for (const auto& change : changes_.vrfs) {
      if (l3_replaced(change) && early == Early::yes) drop_l3_of(*change.from);
      if (!change.is_gone()) continue;
      const bool first = is_reused(change.from->l3vni, change.from->l3vlan);
      if (first == (early == Early::yes)) drop_one(*change.from);
    }
    if (early == Early::no && to_.vrfs.empty() && !from_.vrfs.empty()) {
      step(named(from_.vrfs.front()) + " was the last: its common filter goes", "vtysh",
           frr_no_shared(dialect_));
    }
  }

  void drop_one(const SegmentState& segment) {
    step(named(segment) + " goes", "kernel", drop_segment(kernel_, segment));
    step(named(segment) + " goes from BGP", "vtysh", frr_no_vni(to_, segment));
  }

  void drop_l3_of(const VrfState& vrf) {
    if (vrf.l3vni == 0) return;  // made by hand, in BGP alone
    step(named(vrf) + " loses its VNI", "vtysh", frr_no_vrf_vni(vrf));
    step(named(vrf) + " loses its VNI in the kernel", "kernel", drop_l3(kernel_, vrf));
  }

  void drop_lost(const VrfState& vrf) {
    if (vrf.l3vni != 0) {
      step(named(vrf) + " loses what FRR may have of its VNI", "kernel",
           if_frr_has_vni(vrf, "&&", "no vni ") + " || true\n");
      step(named(vrf) + " loses its VNI in the kernel", "kernel", drop_l3(kernel_, vrf));
    }
    step(named(vrf) + lists_of(vrf) + " goes", "kernel", drop_vrf(kernel_, vrf));
    step(named(vrf) + " goes from FRR", "vtysh", "no vrf " + vrf.name + "\n");
  }

  void drop_one(const VrfState& vrf) {
    if (is_lost(vrf)) return drop_lost(vrf);
    drop_l3_of(vrf);
    step(named(vrf) + lists_of(vrf) + " goes", "kernel", drop_vrf(kernel_, vrf));
    step(named(vrf) + " goes from BGP", "vtysh", frr_no_vrf(to_, vrf));
  }

  /// Lists that vanish with the network namespace.
  std::string lists_of(const VrfState& vrf) const {
    std::string out;
    if (kernel_ != Kernel::netns_per_vni) return out;
    for (const auto& change : changes_.acls) {
      const bool here =
          change.is_gone() && std::any_of(from_.segments.begin(), from_.segments.end(),
                                          [&](const SegmentState& segment) {
                                            return segment.vrf == vrf.name &&
                                                   segment.acl_in == change.from->name;
                                          });
      if (here) out += ", acl " + change.from->name;
    }
    return out;
  }

  void foundation() {
    const bool was = !from_.vrfs.empty() || !from_.segments.empty();
    const bool told = std::any_of(from_.vrfs.begin(), from_.vrfs.end(),
                                  [](const VrfState& vrf) { return !is_lost(vrf); });
    if (told || (to_.vrfs.empty() && to_.segments.empty())) return;
    if (was && std::all_of(to_.vrfs.begin(), to_.vrfs.end(),
                           [](const VrfState& vrf) { return is_lost(vrf); })) {
      return;
    }
    const std::string name = named(to_.vrfs.front());
    step(name + " is the first: a common filter comes", "vtysh", frr_shared(dialect_));
    if (was || kernel_ == Kernel::netns_per_vni) return;
    step(name + " is the first: bridge and tunnel come", "kernel",
         "ip link show dev br_default >/dev/null 2>&1 || ip link add name br_default type bridge "
         "vlan_filtering 1 vlan_default_pvid 0 stp_state 0\nip link set dev br_default "
         "addrgenmode none up\nip link show dev vxlan48 >/dev/null 2>&1 || ip link add name "
         "vxlan48 type vxlan external vnifilter local " +
             to_.vtep_address +
             " dstport 4789 nolearning\nip link set dev vxlan48 addrgenmode none master "
             "br_default\nbridge link set dev vxlan48 vlan_tunnel on neigh_suppress on learning "
             "off\nip link set dev vxlan48 up\n");
  }

  void make(const Change<VrfState>& change) {
    if (change.is_gone() || stays_told(change)) return;
    const VrfState& vrf = *change.to;
    const std::string name = named(vrf);
    if (comes_back(change)) {
      step(name + " comes back in BGP", "vtysh", frr_vrf_bgp(to_, vrf, dialect_));
      if (change.from->description != vrf.description) {
        step(name + " has another description", "kernel", set_vrf_text(kernel_, vrf));
      }
      step(name + " gets its VNI again", "kernel", if_frr_has_vni(vrf, "||", "vni ") + "\n");
      return show_tunnel(vrf);
    }
    if (change.is_new()) {
      step(name + " comes in BGP", "vtysh", frr_vrf_bgp(to_, vrf, dialect_));
      step(name + " comes", "kernel", make_vrf(kernel_, to_, vrf) + make_l3(kernel_, to_, vrf));
    } else if (l3_replaced(change)) {
      step(name + " gets its VNI in the kernel", "kernel", make_l3(kernel_, to_, vrf));
    } else {
      if (change.from->description != vrf.description) {
        step(name + " has another description", "kernel", set_vrf_text(kernel_, vrf));
      }
      return;
    }
    step(name + " gets its VNI", "vtysh", frr_vrf_vni(vrf, dialect_));
    show_tunnel(vrf);
  }

  void show_tunnel(const VrfState& vrf) {
    // FRR 8.4 keeps "VxLAN IF: None" for a VNI that a VRF gets at run time. Source: facts/lab.md,
    // section 2; checked 2026-11.
    if (kernel_ != Kernel::netns_per_vni) return;
    const std::string set = "ip -n " + vrf.name + " link set dev " + l3_vxlan(vrf);
    step(named(vrf) + " shows its tunnel again", "kernel", set + " down\n" + set + " up\n");
  }

  using Pair = std::pair<std::string, std::string>;
  static std::set<Pair> pairs_of(const SwitchState& state) {
    std::set<Pair> out;
    for (const auto& [a, b] : leak_pairs(state)) out.emplace(a->name, b->name);
    return out;
  }

  void make_leaks() {
    if (kernel_ == Kernel::netns_per_vni) {
      const auto before = pairs_of(from_);
      for (const auto& [a, b] : leak_pairs(to_)) {
        const VrfState *old_a = find_vrf(from_, a->name), *old_b = find_vrf(from_, b->name);
        const bool anew = old_a == nullptr || old_b == nullptr;
        if (!anew && before.contains({a->name, b->name})) continue;
        // Of a leak that FRR forgot the link may be there still.
        const bool kept = !anew && (is_lost(*old_a) || is_lost(*old_b));
        std::string text = make_leak_link(*a, *b);
        if (kept) {
          text = "ip -n " + a->name + " link del dev " + leak_end(a->vrf_id, b->vrf_id) +
                 " 2>/dev/null || true\n" + text;
        }
        step(named(*a) + " gets a link to " + b->name, "kernel", std::move(text));
      }
    }
    for (const auto& change : changes_.vrfs) {
      if (change.is_gone() || stays_told(change)) continue;
      step(named(*change.to) + " leaks", "vtysh",
           frr_new_leaks(to_, change.from, *change.to, dialect_));
      step(named(*change.to) + " routes to addresses of nodes", "vtysh",
           frr_new_routes(to_, change.from, *change.to));
    }
  }

  void drop_leak_links() {
    if (kernel_ != Kernel::netns_per_vni) return;
    const auto after = pairs_of(to_);
    for (const auto& [a, b] : leak_pairs(from_)) {
      if (after.contains({a->name, b->name})) continue;
      const bool subject = find_vrf(to_, a->name) == nullptr || changed(a->name);
      step(named(subject ? *a : *b) + " loses the link " + leak_link(a->vrf_id, b->vrf_id),
           "kernel", drop_leak_link(*a, *b));
    }
  }

  bool changed(const std::string& vrf) const {
    return std::any_of(changes_.vrfs.begin(), changes_.vrfs.end(), [&](const auto& change) {
      return (change.from != nullptr ? change.from : change.to)->name == vrf;
    });
  }

  /// One table for each namespace, replaced as a whole in one transaction of nft.
  void lists() {
    const auto before = tables(from_), after = tables(to_);
    std::set<std::string> places;
    for (const auto& [place, text] : before) places.insert(place);
    for (const auto& [place, text] : after) places.insert(place);
    for (const auto& place : places) {
      const bool lives = place.empty() || find_vrf(to_, place) != nullptr;
      const std::string old = before.contains(place) ? before.at(place) : "";
      const std::string now = after.contains(place) ? after.at(place) : "";
      if (old == now || !lives) continue;
      const std::string where = place.empty() ? "" : "# netns " + place + "\n";
      step(list_subjects(place) + " filter anew", "nft",
           where + what_differs(old, now) + "table ip tundish\ndelete table ip tundish\n" +
               "table ip6 tundish\ndelete table ip6 tundish\n" + now);
    }
  }

  std::map<std::string, std::string> tables(const SwitchState& state) const {
    std::map<std::string, std::string> out;
    std::string place;
    const std::string text = render_nft(kernel_, state);
    for (const std::string_view line : lines_of(text)) {
      if (line.starts_with("# netns ")) {
        place = std::string(line.substr(8));
      } else {
        out[place] += std::string(line) + "\n";
      }
    }
    return out;
  }

  bool in_place(const SwitchState& state, const std::string& acl, const std::string& place) const {
    bool applied = false, here = false;
    for (const auto& segment : state.segments) {
      if (segment.acl_in != acl) continue;
      applied = true;
      here = here || kernel_ != Kernel::netns_per_vni || segment.vrf == place;
    }
    return here || (!applied && place.empty() && find_acl(state, acl) != nullptr);
  }

  std::string list_subjects(const std::string& place) const {
    std::vector<std::string> out;
    for (const auto& change : changes_.acls) {
      const auto& name = (change.from != nullptr ? change.from : change.to)->name;
      if (in_place(from_, name, place) || in_place(to_, name, place)) out.push_back("acl " + name);
    }
    for (const auto& change : changes_.segments) {
      const std::string old = change.from == nullptr ? "" : change.from->acl_in;
      const std::string now = change.to == nullptr ? "" : change.to->acl_in;
      const auto& segment = *(change.from != nullptr ? change.from : change.to);
      const bool here = kernel_ != Kernel::netns_per_vni || segment.vrf == place ||
                        (change.to != nullptr && change.to->vrf == place);
      if (here && (old != now || is_replaced(change))) out.push_back(named(segment));
    }
    std::string text;
    for (const auto& item : out) text += (text.empty() ? "" : ", ") + item;
    return text;
  }

  void make(const Change<SegmentState>& change) {
    if (change.is_gone()) return;
    const SegmentState& segment = *change.to;
    const std::string name = named(segment);
    if (change.is_new() || is_replaced(change)) {
      // Targets first: without them FRR would derive some the moment the tunnel is up.
      step(name + " comes in BGP", "vtysh", frr_vni(to_, segment));
      step(name + " comes", "kernel", make_segment(kernel_, to_, segment));
      return;
    }
    if (comes_back(change)) {
      step(name + " comes back in BGP", "vtysh", frr_vni(to_, segment));
    } else if (!stays_told(change)) {
      step(name + " has other route targets", "vtysh", frr_vni_targets(to_, *change.from, segment));
    }
    step(name + " changes", "kernel", change_segment(kernel_, to_, *change.from, segment));
  }

  void ports_join() {
    for (const auto& change : changes_.ports) {
      if (change.is_gone()) continue;
      const std::string name = "port " + change.to->name;
      if (moving(change)) {
        step(name + (change.to->mode == PortMode::quarantine ? " is in " : " joins ") +
                 place_of(*change.to),
             "kernel", port_joins(kernel_, to_, *change.to));
      } else {
        step(name + " has another description", "kernel", set_port_text(kernel_, to_, *change.to));
      }
    }
  }

  Kernel kernel_;
  FrrDialect dialect_;
  const SwitchState& from_;
  const SwitchState& to_;
  StateChanges changes_;
  std::set<std::string> forced_;
  std::vector<SwitchStep> steps_;
};

}  // namespace

bool is_lost(const VrfState& vrf) {
  return vrf.rd.empty() && vrf.import_targets.empty() && vrf.export_targets.empty();
}

bool is_lost(const SegmentState& segment) {
  return segment.rd.empty() && segment.import_targets.empty() && segment.export_targets.empty();
}

Result<std::vector<SwitchStep>> steps_for(Kernel kernel, const SwitchState& from,
                                          const SwitchState& to) {
  TRY_VOID(same_declared(from, to));
  return Planner(kernel, from, to).plan();
}

}  // namespace tundish::switches::frr_parts
