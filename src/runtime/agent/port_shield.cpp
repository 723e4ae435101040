#include "runtime/agent/port_shield.hpp"

#include "runtime/process/process.hpp"

namespace tundish::agent {

std::string render_shield(const std::string& interface, const std::string& address) {
  const std::string table = "table ip tundish_" + interface;
  // "add" and "delete" first: the whole text is one transaction, so there is no moment without it.
  return "add " + table + "\ndelete " + table + "\n" + table + " {\n chain input {\n" +
         "  type filter hook input priority -10; policy accept;\n  iifname \"" + interface +
         "\" ip daddr != " + address + " fib daddr type { local, unicast } drop\n }\n" +
         " chain forward {\n  type filter hook forward priority -10; policy accept;\n" +
         "  iifname \"" + interface + "\" drop\n }\n}\n";
}

Result<> shield_port(const std::string& interface, const std::string& address, Duration limit) {
  process::Command command;
  command.argv = {"nft", "-f", "-"};
  command.input = render_shield(interface, address);
  command.limit = limit;
  const auto done = process::run(command);
  if (!done) return Error(done.error());
  if (!done->ok()) return make_error(Code::unavailable, "nft: " + done->summary());
  // 1: answer only for addresses of the port that was asked on.
  // Source: Linux, Documentation/networking/ip-sysctl.rst, arp_ignore; checked 2026-11.
  command.argv = {"sysctl", "-q", "-w", "net.ipv4.conf." + interface + ".arp_ignore=1"};
  command.input.clear();
  const auto set = process::run(command);
  if (!set) return Error(set.error());
  if (!set->ok()) return make_error(Code::unavailable, "sysctl: " + set->summary());
  return {};
}

}  // namespace tundish::agent
