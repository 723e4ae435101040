#include "runtime/agent/net_probe.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <set>

#include "base/text.hpp"
#include "runtime/process/fd.hpp"

namespace tundish::agent {
namespace {

using process::Fd;
using Clock = std::chrono::steady_clock;

constexpr std::string_view magic = "TNDP";
constexpr std::size_t token_bytes = 8;
constexpr std::size_t mark_bytes = magic.size() + token_bytes + 1 + 4;
/// IEEE 802 local experimental EtherType 1. Source: IEEE Std 802-2014, 9.2.3; checked 2026-11.
constexpr std::uint16_t probe_ethertype = 0x88b5;
constexpr std::size_t shortest_frame = 60;  // IEEE 802.3 without the check sequence

Error failed(const std::string& what) {
  return make_error(Code::unavailable, what + ": " + std::strerror(errno));
}

std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

struct Port {
  int index = 0;
  MacBytes mac{};
  in_addr address{};
};

ProbeLink link_of(const std::string& interface) {
  const Fd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  if (!control || ::ioctl(control.get(), SIOCGIFFLAGS, &request) != 0) return ProbeLink::unknown;
  const bool up = (request.ifr_flags & IFF_UP) != 0 && (request.ifr_flags & IFF_RUNNING) != 0;
  return up ? ProbeLink::up : ProbeLink::down;
}

/// `address`: what it sends from where the port has none of its own.
Result<Port> open_port(const NetProbe& probe) {
  const std::string& interface = probe.interface;
  Port port;
  const Fd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control) return failed("socket");
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(control.get(), SIOCGIFINDEX, &request) != 0) return failed(interface);
  port.index = request.ifr_ifindex;
  if (::ioctl(control.get(), SIOCGIFHWADDR, &request) != 0) return failed(interface + " MAC");
  std::memcpy(port.mac.data(), request.ifr_hwaddr.sa_data, port.mac.size());
  if (!probe.address.empty()) {
    if (::inet_pton(AF_INET, probe.address.c_str(), &port.address) == 1) return port;
    return make_error(Code::invalid, "\"" + probe.address + "\" is no IPv4 address");
  }
  if (::ioctl(control.get(), SIOCGIFADDR, &request) != 0) return failed(interface + " address");
  sockaddr_in own{};
  std::memcpy(&own, &request.ifr_addr, sizeof own);
  port.address = own.sin_addr;
  return port;
}

Result<Fd> open_packets(const Port& port) {
  Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL)));
  if (!fd) return failed("packet socket");
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_protocol = htons(ETH_P_ALL);
  where.sll_ifindex = port.index;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    return failed("bind of the packet socket");
  }
  // Unknown unicast is for somebody else's MAC: without this the NIC would drop it unseen.
  packet_mreq promiscuous{};
  promiscuous.mr_ifindex = port.index;
  promiscuous.mr_type = PACKET_MR_PROMISC;
  if (::setsockopt(fd.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof promiscuous) !=
      0) {
    return failed("promiscuous mode");
  }
  return fd;
}

Result<Fd> open_listener(const NetProbe& probe) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failed("TCP socket");
  const int on = 1;
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, probe.interface.c_str(),
                   static_cast<socklen_t>(probe.interface.size())) != 0) {
    return failed("binding to " + probe.interface);
  }
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(static_cast<std::uint16_t>(probe.tcp_port));
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(fd.get(), 64) != 0) {
    return failed("listening on port " + std::to_string(probe.tcp_port));
  }
  return fd;
}

std::string frame_of(const MacBytes& to, const Port& port, std::uint16_t type,
                     const std::string& body) {
  std::string frame(reinterpret_cast<const char*>(to.data()), to.size());
  frame.append(reinterpret_cast<const char*>(port.mac.data()), port.mac.size());
  frame += static_cast<char>(type >> 8);
  frame += static_cast<char>(type & 0xff);
  frame += body;
  if (frame.size() < shortest_frame) frame.resize(shortest_frame, '\0');
  return frame;
}

