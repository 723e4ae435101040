#include "runtime/agent/access_gateway.hpp"

#include "runtime/agent/cluster_network.hpp"
#include "runtime/agent/stages.hpp"
#include "runtime/agent/teardown.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

const std::string table = "table ip tundish_gateway";
const std::string name(gateway_interface);

Result<> run_inside(const std::string& cluster, std::vector<std::string> argv,
                    const std::string& input, Duration limit) {
  process::Command command;
  command.argv = {"nsenter", "--net=" + cluster_network_file(cluster), "--"};
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  command.input = input;
  command.limit = limit;
  const auto output = TRY(process::run(command));
  if (output.ok()) return {};
  return make_error(Code::unavailable, argv.front() + ": " + output.summary());
}

std::string ports_of(const GatewayRule& rule) {
  const int last = rule.port_to == 0 ? rule.port_from : rule.port_to;
  const std::string from = std::to_string(rule.port_from);
  return last == rule.port_from ? from : from + "-" + std::to_string(last);
}

bool has_interface(const std::string& network, Duration limit) {
  return run_ip({"-n", network, "link", "show", "dev", name}, limit).has_value();
}

}  // namespace

std::string render_gateway(const AccessGateway& gateway, const std::string& segment) {
  // "add" and "delete" first: the whole text is one transaction, so there is no moment without it.
  std::string out = "add " + table + "\ndelete " + table + "\n" + table + " {\n chain come {\n" +
                    "  type nat hook prerouting priority -100; policy accept;\n";
  for (const auto& rule : gateway.rules) {
    const std::string source = rule.source.empty() ? "" : " ip saddr " + rule.source;
    out += "  iifname \"" + name + "\" ip daddr " + gateway.address + source + " " + rule.protocol +
           " dport " + ports_of(rule) + " dnat to " + gateway.target + "\n";
  }
  // The login node has no route to callers: to it they come from its own network.
  out +=
      " }\n chain leave {\n  type nat hook postrouting priority 100; policy accept;\n"
      "  ct status dnat oifname \"" +
      segment + "\" masquerade\n }\n";
  out +=
      " chain forward {\n  type filter hook forward priority 0; policy drop;\n"
      "  ct state established,related accept\n"
      "  iifname \"" +
      name + "\" oifname \"" + segment + "\" ct status dnat accept\n }\n";
  return out +
         " chain input {\n  type filter hook input priority 0; policy accept;\n"
         "  iifname \"" +
         name +
         "\" ct state established,related accept\n"
         "  iifname \"" +
         name + "\" drop\n }\n}\n";
}

Result<> open_gateway(const GatewayPlace& place, const AccessGateway& gateway, Duration limit) {
  const std::string network = cluster_network(place.cluster);
  TRY_VOID(
      run_inside(place.cluster, {"nft", "-f", "-"}, render_gateway(gateway, place.segment), limit));
  TRY_VOID(
      run_inside(place.cluster,
                 {"sysctl", "-q", "-w", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.arp_ignore=1"},
                 "", limit));
  if (!has_interface(network, limit)) {
    // private: gateways of two clusters never speak with each other on the node.
    TRY(run_ip({"link", "add", "link", place.uplink, "name", name, "netns", network, "type",
                "macvlan", "mode", "private"},
               limit));
  }
  TRY_VOID(
      apply_address({name, gateway.address, gateway.prefix_length, Others::flush, network}, limit));
  if (gateway.router.empty()) return {};
  TRY(run_ip({"-n", network, "route", "replace", "default", "via", gateway.router, "dev", name},
             limit));
  return {};
}

Result<> close_gateway(const std::string& cluster, Duration limit) {
  const std::string network = cluster_network(cluster);
  if (!has_cluster_network(cluster)) return {};
  if (has_interface(network, limit)) TRY(run_ip({"-n", network, "link", "del", name}, limit));
  TRY_VOID(run_inside(cluster, {"sysctl", "-q", "-w", "net.ipv4.ip_forward=0"}, "", limit));
  return run_inside(cluster, {"nft", "-f", "-"}, "add " + table + "\ndelete " + table + "\n",
                    limit);
}

}  // namespace tundish::agent
