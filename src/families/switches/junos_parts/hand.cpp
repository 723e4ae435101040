#include <algorithm>
#include <map>
#include <set>

#include "families/switches/junos_parts/collect.hpp"

namespace tundish::switches::juniper {
namespace {

class Hand {
 public:
  Hand(const Statements& config, SwitchSeen& seen) : seen_(seen) {
    for (const auto& line : config.lines) ++lines_[line];
  }

  void compare() {
    for (const auto& vrf : seen_.own.vrfs) {
      if (!is_in_our_hand(vrf.name)) continue;
      compare(vrf_object(vrf, seen_.own), "routing-instances " + vrf.name);
      policies_of(vrf.name, vrf_object(vrf, seen_.own));
    }
    for (const auto& segment : seen_.own.segments) {
      const std::string name = instance_name(segment);
      if (!has_below({"routing-instances", name})) continue;
      const auto object = segment_object(segment, seen_.own);
      compare(object, "routing-instances " + name);
      extra_below({"routing-instances", name}, object, {"interface"});
      policies_of(name, object);
    }
    for (const auto& acl : seen_.own.acls) terms_of(acl);
    for (const auto& port : seen_.own.ports) compare_port(port);
    for (const auto& [line, count] : lines_) {
      if (count > 1 && known_.contains(line)) tell("said twice", line);
    }
  }

 private:
  bool has(const Statement& line) const { return lines_.contains(line); }
  bool has_below(const Statement& head) const {
    const auto at = lines_.lower_bound(head);
    return at != lines_.end() && starts(at->first, head);
  }
  void tell(const std::string& place, const Statement& line) {
    seen_.unclear.push_back(place + ": " + render_statement(line));
  }

  /// An instance whose policies have names of their own was written by somebody else.
  bool is_in_our_hand(const std::string& name) const {
    return has({"routing-instances", name, "vrf-import", name + "-IMPORT"}) ||
           has({"routing-instances", name, "vrf-export", name + "-EXPORT"});
  }

  void compare(const JunosObject& object, const std::string& place) {
    for (const auto& line : object.lines) {
      known_.insert(line);
      if (!has(line)) tell(place + " lacks", line);
    }
  }

  void extra_below(const Statement& head, const JunosObject& object, const Names& besides) {
    for (auto at = lines_.lower_bound(head); at != lines_.end() && starts(at->first, head); ++at) {
      const Statement& line = at->first;
      if (line.size() > head.size() && besides.contains(line[head.size()])) continue;
      const bool known =
          std::find(object.lines.begin(), object.lines.end(), line) != object.lines.end();
      if (!known) tell("not as we write it", line);
    }
  }

  /// Policies and communities that carry the instance's name, also those that nothing uses.
  void policies_of(const std::string& name, const JunosObject& object) {
    for (const auto* end : {"-IMPORT", "-EXPORT"}) {
      extra_below({"policy-options", "policy-statement", name + end}, object, {});
    }
    const Statement head = {"policy-options", "community"};
    for (auto at = lines_.lower_bound(head); at != lines_.end() && starts(at->first, head); ++at) {
      if (at->first.size() < 3 || !at->first[2].starts_with(name + "-")) continue;
      const bool known =
          std::find(object.lines.begin(), object.lines.end(), at->first) != object.lines.end();
      if (!known) tell("not as we write it", at->first);
    }
  }

  /// A term without `then` accepts, and one with two of them is nobody's plain rule.
  void terms_of(const AclState& acl) {
    const Statement head = {"firewall", "family", "inet", "filter", acl.name, "term"};
    std::map<std::string, int> ends;
    for (auto at = lines_.lower_bound(head); at != lines_.end() && starts(at->first, head); ++at) {
      const Statement& line = at->first;
      if (line.size() < 8) continue;
      ends[line[6]] += line[7] == "then" ? at->second : 0;
    }
    for (const auto& [term, count] : ends) {
      if (count != 1) tell("has not one `then`", {"filter", acl.name, "term", term});
    }
  }

  void compare_port(const SwitchPortState& port) {
    const JunosObject object = port_object(port, seen_.own);
    for (const auto& line : object.lines) known_.insert(line);
    const std::string members = "v" + std::to_string(port.vlan);
    const bool ours =
        port.mode != PortMode::access || has({"interfaces", port.name, "unit", "0", "family",
                                              "ethernet-switching", "vlan", "members", members});
    if (ours) compare(object, "interfaces " + port.name);
    int mtus = 0, texts = 0;
    const Statement head = {"interfaces", port.name};
    for (auto at = lines_.lower_bound(head); at != lines_.end() && starts(at->first, head); ++at) {
      const Statement& line = at->first;
      if (line.size() != 4) continue;
      mtus += line[2] == "mtu" ? 1 : 0;
      texts += line[2] == "description" ? 1 : 0;
      // What is shut may have the frames that its owner gave it.
      const bool counts = ours && line[2] == "mtu" && port.mode != PortMode::quarantine;
      if (counts && !known_.contains(line)) tell("not as we write it", line);
    }
    if (mtus > 1) tell("said twice", {"interfaces", port.name, "mtu"});
    if (texts > 1) tell("said twice", {"interfaces", port.name, "description"});
  }

  SwitchSeen& seen_;
  std::map<Statement, int> lines_;
  std::set<Statement> known_;
};

}  // namespace

void compare_hand(const Statements& config, SwitchSeen& seen) { Hand(config, seen).compare(); }

}  // namespace tundish::switches::juniper