std::string arp_request(const Port& port, in_addr target) {
  std::string body("\x00\x01\x08\x00\x06\x04\x00\x01", 8);
  body.append(reinterpret_cast<const char*>(port.mac.data()), port.mac.size());
  body.append(reinterpret_cast<const char*>(&port.address), 4);
  body.append(6, '\0');
  body.append(reinterpret_cast<const char*>(&target), 4);
  return body;
}

std::uint16_t internet_checksum(const std::string& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto high = static_cast<std::uint8_t>(bytes[i]);
    const auto low = i + 1 < bytes.size() ? static_cast<std::uint8_t>(bytes[i + 1]) : 0;
    sum += static_cast<std::uint32_t>(high << 8 | low);
  }
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::string echo_request(const std::string& mark) {
  std::string packet("\x08\x00\x00\x00\x54\x4e\x00\x01", 8);
  packet += mark;
  const std::uint16_t sum = internet_checksum(packet);
  packet[2] = static_cast<char>(sum >> 8);
  packet[3] = static_cast<char>(sum & 0xff);
  return packet;
}

void append_16(std::string& out, std::uint16_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value & 0xff);
}

struct PacketEnds {
  in_addr from{}, to{};
};

/// IPv4 without options. Source: RFC 791 section 3.1.
std::string ip_packet(const PacketEnds& ends, std::uint8_t protocol, const std::string& payload) {
  constexpr std::size_t header_bytes = 20;
  std::string head("\x45\x00", 2);
  append_16(head, static_cast<std::uint16_t>(header_bytes + payload.size()));
  head += std::string("\x54\x4e\x00\x00\x40", 5);  // identification, no fragment, 64 hops
  head += static_cast<char>(protocol);
  head += std::string(2, '\0');
  head.append(reinterpret_cast<const char*>(&ends.from), 4);
  head.append(reinterpret_cast<const char*>(&ends.to), 4);
  const std::uint16_t sum = internet_checksum(head);
  head[10] = static_cast<char>(sum >> 8);
  head[11] = static_cast<char>(sum & 0xff);
  return head + payload;
}

/// A SYN that carries the mark: seen by whoever gets the frame, whether or not he answers it.
/// Source: RFC 9293 section 3.1.
std::string tcp_opening(const PacketEnds& ends, int port, const std::string& mark) {
  std::string segment;
  append_16(segment, static_cast<std::uint16_t>(port - 1));
  append_16(segment, static_cast<std::uint16_t>(port));
  segment += std::string("TNDP\0\0\0\0\x50\x02\x04\x00\0\0\0\0", 16);
  segment += mark;
  std::string pseudo(reinterpret_cast<const char*>(&ends.from), 4);
  pseudo.append(reinterpret_cast<const char*>(&ends.to), 4);
  pseudo += std::string("\0\x06", 2);
  append_16(pseudo, static_cast<std::uint16_t>(segment.size()));
  const std::uint16_t sum = internet_checksum(pseudo + segment);
  segment[16] = static_cast<char>(sum >> 8);
  segment[17] = static_cast<char>(sum & 0xff);
  return segment;
}

/// The sender's MAC in an ARP reply of that address. Source: RFC 826.
std::optional<MacBytes> arp_reply_of(std::string_view frame, in_addr address) {
  constexpr std::string_view reply("\x08\x06\x00\x01\x08\x00\x06\x04\x00\x02", 10);
  constexpr std::size_t at = 22;
  if (frame.size() < at + 10 || frame.substr(12, reply.size()) != reply) return std::nullopt;
  if (std::memcmp(frame.data() + at + 6, &address, 4) != 0) return std::nullopt;
  MacBytes mac{};
  std::memcpy(mac.data(), frame.data() + at, mac.size());
  return mac;
}

/// A connection on its way: to a participant (its mark is written) or to a service.
struct Connection {
  Fd fd;
  std::string mark;
  int service = -1;
};

