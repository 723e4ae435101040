#include "families/switches/parts/line_dialect.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/changes.hpp"
#include "families/switches/parts/same_switch.hpp"

namespace tundish::switches {
namespace {

constexpr const char* file = "running-config";

void keep_only(std::vector<std::string>& list, const std::vector<std::string>& others) {
  std::erase_if(list, [&](const std::string& item) {
    return std::find(others.begin(), others.end(), item) == others.end();
  });
}

SegmentState narrowed(SegmentState segment, const SegmentState& to) {
  keep_only(segment.import_targets, to.import_targets);
  return segment;
}

/// `vrf` with what both it and `to` import: the part that may stay while others move.
VrfState narrowed(const VrfState& vrf, const VrfState& to) {
  VrfState out = vrf;
  keep_only(out.import_targets, to.import_targets);
  std::vector<LeakState> leaks;
  for (LeakState leak : vrf.leaks) {
    const auto same = std::ranges::find(to.leaks, leak.from_vrf, &LeakState::from_vrf);
    if (same == to.leaks.end()) continue;
    keep_only(leak.prefixes, same->prefixes);
    if (!leak.prefixes.empty()) leaks.push_back(std::move(leak));
  }
  out.leaks = std::move(leaks);
  return out;
}

/// Drops a header that only opens the mode again which is open, and a line said twice.
std::string join_modes(const std::string& text) {
  std::string out, open, last;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from) + 1;
    const std::string line = text.substr(from, end - from);
    from = end;
    if (line[0] != ' ') {
      if (line == open) continue;
      open = line;
    } else if (line == last) {
      continue;
    }
    out += last = line;
  }
  return out;
}

class Planner {
 public:
  Planner(const SwitchState& from, const SwitchState& to, const LineDialect& dialect)
      : from_(from), to_(to), dialect_(dialect), changes_(find_changes(from, to)) {}

  std::vector<SwitchStep> run() {
    for (const auto& port : changes_.ports) leave(port);
    middle_ = from_;
    for (const auto& vrf : changes_.vrfs) narrow(vrf);
    for (const auto& segment : changes_.segments) narrow(segment);
    make_room();
    push("fabric mac: gateways get " + to_.anycast_mac, dialect_.fabric(from_),
         dialect_.fabric(to_));
    for (const auto& acl : changes_.acls) {
      if (!acl.is_gone()) {
        push("acl " + acl.to->name + verb(acl), tree(acl.from), tree(acl.to));
      }
    }
    for (const auto& vrf : to_.vrfs) change_vrf(vrf);
    for (const auto& segment : changes_.segments) {
      if (segment.is_gone()) continue;
      const SegmentState* now = find_segment(middle_, segment.to->vlan);
      push("vlan " + std::to_string(segment.to->vlan) + verb(segment),
           now == nullptr ? LineTree{} : dialect_.segment(*now, from_),
           dialect_.segment(*segment.to, to_));
    }
    for (const auto& port : changes_.ports) enter(port);
    remove_unused();
    return std::move(steps_);
  }

 private:
  template <class T>
  static std::string verb(const Change<T>& change) {
    return change.is_new() ? ": is made" : ": changes";
  }

  LineTree tree(const AclState* acl) const {
    return acl == nullptr ? LineTree{} : dialect_.acl(*acl);
  }

  void push(std::string what, const LineTree& from, const LineTree& to) {
    std::string text =
        render_removals(from, to, dialect_.rules) + render_additions(from, to, dialect_.rules);
    if (!text.empty()) steps_.push_back({std::move(what), file, join_modes(text)});
  }

  static bool attached(const SwitchPortState* port) {
    return port != nullptr && port->mode != PortMode::quarantine;
  }

  SwitchPortState quarantined(const SwitchPortState& port) const {
    SwitchPortState out;
    out.name = port.name;
    out.description = port.description;
    return out;
  }

  std::string in_port(const std::string& name, const std::string& line) const {
    return "interface " + name + "\n" +
           std::string(static_cast<std::size_t>(dialect_.rules.indent), ' ') + line + "\n";
  }

