#include "control/network/cabling.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "model/ops/node_ops.hpp"

namespace tundish::control::network {
namespace {

struct End {
  std::string device, port;
  bool operator==(const End&) const = default;
  std::string text() const { return port.empty() ? device : device + ":" + port; }
};

/// What is declared, from the nodes' ports and from the cables.
class Declared {
 public:
  Declared(const View& view, const std::string& name) : view_(view) {
    for (const auto& [id, cable] : view.reg.all<Cable>()) {
      const auto& spec = cable.spec;
      if (spec.side_a_device == name)
        far_[spec.side_a_port] = {spec.side_b_device, spec.side_b_port};
      if (spec.side_b_device == name)
        far_[spec.side_b_port] = {spec.side_a_device, spec.side_a_port};
    }
    for (const auto& [id, node] : view.reg.all<Node>()) {
      for (const auto& port : node.spec.ports) {
        if (!port.mac.empty()) by_mac_[port.mac] = {node.meta.name, port.name};
        if (port.switch_name == name) far_[port.switch_port] = {node.meta.name, port.name};
      }
    }
  }

  /// nullptr: nothing is declared there.
  const End* far_end(const std::string& port) const {
    const auto found = far_.find(port);
    return found == far_.end() ? nullptr : &found->second;
  }
  const End* by_mac(const std::string& mac) const {
    const auto found = by_mac_.find(mac);
    return found == by_mac_.end() ? nullptr : &found->second;
  }
  /// "n01.rack7.example" as n01, when that is what we call it; empty: no device of ours.
  std::string device(const std::string& told) const {
    for (const std::string& name : {told, told.substr(0, told.find('.'))}) {
      if (view_.reg.find_named<Node>(name) || view_.reg.find_named<Switch>(name)) return name;
    }
    return "";
  }
  std::string mac_of(const End& end) const {
    const Node* node = view_.reg.find_named<Node>(end.device);
    if (!node) return "";
    for (const auto& port : node->spec.ports) {
      if (port.name == end.port) return port.mac;
    }
    return "";
  }

 private:
  const View& view_;
  std::map<std::string, End> far_, by_mac_;
};

/// "" where the cable ends as declared, or where it cannot be told.
std::string judge(const Declared& declared, const PortNeighbour& seen, const std::string& here) {
  const End* want = declared.far_end(seen.port);
  if (const End* is = declared.by_mac(seen.device_mac)) {
    if (want && *want == *is) return "";
    return here + " is cabled to " + is->text() + ", declared " + (want ? want->text() : "nothing");
  }
  const std::string name = declared.device(seen.device);
  if (!want) {
    if (name.empty()) return "";  // somebody else's device on a port that nobody declared
    return here + " is cabled to " + End{name, seen.device_port}.text() + ", declared nothing";
  }
  if (name.empty()) {
    const std::string told = seen.device.empty() ? seen.device_mac : seen.device;
    return here + " is cabled to " + told + ", which is not in the inventory, declared " +
           want->text();
  }
  const bool says_port = !seen.device_port.empty() && seen.device_mac.empty();
  if (name != want->device || (says_port && seen.device_port != want->port)) {
    return here + " is cabled to " + End{name, seen.device_port}.text() + ", declared " +
           want->text();
  }
  // The right device by its name, with a MAC that the inventory does not know: another card.
  const std::string mac = declared.mac_of(*want);
  if (mac.empty() || seen.device_mac.empty()) return "";
  return here + ": " + want->text() + " has MAC " + seen.device_mac + ", declared " + mac;
}

}  // namespace

namespace {

const Port* port_named(const Node& node, const std::string& name) {
  for (const auto& port : node.spec.ports) {
    if (port.name == name) return &port;
  }
  return nullptr;
}

std::string declared_text(const Port& port) {
  return ", declared " + port.switch_name + ":" + port.switch_port;
}

/// Seen elsewhere says more than not seen in its place.
constexpr std::string_view elsewhere_words = " is cabled to ";

/// What one neighbour says of nodes: the one that is there, and the one that should be.
class CableLook {
 public:
  CableLook(const View& view, const Switch& device)
      : view_(view), here_(device.meta.name), declared_(view, here_) {}

