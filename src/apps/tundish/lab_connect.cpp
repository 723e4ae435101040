#include "apps/tundish/lab_connect.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace tundish {
namespace {

Error failed(const std::string& what) {
  return make_error(Code::unavailable, what + ": " + std::strerror(errno));
}

Result<> enter_network(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed("cannot open " + path);
  const int entered = ::setns(fd, CLONE_NEWNET);
  const int why = errno;
  ::close(fd);
  errno = why;
  if (entered != 0) return failed("cannot enter the network " + path);
  return {};
}

/// Whether this network namespace has the address itself.
bool has_address(const in_addr& wanted) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return false;
  bool found = false;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in address{};
    std::memcpy(&address, at->ifa_addr, sizeof address);
    found = found || address.sin_addr.s_addr == wanted.s_addr;
  }
  ::freeifaddrs(list);
  return found;
}

/// Leaves this process in the network where the peer is; returns the address to call there.
Result<in_addr> go_to(const lab::LabPaths& paths, const lab::LabStatus& status,
                      const LabPeer& peer) {
  in_addr address{};
  const bool is_address = ::inet_pton(AF_INET, peer.address.c_str(), &address) == 1;
  for (const auto& node : status.nodes) {
    if (!peer.at.empty() && node.name != peer.at) continue;
    const bool is_named = !is_address && node.name == peer.address;
    if (node.host_pid == 0 && is_named) {
      return make_error(Code::conflict, "node " + node.name + " is " + node.phase);
    }
    if (node.host_pid == 0 || (!is_address && !is_named)) continue;
    TRY_VOID(enter_network(node.network_path));
    if (is_named) address.s_addr = htonl(INADDR_LOOPBACK);
    if (is_named || has_address(address)) return address;
  }
  if (!is_address) {
    return make_error(Code::not_found, "lab " + status.name + " has no node " + peer.address)
        .with_remedy("see `tundish lab status`");
  }
  if (!peer.at.empty()) {
    return make_error(Code::unavailable, "node " + peer.at + " has no address " + peer.address)
        .with_remedy("see `tundish lab status`; it may be starting");
  }
  const int pid = lab::find_supervisor(paths);
  TRY_VOID(enter_network("/proc/" + std::to_string(pid) + "/ns/net"));
  return address;
}

Result<int> open_connection(in_addr address, const LabPeer& peer) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return failed("no socket");
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(peer.port));
  to.sin_addr = address;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return fd;
  const Error error =
      failed("no connection to " + peer.address + " port " + std::to_string(peer.port));
  ::close(fd);
  return error;
}

bool write_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// One piece from `from` to `to`; false at the end of either.
bool carry(int from, int to) {
  std::array<char, 65536> piece;
  const ssize_t got = ::read(from, piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return true;
  return got > 0 && write_all(to, piece.data(), static_cast<std::size_t>(got));
}

void pump(int connection) {
  std::array<pollfd, 2> waits{{{STDIN_FILENO, POLLIN, 0}, {connection, POLLIN, 0}}};
  while (true) {
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0 && !carry(STDIN_FILENO, connection)) {
      ::shutdown(connection, SHUT_WR);
      waits[0].fd = -1;  // the peer may still have something to say
    }
    if (waits[1].revents != 0 && !carry(connection, STDOUT_FILENO)) return;
  }
}

}  // namespace

Result<> connect_in_lab(const lab::LabPaths& paths, const LabPeer& peer) {
  const auto status = TRY(lab::lab_status(paths));
  if (status.supervisor_pid == 0) {
    return make_error(Code::conflict, "lab " + status.name + " does not run")
        .with_remedy("start it with `tundish lab up`");
  }
  const in_addr address = TRY(go_to(paths, status, peer));
  const int connection = TRY(open_connection(address, peer));
  ::signal(SIGPIPE, SIG_IGN);
  pump(connection);
  ::close(connection);
  return {};
}

}  // namespace tundish