/// One run. Everything in it is non-blocking; the loop ends by the clock.
class Run {
 public:
  explicit Run(const NetProbe& probe) : probe_(probe) {
    for (const auto& target : probe.targets) names_[hash_of_node(target.node)] = target.node;
    seen_.services.resize(probe.services.size());
    for (std::size_t i = 0; i < probe.services.size(); ++i) {
      seen_.services[i] = {probe.services[i].name, ProbeReach::silent};
    }
  }

  Result<NetProbeSeen> go() {
    port_ = TRY(open_port(probe_));
    const ProbeLink link = link_of(probe_.interface);
    packets_ = TRY(open_packets(port_));
    listener_ = TRY(open_listener(probe_));
    has_gateway_ = ::inet_pton(AF_INET, probe_.gateway.c_str(), &gateway_) == 1;
    ask_for_gateway();
    const auto start = Clock::now();
    const auto send_at = start + std::chrono::milliseconds(probe_.send_after_ms);
    const auto end = start + std::chrono::milliseconds(probe_.listen_ms);
    // Twice: the first frame to a new neighbour may be lost to ARP.
    auto next = send_at;
    for (int round = 0; Clock::now() < end;) {
      if (round < 2 && Clock::now() >= next) {
        send_all();
        next += std::chrono::milliseconds(700);
        ++round;
      }
      wait(std::chrono::milliseconds(50));
    }
    close_services();
    if (link_of(probe_.interface) == link) seen_.link = link;
    seen_.received.assign(received_.begin(), received_.end());
    seen_.fault = join(std::vector<std::string>(faults_.begin(), faults_.end()), "; ");
    return std::move(seen_);
  }

 private:
  void fault(const std::string& what) {
    if (faults_.size() < 8) faults_.insert(what + ": " + std::strerror(errno));
  }

  void send_frame(const MacBytes& to, std::uint16_t type, const std::string& body) {
    const std::string frame = frame_of(to, port_, type, body);
    if (::send(packets_.get(), frame.data(), frame.size(), 0) < 0) {
      fault("sending a frame");
    } else {
      ++seen_.sent;
    }
  }

  std::string mark(ProbeWay way) const { return probe_mark(probe_, way, probe_.self); }

  void ask_for_gateway() {
    constexpr MacBytes everybody = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    if (has_gateway_) send_frame(everybody, ETHERTYPE_ARP, arp_request(port_, gateway_));
  }

  /// Past this node's own routing, which keeps what is for an address of its own, and of two nodes
  /// with one address knows only the near one: straight to the MAC, and by way of the gateway.
  void send_packets(const ProbeTarget& target, in_addr address) {
    const PacketEnds ends{port_.address, address};
    const std::string packets[] = {
        ip_packet(ends, IPPROTO_ICMP, echo_request(mark(ProbeWay::ping))),
        ip_packet(ends, IPPROTO_TCP, tcp_opening(ends, probe_.tcp_port, mark(ProbeWay::tcp)))};
    for (const auto& next : {parse_mac(target.mac), gateway_mac_}) {
      if (!next) continue;
      for (const auto& packet : packets) send_frame(*next, ETHERTYPE_IP, packet);
    }
  }

