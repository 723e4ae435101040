#include "lab/leaf_sim.hpp"

#include "base/log.hpp"
#include "codec/json.hpp"
#include "lab/links.hpp"
#include "lab/reply.hpp"

namespace tundish::lab {
namespace {

constexpr std::size_t segment_limit = 64;
const std::string prefix = "/ports/";

/// The name travels through a command line of `ip`; and no switch takes more.
bool is_segment_name(const std::string& text) {
  if (text.size() > segment_limit) return false;
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             "._-:/") == std::string::npos;
}

}  // namespace

void LeafPortView::fields(Fields& f) {
  f(1, "port", port, "Port of the switch.");
  f(2, "node", node, "Node at the other end of the cable.");
  f(3, "interface", interface, "Interface of that node.");
  f(4, "link", link, "up or down, as seen.");
  f(5, "segment", segment, "Configured segment; empty in quarantine.");
  f(6, "observed_segment", observed_segment, "Segment the port was seen in.");
}

void LeafPortConfig::fields(Fields& f) {
  f(1, "segment", segment, "Segment; empty for quarantine.");
}

LeafSwitches::LeafSwitches(net::Loop& loop, const LabSpec& spec)
    : loop_(loop), paths_(paths_of(spec)), leaves_(leaves_of(spec)) {
  for (const auto& node : hardware_of(spec)) {
    for (const auto& port : node.ports) {
      ports_.push_back({port.leaf, port.port, node.name, port.interface, ""});
    }
  }
}

Result<> LeafSwitches::start() {
  for (const auto& leaf : leaves_) {
    net::ListenOptions options;
    options.url = "http://" + leaf.address + ":8080";
    const std::string name = leaf.name;
    servers_.push_back(TRY(net::HttpServer::listen(
        loop_, options, [this, name](const net::ServerRequest& request, const net::Reply& reply) {
          answer(name, request, reply);
        })));
  }
  return {};
}

Result<> LeafSwitches::plug(const LabNode& node, int pid) {
  TRY_VOID(plug_ports(node, pid));
  for (const auto& port : ports_) {
    if (port.node != node.name) continue;
    const auto set = set_segment(paths_, port_peer(port.node, port.interface), port.segment);
    if (set) continue;
    log(LogLevel::error, "lab_leaf_apply", {{"port", port.name}, {"error", set.error().message()}});
  }
  return {};
}

void LeafSwitches::unplug(const LabNode& node) { unplug_ports(paths_, node); }

LeafPortView LeafSwitches::view(const Port& port) const {
  const auto seen = observe_port(paths_, port_peer(port.node, port.interface));
  return {port.name,    port.node,   port.interface, seen.link == LinkState::up ? "up" : "down",
          port.segment, seen.segment};
}

std::vector<LeafPortView> LeafSwitches::ports(const std::string& leaf) const {
  std::vector<LeafPortView> all;
  for (const auto& port : ports_) {
    if (port.leaf == leaf) all.push_back(view(port));
  }
  return all;
}

Result<> LeafSwitches::configure(const std::string& leaf, const std::string& name,
                                 const std::string& segment) {
  if (!is_segment_name(segment)) {
    return make_error(Code::invalid,
                      "segment name has more than 64 characters or one beside "
                      "letters, digits and ._-:/");
  }
  for (auto& port : ports_) {
    if (port.leaf != leaf || port.name != name) continue;
    const std::string peer = port_peer(port.node, port.interface);
    if (observe_port(paths_, peer).present) TRY_VOID(set_segment(paths_, peer, segment));
    port.segment = segment;
    return {};
  }
  return make_error(Code::not_found, leaf + " has no port " + name);
}

void LeafSwitches::answer(const std::string& leaf, const net::ServerRequest& request,
                          const net::Reply& reply) {
  if (request.method == "GET" && request.path == "/ports") {
    auto all = ports(leaf);
    std::vector<AnyDescribed> items(all.begin(), all.end());
    return reply.send(200, render_json_list(items));
  }
  if (request.path.rfind(prefix, 0) != 0) return send_not_found(reply, request);
  const std::string name = request.path.substr(prefix.size());
  if (request.method == "PUT") {
    LeafPortConfig config;
    Result<> done = parse_json(request.body, config);
    if (done) done = configure(leaf, name, config.segment);
    if (!done) return send_error(reply, done.error());
  } else if (request.method != "GET") {
    return send_not_found(reply, request);
  }
  for (const auto& port : ports_) {
    if (port.leaf == leaf && port.name == name) return reply.send(200, render_json(view(port)));
  }
  send_not_found(reply, request);
}

}  // namespace tundish::lab