  void leave(const Change<SwitchPortState>& port) {
    if (!attached(port.from) || !moves(port)) return;
    const LineTree before = dialect_.port(*port.from);
    const LineTree after = dialect_.port(quarantined(*port.from));
    steps_.push_back({"port " + port.from->name + ": leaves " + place_of(*port.from), file,
                      join_modes(in_port(port.from->name, "shutdown") +
                                 render_removals(before, after, dialect_.rules) +
                                 render_additions(before, after, dialect_.rules))});
  }

  void enter(const Change<SwitchPortState>& port) {
    if (port.is_gone()) return;
    const std::string& name = port.to->name;
    const LineTree after = dialect_.port(*port.to);
    std::string text;
    if (port.is_new()) {
      // Nothing is known of it: it is brought to a known state first, and shut.
      text = "default interface " + name + "\n" + in_port(name, "shutdown") +
             render_additions({}, after, dialect_.rules);
    } else {
      const LineTree before = dialect_.port(moves(port) ? quarantined(*port.from) : *port.from);
      text = render_removals(before, after, dialect_.rules) +
             render_additions(before, after, dialect_.rules);
    }
    if (attached(port.to) && moves(port)) text += in_port(name, "no shutdown");
    if (text.empty()) return;
    std::string what = "port " + name + ": is described";
    if (moves(port)) what = "port " + name + ": enters " + place_of(*port.to);
    steps_.push_back({std::move(what), file, join_modes(text)});
  }

  /// Who holds each number: "vni 10010", "vlan 110".
  static std::map<std::string, std::string> holders(const SwitchState& state) {
    std::map<std::string, std::string> out;
    for (const auto& vrf : state.vrfs) {
      out["vni " + std::to_string(vrf.l3vni)] = out["vlan " + std::to_string(vrf.l3vlan)] =
          "vrf " + vrf.name;
    }
    for (const auto& segment : state.segments) {
      out["vni " + std::to_string(segment.l2vni)] = out["vlan " + std::to_string(segment.vlan)] =
          "segment " + std::to_string(segment.vlan);
    }
    out.erase("vni 0");
    out.erase("vlan 0");
    return out;
  }

  /// An object whose number another one takes over goes before that one comes. Pools reissue a
  /// number late, so this is rare, but the order must hold.
  void make_room() {
    const auto wanted = holders(to_);
    const auto taken = [&](const std::string& number, const std::string& holder) {
      const auto found = wanted.find(number);
      return found != wanted.end() && found->second != holder;
    };
    const SwitchState now = middle_;
    for (const auto& segment : now.segments) {
      const std::string vlan = std::to_string(segment.vlan), holder = "segment " + vlan;
      if (!taken("vni " + std::to_string(segment.l2vni), holder) &&
          !taken("vlan " + vlan, holder)) {
        continue;
      }
      push("vlan " + vlan + ": makes room", dialect_.segment(segment, from_), {});
      std::erase(middle_.segments, segment);
    }
    for (const auto& vrf : now.vrfs) {
      const std::string holder = "vrf " + vrf.name;
      if (!taken("vni " + std::to_string(vrf.l3vni), holder) &&
          !taken("vlan " + std::to_string(vrf.l3vlan), holder)) {
        continue;
      }
      push(holder + ": makes room", dialect_.vrf(vrf, from_), {});
      std::erase(middle_.vrfs, vrf);
    }
  }

  void narrow(const Change<VrfState>& vrf) {
    if (vrf.is_new()) return;
    VrfState less = *vrf.from;
    // What goes must not see, until then, who gets a number or a target of its leaks' sources.
    if (vrf.is_gone())
      less.leaks.clear();
    else
      less = narrowed(*vrf.from, *vrf.to);
    if (less == *vrf.from) return;
    push("vrf " + vrf.from->name + ": imports less", dialect_.vrf(*vrf.from, from_),
         dialect_.vrf(less, from_));
    *std::ranges::find(middle_.vrfs, less.name, &VrfState::name) = less;
  }

