#include "runtime/agent/net_reach.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/text.hpp"
#include "runtime/process/fd.hpp"

namespace tundish::agent {
namespace {

using Clock = std::chrono::steady_clock;

/// What the kernel says of a connection. Refused: somebody is there and says no.
ProbeReach reach_of(int error) {
  if (error == 0) return ProbeReach::reached;
  return error == ECONNREFUSED ? ProbeReach::refused : ProbeReach::silent;
}

constexpr std::uint8_t echo_reply = 0, echo_request = 8;  // RFC 792
constexpr std::uint16_t echo_id = 0x5450;

std::uint16_t checksum(const std::array<std::uint8_t, 8>& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) sum += bytes[i] * 256U + bytes[i + 1];
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// A raw socket that is connected hears of the one address only.
process::Fd begin_ping(const sockaddr_in& to, const std::string& interface, ProbeReach& reach) {
  reach = ProbeReach::failed;
  process::Fd fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMP));
  const bool ready = fd &&
                     ::setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(),
                                  static_cast<socklen_t>(interface.size())) == 0;
  if (!ready) return process::Fd();
  reach = ProbeReach::silent;  // no way to it is silence too
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    return process::Fd();
  }
  std::array<std::uint8_t, 8> packet{echo_request, 0, 0, 0, echo_id >> 8, echo_id & 0xff, 0, 1};
  const std::uint16_t sum = checksum(packet);
  packet[2] = static_cast<std::uint8_t>(sum >> 8);
  packet[3] = static_cast<std::uint8_t>(sum & 0xff);
  if (::send(fd.get(), packet.data(), packet.size(), 0) < 0) return process::Fd();
  return fd;
}

/// True: the answer that was waited for. What a raw socket hears begins with the IP header.
bool is_answered(int fd) {
  std::array<std::uint8_t, 256> packet{};
  for (;;) {
    const ssize_t got = ::recv(fd, packet.data(), packet.size(), 0);
    if (got <= 0) return false;
    const std::size_t at = static_cast<std::size_t>(packet[0] & 0x0f) * 4;
    if (static_cast<std::size_t>(got) < at + 8) continue;
    const bool own = packet[at + 4] * 256 + packet[at + 5] == echo_id;
    if (packet[at] == echo_reply && own) return true;
  }
}

/// On its way, or settled at once.
process::Fd begin(const ProbeService& service, const std::string& interface, ProbeReach& reach) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(service.port));
  reach = ProbeReach::failed;  // not tried
  if (::inet_pton(AF_INET, service.address.c_str(), &to.sin_addr) != 1) return process::Fd();
  if (service.port == 0) return begin_ping(to, interface, reach);
  process::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool ready = fd &&
                     ::setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(),
                                  static_cast<socklen_t>(interface.size())) == 0;
  if (!ready) return process::Fd();
  const bool done = ::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  reach = done ? ProbeReach::reached : reach_of(errno);
  if (done || errno != EINPROGRESS) return process::Fd();
  reach = ProbeReach::silent;
  return fd;
}

/// A name becomes the address that the agent's own calls go to; what has none stays as it is.
std::string address_of(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return name;
  char text[INET_ADDRSTRLEN] = "";
  sockaddr_in first{};
  std::memcpy(&first, found->ai_addr, sizeof first);
  ::freeaddrinfo(found);
  return ::inet_ntop(AF_INET, &first.sin_addr, text, sizeof text) ? text : name;
}

}  // namespace

std::vector<ProbeServiceSeen> reach_services(const std::vector<ProbeService>& services,
                                             const ReachLimits& limits) {
  std::vector<ProbeServiceSeen> out;
  std::vector<process::Fd> open;
  for (const auto& service : services) {
    out.push_back({service.name, ProbeReach::failed});
    open.push_back(begin(service, limits.interface, out.back().reach));
  }
  const auto end = Clock::now() + std::chrono::microseconds(limits.wait.us);
  for (;;) {
    std::vector<pollfd> waits;
    std::vector<std::size_t> whose;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (!open[i]) continue;
      const bool ping = services[i].port == 0;
      waits.push_back({open[i].get(), static_cast<short>(ping ? POLLIN : POLLOUT), 0});
      whose.push_back(i);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (waits.empty() || left.count() <= 0) return out;
    if (::poll(waits.data(), waits.size(), static_cast<int>(left.count())) < 0) continue;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents == 0) continue;
      if (services[whose[i]].port == 0) {
        if (!is_answered(waits[i].fd)) continue;
        out[whose[i]].reach = ProbeReach::reached;
        open[whose[i]].reset();
        continue;
      }
      int error = 0;
      socklen_t size = sizeof error;
      (void)::getsockopt(waits[i].fd, SOL_SOCKET, SO_ERROR, &error, &size);
      out[whose[i]].reach = reach_of(error);
      open[whose[i]].reset();
    }
  }
}

std::vector<ProbeService> controller_services(const std::string& api) {
  const auto scheme = api.find("://");
  if (scheme == std::string::npos) return {};
  const std::string authority = api.substr(scheme + 3, api.find('/', scheme + 3) - scheme - 3);
  const auto colon = authority.rfind(':');
  const bool is_secure = api.starts_with("https");
  const auto port = colon == std::string::npos ? std::optional<std::int64_t>(is_secure ? 443 : 80)
                                               : parse_integer(authority.substr(colon + 1));
  const std::string address = address_of(authority.substr(0, colon));
  if (!port || *port < 1 || *port > 65535) return {};
  const int other = *port == 22 ? 80 : 22;
  return {{std::string(probe_controller), address, static_cast<int>(*port)},
          {std::string(probe_controller) + " port " + std::to_string(other), address, other}};
}

}  // namespace tundish::agent
