#include "lab/links.hpp"

#include <filesystem>

#include "base/text.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

const std::string access_bridge = "access";

std::string access_peer(const std::string& node) { return "p-" + node + "-acc"; }

std::string net_file(const LabPaths& paths, const std::string& interface) {
  return paths.sysfs() + "/class/net/" + interface;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string first_line(const std::string& path) {
  const auto text = process::read_file(path);
  return text ? std::string(trim(*text)) : "";
}

Result<> run_tool(const std::vector<std::string>& argv, const std::string& input) {
  process::Command command;
  command.argv = argv;
  command.input = input;
  const auto output = TRY(process::run(command));
  if (output.ok()) return {};
  return make_error(Code::unavailable, join(argv, " ") + " failed: " + output.err);
}

std::string inside(int pid) { return " netns " + std::to_string(pid) + "\n"; }

void remove_links(const LabPaths& paths, const std::vector<std::string>& names) {
  std::string lines;
  for (const auto& name : names) {
    if (exists(net_file(paths, name))) lines += "link del " + name + "\n";
  }
  // The kernel removes them by itself too, so one may be gone already.
  if (!lines.empty()) (void)run_tool({"ip", "-force", "-batch", "-"}, lines);
}

/// A node reaches the port for agents and nothing else; plug_oob() keeps it from other nodes.
std::string oob_filter() {
  return "table inet lab {\n chain input {\n"
         "  type filter hook input priority 0; policy accept;\n"
         "  iifname \"oob\" ip daddr 10.88.0.1 tcp dport " +
         std::to_string(agent_port) +
         " accept\n"
         "  iifname \"oob\" ct state established,related accept\n"
         "  iifname \"oob\" drop\n"
         "  iifname \"m-*\" tcp sport 22 accept\n"
         "  iifname \"m-*\" icmp type { echo-request, echo-reply } accept\n"
         "  iifname \"access\" ct state established,related accept\n"
         "  iifname { \"seg-*\", \"p-*\", \"m-*\", \"access\" } drop\n }\n"
         " chain forward {\n  type filter hook forward priority 0; policy accept;\n"
         "  iifname { \"m-*\", \"oob\", \"access\" } drop\n"
         "  oifname { \"m-*\", \"oob\", \"access\" } drop\n }\n}\n";
}

}  // namespace

Result<> run_ip_batch(const std::string& lines) { return run_tool({"ip", "-batch", "-"}, lines); }

Result<> run_ip_batch_in(const std::string& network, const std::string& lines) {
  return run_tool({"nsenter", "--net=" + network, "ip", "-batch", "-"}, lines);
}

Result<> make_oob_network(const LabSpec& spec) {
  // With an address of its own: a bridge takes the lowest of its ports' else, and when a port with
  // a lower one comes, those who know the old one are not heard for a minute.
  std::string lines =
      "link set lo up\nlink add oob address 02:4c:0b:01:00:01 type bridge\n"
      "addr add 10.88.0.1/16 dev oob\n";
  for (const auto& node : hardware_of(spec)) {
    lines += "addr add " + node.bmc_address + "/32 dev oob\n";
  }
  if (spec.fabric == FabricKind::flat) {
    for (const auto& leaf : leaves_of(spec)) lines += "addr add " + leaf.address + "/32 dev oob\n";
  }
  lines += "link set oob up\n";
  // Where people are: gateways of clusters have addresses in it.
  lines += "link add " + access_bridge +
           " address 02:4c:ac:01:00:01 type bridge\naddr add 10.89.0.1/16 dev " + access_bridge +
           "\nlink set " + access_bridge + " up\n";
  TRY_VOID(run_ip_batch(lines));
  // Bridges of segments must not give this namespace an address in a tenant's network.
  TRY_VOID(run_tool({"sh", "-c",
                     "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; "
                     "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6"},
                    ""));
  return run_tool({"nft", "-f", "-"}, oob_filter());
}

Result<> plug_oob(const LabNode& node, int pid) {
  const std::string peer = oob_peer(node.name);
  const std::string access = access_peer(node.name);
  if (node.role == "service") {
    TRY_VOID(run_ip_batch("link add " + access + " type veth peer name acc0" + inside(pid) +
                          "link set " + access + " master " + access_bridge + "\nlink set " +
                          access + " up\n"));
  }
  return run_ip_batch("link add " + peer + " type veth peer name oob0 address " + node.oob_mac +
                      inside(pid) + "link set " + peer + " master oob\nlink set dev " + peer +
                      " type bridge_slave isolated on\nlink set " + peer + " up\n");
}

Result<> plug_ports(const LabNode& node, int pid) {
  std::string lines;
  for (const auto& port : node.ports) {
    lines += "link add " + port_peer(node.name, port.interface) + " type veth peer name " +
             port.interface + " address " + port.mac + inside(pid);
  }
  return run_ip_batch(lines);
}

void unplug_oob(const LabPaths& paths, const LabNode& node) {
  remove_links(paths, {oob_peer(node.name), access_peer(node.name)});
}

void unplug_ports(const LabPaths& paths, const LabNode& node) {
  std::vector<std::string> peers;
  for (const auto& port : node.ports) peers.push_back(port_peer(node.name, port.interface));
  remove_links(paths, peers);
  remove_empty_bridges(paths);
}

Result<> set_link(const std::string& interface, LinkState state) {
  return run_ip_batch("link set " + interface + (state == LinkState::up ? " up\n" : " down\n"));
}

PortView observe_port(const LabPaths& paths, const std::string& peer) {
  PortView view;
  const std::string folder = net_file(paths, peer);
  view.present = exists(folder);
  if (!view.present) return view;
  if (first_line(folder + "/operstate") == "up") view.link = LinkState::up;
  std::error_code none;
  const auto master = fs::read_symlink(folder + "/master", none);
  if (!none) view.segment = first_line(net_file(paths, master.filename().string()) + "/ifalias");
  return view;
}

Result<> set_segment(const LabPaths& paths, const std::string& peer, const std::string& segment) {
  if (segment.empty()) {
    TRY_VOID(run_ip_batch("link set " + peer + " nomaster down\n"));
    remove_empty_bridges(paths);
    return {};
  }
  const std::string bridge = segment_bridge(segment);
  const std::string folder = net_file(paths, bridge);
  if (!exists(folder)) {
    TRY_VOID(run_ip_batch("link add " + bridge + " type bridge\nlink set dev " + bridge +
                          " alias " + segment + "\nlink set " + bridge + " up\n"));
  } else if (first_line(folder + "/ifalias") != segment) {
    return make_error(Code::conflict, "segments " + segment + " and " +
                                          first_line(folder + "/ifalias") +
                                          " share the bridge name " + bridge);
  }
  TRY_VOID(run_ip_batch("link set " + peer + " master " + bridge + " up\n"));
  remove_empty_bridges(paths);
  return {};
}

void remove_empty_bridges(const LabPaths& paths) {
  std::error_code ignored;
  std::string lines;
  const fs::path all = paths.sysfs() + "/class/net";
  for (fs::directory_iterator it(all, ignored), end; it != end; it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    if (name.rfind("seg-", 0) != 0) continue;
    if (fs::is_empty(it->path() / "brif", ignored) && !ignored) lines += "link del " + name + "\n";
  }
  if (!lines.empty()) (void)run_tool({"ip", "-force", "-batch", "-"}, lines);
}

}  // namespace tundish::lab