  void send_all() {
    ask_for_gateway();
    constexpr MacBytes everybody = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    // A group of the administratively scoped range, so that no router forwards it (RFC 2365).
    constexpr MacBytes group = {0x01, 0x00, 0x5e, 0x7f, 0x54, 0x4e};
    // Locally administered, and nobody's: a switch floods it.
    constexpr MacBytes nobody = {0x02, 0x54, 0x4e, 0x44, 0x50, 0x00};
    send_frame(everybody, probe_ethertype, mark(ProbeWay::broadcast));
    send_frame(group, probe_ethertype, mark(ProbeWay::multicast));
    send_frame(nobody, probe_ethertype, mark(ProbeWay::unknown_unicast));
    for (const auto& target : probe_.targets) {
      in_addr address{};
      if (::inet_pton(AF_INET, target.address.c_str(), &address) != 1) continue;
      if (const auto mac = parse_mac(target.mac)) {
        send_frame(*mac, probe_ethertype, mark(ProbeWay::unicast));
      }
      send_frame(everybody, ETHERTYPE_ARP, arp_request(port_, address) + mark(ProbeWay::arp));
      send_packets(target, address);
      send_echo(address);
      connect_to(address, probe_.tcp_port, mark(ProbeWay::tcp), -1);
    }
    for (std::size_t i = 0; i < probe_.services.size() && !services_tried_; ++i) {
      in_addr address{};
      if (::inet_pton(AF_INET, probe_.services[i].address.c_str(), &address) != 1) continue;
      connect_to(address, probe_.services[i].port, "", static_cast<int>(i));
    }
    services_tried_ = true;
  }

  void send_echo(in_addr address) {
    const Fd fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
    if (!fd) return fault("ICMP socket");
    (void)::setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, probe_.interface.c_str(),
                       static_cast<socklen_t>(probe_.interface.size()));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr = address;
    const std::string packet = echo_request(mark(ProbeWay::ping));
    // No route to it is an answer too: that way is closed.
    if (::sendto(fd.get(), packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&to),
                 sizeof to) >= 0) {
      ++seen_.sent;
    }
  }

  void connect_to(in_addr address, int port, std::string text, int service) {
    Connection made{Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
                    std::move(text), service};
    if (!made.fd) return fault("TCP socket");
    if (service < 0) {
      (void)::setsockopt(made.fd.get(), SOL_SOCKET, SO_BINDTODEVICE, probe_.interface.c_str(),
                         static_cast<socklen_t>(probe_.interface.size()));
    }
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr = address;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    if (::connect(made.fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0 &&
        errno != EINPROGRESS) {
      if (service >= 0) settle(service, errno);
      return;
    }
    ++seen_.sent;
    connections_.push_back(std::move(made));
  }

  void settle(int service, int error) {
    ProbeReach& reach = seen_.services[static_cast<std::size_t>(service)].reach;
    if (error == 0) {
      reach = ProbeReach::reached;
    } else if (error == ECONNREFUSED) {
      reach = ProbeReach::refused;
    } else {
      reach = ProbeReach::silent;
    }
  }

  void wait(std::chrono::milliseconds limit) {
    std::vector<pollfd> waits = {{packets_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const auto& made : connections_) waits.push_back({made.fd.get(), POLLOUT, 0});
    const std::size_t first_accepted = waits.size();
    for (const auto& fd : accepted_) waits.push_back({fd.get(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), static_cast<int>(limit.count())) <= 0) return;
    for (std::size_t i = first_accepted; i < waits.size(); ++i) {
      if (waits[i].revents != 0) read_accepted(waits[i].fd);
    }
    for (std::size_t i = first_accepted; i-- > 2;) {
      if (waits[i].revents != 0) finish_connection(i - 2);
    }
    if (waits[1].revents != 0) accept_all();
    if (waits[0].revents != 0) read_frames();
  }

  void finish_connection(std::size_t at) {
    Connection& made = connections_[at];
    int error = 0;
    socklen_t size = sizeof error;
    (void)::getsockopt(made.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (made.service >= 0) {
      settle(made.service, error);
    } else if (error == 0) {
      (void)::send(made.fd.get(), made.mark.data(), made.mark.size(), MSG_NOSIGNAL);
    }
    connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void accept_all() {
    while (accepted_.size() < 256) {
      Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd) return;
      accepted_.push_back(std::move(fd));
    }
  }

  void read_accepted(int fd) {
    char buffer[128];
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got > 0) note(std::string_view(buffer, static_cast<std::size_t>(got)));
    std::erase_if(accepted_, [fd](const Fd& one) { return one.get() == fd; });
  }

  void read_frames() {
    char buffer[2048];
    sockaddr_ll from{};
    for (;;) {
      socklen_t size = sizeof from;
      const ssize_t got = ::recvfrom(packets_.get(), buffer, sizeof buffer, 0,
                                     reinterpret_cast<sockaddr*>(&from), &size);
      if (got <= 0) return;
      const std::string_view frame(buffer, static_cast<std::size_t>(got));
      if (from.sll_pkttype == PACKET_OUTGOING) {
        if (find_mark(frame, probe_.token)) ++seen_.heard_self;
        continue;
      }
      if (has_gateway_ && !gateway_mac_) gateway_mac_ = arp_reply_of(frame, gateway_);
      note(frame);
    }
  }

  void note(std::string_view bytes) {
    const auto mark = find_mark(bytes, probe_.token);
    if (!mark) return;
    const auto name = names_.find(mark->sender);
    if (name != names_.end()) received_.insert({name->second, mark->way});
  }

  void close_services() {
    connections_.clear();  // what did not answer in time was silent
  }

  const NetProbe& probe_;
  Port port_;
  Fd packets_, listener_;
  std::map<std::uint32_t, std::string> names_;
  std::vector<Connection> connections_;
  std::vector<Fd> accepted_;
  std::set<ProbeSighting> received_;
  std::set<std::string> faults_;
  in_addr gateway_{};
  bool has_gateway_ = false;
  std::optional<MacBytes> gateway_mac_;
  bool services_tried_ = false;
  NetProbeSeen seen_;
};

}  // namespace

