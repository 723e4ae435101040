// One commit takes all steps or none; their order still isolates first, for who reads along.
#include <algorithm>
#include <set>

#include "families/switches/junos_parts/parts.hpp"
#include "families/switches/parts/changes.hpp"

namespace tundish::switches::juniper {
namespace {

constexpr const char* file = "configuration";

bool is_below(const Statement& line, const Statement& root) {
  return line.size() >= root.size() && std::equal(root.begin(), root.end(), line.begin());
}

bool any_below(const std::vector<Statement>& lines, const Statement& root) {
  return std::ranges::any_of(lines, [&](const Statement& line) { return is_below(line, root); });
}

bool has(const std::vector<Statement>& list, const Statement& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// A new value of these takes the place of the old one.
bool is_single(const std::string& key) {
  static const std::set<std::string> keys = {
      "description",         "mtu",    "vni",         "mac", "input", "vlan-id",
      "route-distinguisher", "import", "l3-interface"};
  return keys.contains(key);
}

/// The shortest beginning of `line` that `to` has not: what a `delete` must name.
Statement to_delete(const Statement& line, std::size_t least, const JunosObject& to) {
  for (std::size_t size = least; size < line.size(); ++size) {
    const Statement head(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(size));
    if (!any_below(to.lines, head)) return head;
  }
  return line;
}

std::vector<Statement> deletions(const JunosObject& from, const JunosObject& to) {
  std::vector<Statement> out;
  const auto put = [&](const Statement& line) {
    const bool covered =
        std::ranges::any_of(out, [&](const Statement& root) { return is_below(line, root); });
    if (!covered) out.push_back(line);
  };
  for (const auto& root : from.roots) {
    if (!has(to.roots, root) && any_below(from.lines, root)) put(root);
  }
  for (const auto& line : from.lines) {
    if (has(to.lines, line)) continue;
    std::size_t least = line.size();
    for (const auto& root : from.roots) {
      if (is_below(line, root)) least = std::min(least, root.size() + 1);
    }
    const Statement gone = to_delete(line, std::min(least, line.size()), to);
    const bool replaced =
        gone.size() == line.size() && line.size() > 1 && is_single(line[line.size() - 2]);
    const Statement key(line.begin(), line.end() - 1);
    if (replaced && any_below(to.lines, key)) continue;
    put(gone);
  }
  return out;
}

std::string render_deletions(const JunosObject& from, const JunosObject& to) {
  std::string out;
  for (const auto& line : deletions(from, to)) out += "delete " + render_statement(line) + "\n";
  return out;
}

std::string render_sets(const JunosObject& from, const JunosObject& to) {
  std::string out;
  for (const auto& line : to.lines) {
    if (!has(from.lines, line)) out += "set " + render_statement(line) + "\n";
  }
  return out;
}

class Planner {
 public:
  Planner(const SwitchState& from, const SwitchState& to)
      : from_(from), to_(to), changes_(find_changes(from, to)) {
    const auto note = [&](const JunosObject& object) {
      wanted_.insert(object.roots.begin(), object.roots.end());
    };
    for (const auto& vrf : to.vrfs) note(vrf_object(vrf, to));
    for (const auto& segment : to.segments) note(segment_object(segment, to));
  }

  std::vector<SwitchStep> run() {
    for (const auto& port : changes_.ports) leave(port);
    for (const auto& port : to_.ports) follow(port, Part::old_lines);
    for (const auto& segment : from_.segments) give_up(segment);
    for (const auto& vrf : from_.vrfs) give_up(vrf);
    push("fabric mac: gateways get " + to_.anycast_mac,
         render_change(fabric_object(from_), fabric_object(to_)));
    for (const auto& acl : changes_.acls) {
      if (acl.is_gone()) continue;
      // Anew, because terms are kept in the order they were set.
      const std::string old =
          acl.is_new() ? "" : render_change(acl_object(*acl.from), JunosObject{});
      push("acl " + acl.to->name + verb(acl), old + render_change({}, acl_object(*acl.to)));
    }
    for (const auto& vrf : to_.vrfs) come(vrf);
    for (const auto& segment : to_.segments) come(segment);
    for (const auto& port : to_.ports) follow(port, Part::new_lines);
    for (const auto& port : changes_.ports) enter(port);
    go();
    return std::move(steps_);
  }

 private:
  enum class Part { old_lines, new_lines };

  template <class T>
  static std::string verb(const Change<T>& change) {
    return change.is_new() ? ": is made" : ": changes";
  }

  void push(std::string what, std::string text) {
    if (!text.empty()) steps_.push_back({std::move(what), file, std::move(text)});
  }

  static SwitchPortState quarantined(const SwitchPortState& port) {
    SwitchPortState out;
    out.name = port.name;
    out.description = port.description;
    return out;
  }

  void leave(const Change<SwitchPortState>& port) {
    if (port.is_new() || port.from->mode == PortMode::quarantine || !moves(port)) return;
    push(
        "port " + port.from->name + ": leaves " + place_of(*port.from),
        render_change(port_object(*port.from, from_), port_object(quarantined(*port.from), from_)));
  }

  void enter(const Change<SwitchPortState>& port) {
    if (port.is_gone()) return;
    const std::string& name = port.to->name;
    const JunosObject now = port_object(*port.to, to_);
    std::string text;
    if (port.is_new()) {
      // Nothing is known of it, so nothing of it stays.
      text = "delete " + render_statement({"interfaces", name}) + "\n" + render_change({}, now);
    } else {
      const SwitchPortState before = moves(port) ? quarantined(*port.from) : *port.from;
      // A port that stays was taken along by its segment already.
      text = render_change(port_object(before, moves(port) ? from_ : to_), now);
    }
    push("port " + name + (moves(port) ? ": enters " + place_of(*port.to) : ": is described"),
         std::move(text));
  }

  /// A port that stays in its VLAN while the VLAN's instance gets another name.
  void follow(const SwitchPortState& port, Part part) {
    const SwitchPortState* old = find_port(from_, port.name);
    if (old == nullptr || moves({old, &port})) return;
    const JunosObject before = port_object(*old, from_), after = port_object(*old, to_);
    if (part == Part::old_lines) {
      push("port " + port.name + ": makes room", render_deletions(before, after));
    } else {
      push("port " + port.name + ": follows " + place_of(port), render_sets(before, after));
    }
  }

  bool is_taken(const JunosObject& object) const {
    return std::ranges::any_of(object.roots,
                               [&](const Statement& root) { return wanted_.contains(root); });
  }

  void give_up(const SegmentState& segment) {
    const SegmentState* now = find_segment(to_, segment.vlan);
    const JunosObject before = segment_object(segment, from_);
    const std::string name = "vlan " + std::to_string(segment.vlan);
    if (now != nullptr) {
      push(name + ": makes room", render_deletions(before, segment_object(*now, to_)));
    } else if (is_taken(before)) {
      push(name + ": makes room", render_deletions(before, {}));
      early_.insert(name);
    }
  }

  void give_up(const VrfState& vrf) {
    const VrfState* now = find_vrf(to_, vrf.name);
    VrfState less = vrf;
    less.leaks.clear();
    const JunosObject after = now != nullptr ? vrf_object(*now, to_) : vrf_object(less, from_);
    push("vrf " + vrf.name + ": imports less", render_deletions(vrf_object(vrf, from_), after));
  }

  void come(const VrfState& vrf) {
    const VrfState* old = find_vrf(from_, vrf.name);
    const JunosObject before = old == nullptr ? JunosObject{} : vrf_object(*old, from_);
    std::string what = "vrf " + vrf.name;
    what += old == nullptr ? ": is made" : *old == vrf ? ": follows another VRF" : ": changes";
    push(std::move(what), render_sets(before, vrf_object(vrf, to_)));
  }

  void come(const SegmentState& segment) {
    const SegmentState* old = find_segment(from_, segment.vlan);
    const JunosObject before = old == nullptr ? JunosObject{} : segment_object(*old, from_);
    push("vlan " + std::to_string(segment.vlan) + (old == nullptr ? ": is made" : ": changes"),
         render_sets(before, segment_object(segment, to_)));
  }

  void go() {
    for (const auto& segment : from_.segments) {
      const std::string name = "vlan " + std::to_string(segment.vlan);
      if (find_segment(to_, segment.vlan) != nullptr || early_.contains(name)) continue;
      push(name + ": goes", render_deletions(segment_object(segment, from_), {}));
    }
    for (VrfState vrf : from_.vrfs) {
      if (find_vrf(to_, vrf.name) != nullptr) continue;
      vrf.leaks.clear();
      push("vrf " + vrf.name + ": goes", render_deletions(vrf_object(vrf, from_), {}));
    }
    for (const auto& acl : changes_.acls) {
      if (!acl.is_gone()) continue;
      push("acl " + acl.from->name + ": goes", render_deletions(acl_object(*acl.from), {}));
    }
  }

  const SwitchState& from_;
  const SwitchState& to_;
  StateChanges changes_;
  std::set<Statement> wanted_;
  std::set<std::string> early_;
  std::vector<SwitchStep> steps_;
};

}  // namespace

std::string render_change(const JunosObject& from, const JunosObject& to) {
  return render_deletions(from, to) + render_sets(from, to);
}

std::vector<SwitchStep> plan_steps(const SwitchState& from, const SwitchState& to) {
  return Planner(from, to).run();
}

}  // namespace tundish::switches::juniper
