#include "runtime/agent/export_probe.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/text.hpp"
#include "runtime/agent/export_mount.hpp"
#include "runtime/agent/teardown.hpp"
#include "runtime/agent/validate.hpp"
#include "runtime/process/fd.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

using process::Fd;

constexpr int wait_ms = 2500;
constexpr int ssh_port = 22;

std::string last_line(std::string_view text) {
  text = trim(text);
  return std::string(text.substr(text.rfind('\n') + 1).substr(0, 120));
}

/// sftp ends by itself when it is asked for nothing.
void try_login(const ProbeExport& asked, const AgentPaths& paths, ProbeExportSeen& seen) {
  process::Command command;
  command.argv = export_login_words(asked.export_name + "@" + asked.mount_address, paths);
  command.limit = milliseconds(2 * wait_ms);
  const auto output = process::run(command);
  if (!output) {
    seen.detail = output.error().message();
    return;
  }
  seen.login = reach_of_login(output->exit_code, output->timed_out, output->err);
  if (seen.login != ProbeReach::reached) seen.detail = last_line(output->err);
}

ProbeReach try_connect(const ProbeExport& asked) {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in from{}, to{};
  from.sin_family = to.sin_family = AF_INET;
  to.sin_port = htons(ssh_port);
  const bool parsed = ::inet_pton(AF_INET, asked.address.c_str(), &from.sin_addr) == 1 &&
                      ::inet_pton(AF_INET, asked.mount_address.c_str(), &to.sin_addr) == 1;
  if (!fd || !parsed ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) {
    return ProbeReach::failed;
  }
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
    return ProbeReach::reached;
  }
  if (errno != EINPROGRESS) return ProbeReach::failed;
  pollfd waiting{fd.get(), POLLOUT, 0};
  if (::poll(&waiting, 1, wait_ms) == 0) return ProbeReach::silent;
  int failure = 0;
  socklen_t size = sizeof failure;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size) != 0) return ProbeReach::failed;
  if (failure == 0) return ProbeReach::reached;
  return failure == ECONNREFUSED || failure == ECONNRESET ? ProbeReach::refused
                                                          : ProbeReach::silent;
}

void try_address(const NetProbe& probe, const ProbeExport& asked, ProbeExportSeen& seen) {
  const std::string own = asked.address + "/32";
  const auto added =
      run_ip({"addr", "add", own, "dev", probe.interface, "preferred_lft", "0"}, seconds(5));
  if (!added) {
    seen.detail = added.error().message();
    return;
  }
  seen.address = try_connect(asked);
  const auto removed = run_ip({"addr", "del", own, "dev", probe.interface}, seconds(5));
  if (!removed) seen.detail = removed.error().message();
}

}  // namespace

ProbeReach reach_of_login(int exit_code, bool timed_out, const std::string& err) {
  if (exit_code == 0) return ProbeReach::reached;
  if (timed_out || err.find("timed out") != std::string::npos) return ProbeReach::silent;
  const bool told = err.find("Permission denied") != std::string::npos ||
                    err.find("Connection closed by") != std::string::npos ||
                    err.find("Too many authentication failures") != std::string::npos;
  return told ? ProbeReach::refused : ProbeReach::failed;
}

std::vector<ProbeExportSeen> probe_exports(const NetProbe& probe, const AgentPaths& paths) {
  std::vector<ProbeExportSeen> out;
  for (const auto& asked : probe.exports) {
    ProbeExportSeen seen;
    seen.name = asked.name;
    const bool clean = is_interface(probe.interface) && is_ipv4(asked.mount_address) &&
                       (asked.address.empty() || is_ipv4(asked.address)) &&
                       (asked.export_name.empty() || is_word(asked.export_name, 31));
    if (!clean) {
      seen.detail = "what is asked is not acceptable";
    } else {
      if (!asked.export_name.empty()) try_login(asked, paths, seen);
      if (!asked.address.empty()) try_address(probe, asked, seen);
    }
    out.push_back(std::move(seen));
  }
  return out;
}

}  // namespace tundish::agent