std::uint32_t hash_of_node(std::string_view node) {
  std::uint32_t hash = 2166136261U;  // FNV-1a, 32 bits
  for (const char c : node) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619U;
  return hash;
}

std::string probe_mark(const NetProbe& probe, ProbeWay way, std::string_view sender) {
  std::string out(magic);
  std::string token = from_hex(probe.token);
  token.resize(token_bytes, '\0');
  out += token;
  out += static_cast<char>(way);
  const std::uint32_t hash = hash_of_node(sender);
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(hash >> shift & 0xff);
  return out;
}

std::optional<ProbeMark> find_mark(std::string_view bytes, std::string_view token) {
  std::string start(magic);
  std::string raw = from_hex(token);
  raw.resize(token_bytes, '\0');
  start += raw;
  const auto at = bytes.find(start);
  if (at == std::string_view::npos || bytes.size() - at < mark_bytes) return std::nullopt;
  const auto tail = bytes.substr(at + start.size());
  const auto way = static_cast<std::uint8_t>(tail[0]);
  if (way >= probe_ways) return std::nullopt;
  std::uint32_t sender = 0;
  for (std::size_t i = 1; i <= 4; ++i) sender = sender << 8 | static_cast<std::uint8_t>(tail[i]);
  return ProbeMark{static_cast<ProbeWay>(way), sender};
}

std::optional<MacBytes> parse_mac(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 6) return std::nullopt;
  MacBytes mac{};
  for (std::size_t i = 0; i < 6; ++i) {
    const std::string part(parts[i]);
    if (part.size() != 2 || part.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
      return std::nullopt;
    }
    mac[i] = static_cast<std::uint8_t>(std::stoi(part, nullptr, 16));
  }
  return mac;
}

Result<NetProbeSeen> run_probe(const NetProbe& probe) {
  if (probe.token.size() != 2 * token_bytes ||
      probe.token.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return make_error(Code::invalid, "a probe's token is 16 lower-case hex digits");
  }
  if (probe.tcp_port < 1024 || probe.tcp_port > 65535 || probe.listen_ms < 500 ||
      probe.listen_ms > 30000 || probe.send_after_ms < 0 || probe.targets.size() > 1024) {
    return make_error(Code::invalid, "a probe's port, times or number of targets is out of range");
  }
  return Run(probe).go();
}

}  // namespace tundish::agent