  void narrow(const Change<SegmentState>& segment) {
    if (segment.is_new() || segment.is_gone()) return;
    const SegmentState less = narrowed(*segment.from, *segment.to);
    if (less == *segment.from) return;
    push("vlan " + std::to_string(less.vlan) + ": imports less",
         dialect_.segment(*segment.from, from_), dialect_.segment(less, from_));
    *std::ranges::find(middle_.segments, less.vlan, &SegmentState::vlan) = less;
  }

  /// A VRF's lines may follow another VRF (targets of a leak's source), so all are compared.
  void change_vrf(const VrfState& vrf) {
    const VrfState* old = find_vrf(from_, vrf.name);
    const VrfState* now = find_vrf(middle_, vrf.name);
    std::string what = "vrf " + vrf.name;
    what += old == nullptr ? ": is made" : *old == vrf ? ": follows another VRF" : ": changes";
    push(std::move(what), now == nullptr ? LineTree{} : dialect_.vrf(*now, from_),
         dialect_.vrf(vrf, to_));
  }

  void remove_unused() {
    for (const auto& segment : middle_.segments) {
      if (find_segment(to_, segment.vlan) != nullptr) continue;
      push("vlan " + std::to_string(segment.vlan) + ": goes", dialect_.segment(segment, from_), {});
    }
    for (const auto& vrf : middle_.vrfs) {
      if (find_vrf(to_, vrf.name) != nullptr) continue;
      push("vrf " + vrf.name + ": goes", dialect_.vrf(vrf, from_), {});
    }
    for (const auto& acl : changes_.acls) {
      if (acl.is_gone()) push("acl " + acl.from->name + ": goes", tree(acl.from), {});
    }
  }

  const SwitchState& from_;
  const SwitchState& to_;
  const LineDialect& dialect_;
  StateChanges changes_;
  SwitchState middle_;
  std::vector<SwitchStep> steps_;
};

}  // namespace

std::string render_lines(const SwitchState& state, const LineDialect& dialect) {
  LineTree whole;
  const auto add = [&](LineTree lines) {
    for (auto& line : lines.children) whole.children.push_back(std::move(line));
  };
  add(dialect.declared(state));
  add(dialect.fabric(state));
  for (const auto& acl : state.acls) add(dialect.acl(acl));
  for (const auto& vrf : state.vrfs) add(dialect.vrf(vrf, state));
  for (const auto& segment : state.segments) add(dialect.segment(segment, state));
  for (const auto& port : state.ports) {
    add(dialect.port(port));
    if (port.mode == PortMode::quarantine) {
      add({"", {{"interface " + port.name, {{"shutdown", {}}}}}});
    }
  }
  collapse_lines(whole);
  std::ranges::stable_sort(whole.children, {},
                           [&](const LineTree& node) { return dialect.rank(node.line); });
  return render_line_tree(whole, dialect.rules.indent);
}

Result<std::vector<SwitchStep>> plan_lines(const SwitchState& from, const SwitchState& to,
                                           const LineDialect& dialect) {
  if (from == to) return std::vector<SwitchStep>{};
  TRY_VOID(same_switch(from, to));
  return Planner(from, to, dialect).run();
}

std::vector<std::pair<int, std::string>> number_prefixes(const std::vector<std::string>& prefixes) {
  std::vector<std::pair<int, std::string>> out;
  std::set<int> taken;
  for (const auto& text : prefixes) {
    const Prefix4 prefix = parse_prefix4(text).value_or(Prefix4{});
    const std::uint32_t bits = prefix.length == 0 ? 0 : prefix.network() >> (32 - prefix.length);
    int number = 1 + static_cast<int>(bits % (last_prefix_number - 1));
    while (!taken.insert(number).second) number = number % (last_prefix_number - 1) + 1;
    out.emplace_back(number, text);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace tundish::switches
