#include "control/network/probe_out_of_band.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "model/prefix.hpp"

namespace tundish::control::network {
namespace {

/// Of BMCs and switches without a limit a probe would grow with the site.
constexpr std::size_t most_targets = 512;

struct Place {
  std::string address;
  int port = 0;
};

/// The address and port in "10.88.1.7:8000", "https://10.88.2.1" or "ssh://root@10.88.2.1".
/// nullopt: it is named, not numbered.
std::optional<Place> place_in(std::string text, int usual_port) {
  if (const auto scheme = text.find("://"); scheme != std::string::npos) {
    const std::string name = text.substr(0, scheme);
    usual_port = name == "ssh" ? 22 : name == "http" ? 80 : 443;
    text.erase(0, scheme + 3);
  }
  text = text.substr(0, text.find('/'));
  if (const auto user = text.find('@'); user != std::string::npos) text.erase(0, user + 1);
  Place place{text.substr(0, text.find(':')), usual_port};
  if (const auto colon = text.find(':'); colon != std::string::npos) {
    const auto port = parse_integer(text.substr(colon + 1));
    if (!port || *port < 1 || *port > 65535) return std::nullopt;
    place.port = static_cast<int>(*port);
  }
  if (!parse_ipv4(place.address)) return std::nullopt;
  return place;
}

class Targets {
 public:
  void add(const std::string& name, const std::string& where, int usual_port) {
    const auto place = place_in(where, usual_port);
    if (!place || all.size() >= most_targets || !known_.insert(name).second) return;
    all.push_back({name, place->address, place->port});
  }
  std::vector<ProbeService> all;

 private:
  std::set<std::string> known_;
};

const std::string node_label = "node ";

}  // namespace

void plan_out_of_band(const View& view, ProbePlan& plan) {
  Targets targets;
  for (const auto& one : plan.participants) {
    const Node* node = view.reg.find(one.node);
    if (!node || one.cluster.empty()) continue;
    // Any port will do: a node that gets the packet answers, if only to refuse.
    targets.add(node_label + node->meta.name, node->spec.oob_address, 22);
    targets.add("BMC of " + node->meta.name, node->spec.bmc_address, 443);
  }
  for (const auto& [id, device] : view.reg.all<Switch>()) {
    targets.add("switch " + device.meta.name, device.spec.management_url, 443);
  }
  for (const auto& [id, fabric] : view.reg.all<Fabric>()) {
    targets.add("manager of " + fabric.meta.name, fabric.spec.management_url, 443);
    targets.add("storage of " + fabric.meta.name, fabric.spec.storage_url, 443);
  }
  std::set<NodeId> done;
  for (auto& one : plan.participants) {
    if (one.cluster.empty() || !done.insert(one.node).second) continue;
    for (const auto& target : targets.all) {
      if (target.name != node_label + one.name) one.probe.out_of_band.push_back(target);
    }
  }
}

std::vector<ProbeOutOfBand> judge_out_of_band(const ProbePlan& plan,
                                              const std::map<std::string, ProbeAnswer>& answers) {
  std::vector<ProbeOutOfBand> out;
  for (const auto& one : plan.participants) {
    if (one.probe.out_of_band.empty()) continue;
    ProbeOutOfBand row;
    row.node = one.name;
    row.tried = static_cast<int>(one.probe.out_of_band.size());
    const auto answer = answers.find(one.id);
    bool controller = false, whole = answer != answers.end() && answer->second.answered;
    std::set<std::string> heard;
    if (whole) {
      for (const auto& seen : answer->second.seen.out_of_band) {
        const bool answered =
            seen.reach == ProbeReach::reached || seen.reach == ProbeReach::refused;
        heard.insert(seen.name);
        if (seen.name == probe_controller) {
          controller = seen.reach == ProbeReach::reached;
        } else if (answered) {
          row.open.push_back(seen.name);
        } else if (seen.reach == ProbeReach::failed) {
          whole = false;
        }
      }
    }
    for (const auto& target : one.probe.out_of_band) whole = whole && heard.contains(target.name);
    if (!row.open.empty()) {
      row.cell = ProbeCell::open;
    } else if (controller && whole) {
      row.cell = ProbeCell::closed;
    } else {
      row.detail = !whole ? "not everything was tried" : "it did not reach tundishd either";
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string closed_to_all(const Registry& reg, const std::string& address) {
  const auto asked = parse_ipv4(address);
  if (!asked) return "";
  const auto is_at = [&](const std::string& where) {
    const auto place = place_in(where, 443);
    return place && place->address == address;
  };
  for (const auto& [id, fabric] : reg.all<Fabric>()) {
    for (const auto& text : fabric.spec.underlay) {
      const auto prefix = parse_prefix(text);
      if (prefix && prefix->contains({*asked, 32})) return "underlay " + text;
    }
    if (is_at(fabric.spec.management_url)) return "manager of " + fabric.meta.name;
  }
  for (const auto& [id, node] : reg.all<Node>()) {
    if (is_at(node.spec.bmc_address)) return "BMC of " + node.meta.name;
  }
  for (const auto& [id, device] : reg.all<Switch>()) {
    if (is_at(device.spec.management_url)) return "switch " + device.meta.name;
  }
  return "";
}

}  // namespace tundish::control::network