  void take(const PortNeighbour& seen) {
    const std::string place = here_ + ":" + seen.port;
    const End* want = declared_.far_end(seen.port);
    const End* is = declared_.by_mac(seen.device_mac);
    if (is && want && *is == *want) return note(*is, "");
    if (is) note(*is, std::string(elsewhere_words) + place);
    // By its name alone it is told only that another node is there.
    const std::string name = is ? is->device : declared_.device(seen.device);
    if (!want || (!is && (name.empty() || name == want->device))) return;
    note(*want, " is not on " + place + ", where " + name + " is");
  }
  std::map<NodeId, std::string> found;  ///< "" where a port is in its place

 private:
  void note(const End& end, const std::string& what) {
    const Node* node = view_.reg.find_named<Node>(end.device);
    const Port* port = node ? port_named(*node, end.port) : nullptr;
    if (!port || port->role != PortRole::access || port->switch_name.empty()) return;
    std::string text = what.empty() ? "" : end.port + what + declared_text(*port);
    const auto [at, fresh] = found.emplace(node->id, text);
    if (fresh || text.find(elsewhere_words) == std::string::npos) return;
    at->second = std::move(text);
  }

  const View& view_;
  std::string here_;
  Declared declared_;
};

/// What was told of a port is moot when it is declared elsewhere by now.
bool is_moot(const Node& node, const std::string& reason) {
  const Port* port = port_named(node, reason.substr(0, reason.find(' ')));
  return !port || !reason.ends_with(declared_text(*port));
}

}  // namespace

std::vector<CableChange> cable_changes(const View& view, const Switch& device) {
  std::vector<CableChange> out;
  const auto observed = view.seen.switches.find(device.meta.name);
  if (observed == view.seen.switches.end()) return out;
  CableLook look(view, device);
  for (const auto& seen : observed->second.reading.neighbours) look.take(seen);
  for (const auto& [id, reason] : look.found) {
    const Node* node = view.reg.find(id);
    const Condition* known = node ? find_condition(*node, miswired_condition) : nullptr;
    const bool same_kind = known && reason.find(elsewhere_words) == std::string::npos;
    if (reason.empty() ? !known : known && (same_kind || known->reason == reason)) continue;
    out.push_back({id, reason});
  }
  for (const auto& [id, node] : view.reg.all<Node>()) {
    const Condition* known = find_condition(node, miswired_condition);
    if (known && !look.found.contains(id) && is_moot(node, known->reason)) out.push_back({id, ""});
  }
  return out;
}

namespace {

/// Where `reason` says that the port is or should be: "leaf1:swp2" of a switch by its name.
std::set<std::string> places_in(const std::string& reason, const std::string& switch_name) {
  std::set<std::string> out;
  const std::string begin = " " + switch_name + ":";
  for (auto at = reason.find(begin); at != std::string::npos; at = reason.find(begin, at + 1)) {
    const auto from = at + begin.size();
    out.insert(reason.substr(from, reason.find_first_of(" ,", from) - from));
  }
  return out;
}

/// A port that is shut for its wrong cable tells nothing: what was last seen there stands as long
/// as the node's condition does.
void add_remembered(const View& view, const std::string& name,
                    const std::vector<PortNeighbour>& neighbours, std::vector<std::string>& out) {
  for (const auto& [id, node] : view.reg.all<Node>()) {
    const Condition* known = find_condition(node, miswired_condition);
    if (!known || known->state != Truth::yes) continue;
    const auto places = places_in(known->reason, name);
    const bool shows = std::any_of(neighbours.begin(), neighbours.end(), [&](const auto& seen) {
      return places.contains(seen.port);
    });
    if (places.empty() || shows) continue;
    out.push_back(node.meta.name + ": " + known->reason + " (as last seen)");
  }
}

}  // namespace

std::string miswired_port(const Node& node, const std::string& port) {
  const Condition* known = find_condition(node, miswired_condition);
  if (!known || !known->reason.starts_with(port + " ")) return "";
  return "node " + node.meta.name + ": " + known->reason +
         "; put the cable or the inventory right, then: tundish node confirm " + node.meta.name;
}

std::vector<std::string> miswired_cables(const View& view, const Switch& device) {
  const std::string& name = device.meta.name;
  std::vector<std::string> out;
  const auto observed = view.seen.switches.find(name);
  if (observed == view.seen.switches.end()) return out;
  const Declared declared(view, name);
  for (const auto& seen : observed->second.reading.neighbours) {
    std::string line = judge(declared, seen, name + ":" + seen.port);
    if (!line.empty()) out.push_back(std::move(line));
  }
  add_remembered(view, name, observed->second.reading.neighbours, out);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace tundish::control::network
