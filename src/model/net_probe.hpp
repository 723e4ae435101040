#pragma once
// Proof of isolation on the wire: every participant sends marked frames and says which marked
// frames of others it saw. Who only asks for answers cannot tell two tenants with the same
// addresses apart.
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

/// Ways from one node to another. Source: the matrix; facts/cloud.md section 3.9.
enum class ProbeWay { broadcast, multicast, unknown_unicast, unicast, arp, ping, tcp };
inline std::span<const std::string_view> enum_names(ProbeWay) {
  static constexpr std::string_view names[] = {
      "broadcast", "multicast", "unknown_unicast", "unicast", "arp", "ping", "tcp"};
  return names;
}
/// Name under which an agent tells how it reached tundishd on the out-of-band network.
inline constexpr std::string_view probe_controller = "tundishd";
inline constexpr int probe_ways = 7;

struct ProbeTarget {
  std::string node;
  std::string address;
  std::string mac;
  void fields(Fields& f) {
    f(1, "node", node, "NODE/INTERFACE");
    f(2, "address", address, "IPv4 in the tenant's network");
    f(3, "mac", mac, "of the port that carries the tenant's network");
  }
};

/// A service beside the nodes: storage, the out-of-band network.
struct ProbeService {
  std::string name;
  std::string address;
  int port = 0;
  void fields(Fields& f) {
    f(1, "name", name, "for the report");
    f(2, "address", address, "IPv4");
    f(3, "port", port, "TCP");
  }
};

/// A storage export of some cluster, tried by a node of the same or of another one.
struct ProbeExport {
  std::string name;
  std::string export_name;
  std::string mount_address;
  std::string address;
  void fields(Fields& f) {
    f(1, "name", name, "for the report: the cluster that it is of");
    f(2, "export_name", export_name, "tried with the node's own key and address; empty: not tried");
    f(3, "mount_address", mount_address, "IPv4 of the storage");
    f(4, "address", address, "somebody else's towards the storage: taken for the try; empty: none");
  }
};

struct NetProbe {
  std::string self;
  std::string token;
  std::string interface;
  std::vector<ProbeTarget> targets;
  std::vector<ProbeService> services;
  int tcp_port = 0;
  int listen_ms = 4000;
  int send_after_ms = 1200;
  std::vector<ProbeService> out_of_band;
  std::string gateway;
  std::vector<ProbeExport> exports;
  std::vector<ProbeService> leaf;
  std::string address;
  void fields(Fields& f) {
    f(1, "self", self, "NODE/INTERFACE of the one who runs it");
    f(2, "token", token, "16 hex digits: marks the frames of this run");
    f(3, "interface", interface, "port that carries the tenant's network");
    f(4, "targets", targets, "all other participants, of every tenant");
    f(5, "services", services, "what else is tried by TCP");
    f(6, "tcp_port", tcp_port, "where every participant listens during the run");
    f(7, "listen_ms", listen_ms, "how long it listens");
    f(8, "send_after_ms", send_after_ms, "from the start: by then all listen");
    f(9, "out_of_band", out_of_band, "what is tried by TCP on the out-of-band port");
    f(10, "gateway", gateway, "IPv4 of the segment's gateway: packets are sent through it too");
    f(11, "exports", exports, "storage exports that are tried, the own one first");
    f(12, "leaf", leaf, "addresses of the leaf itself that are tried; port 0: by ICMP");
    f(13, "address", address, "IPv4 that it sends from; empty: its port's own");
  }
};

struct ProbeSighting {
  std::string sender;
  ProbeWay way = ProbeWay::broadcast;
  bool operator==(const ProbeSighting&) const = default;
  auto operator<=>(const ProbeSighting&) const = default;
  void fields(Fields& f) {
    f(1, "sender", sender, "NODE/INTERFACE that the frame carries");
    f(2, "way", way, "how it came");
  }
};

/// Whether the port has a link at all. Without one nothing leaves it and nothing comes in.
enum class ProbeLink { unknown, up, down };
inline std::span<const std::string_view> enum_names(ProbeLink) {
  static constexpr std::string_view names[] = {"unknown", "up", "down"};
  return names;
}

enum class ProbeReach { reached, refused, silent, failed };
inline std::span<const std::string_view> enum_names(ProbeReach) {
  static constexpr std::string_view names[] = {"reached", "refused", "silent", "failed"};
  return names;
}

struct ProbeServiceSeen {
  std::string name;
  ProbeReach reach = ProbeReach::failed;
  void fields(Fields& f) {
    f(1, "name", name, "as asked");
    f(2, "reach", reach, "reached, refused (it answered no), silent or failed (not tried)");
  }
};

struct ProbeExportSeen {
  std::string name;
  ProbeReach login = ProbeReach::failed;
  ProbeReach address = ProbeReach::failed;
  std::string detail;
  void fields(Fields& f) {
    f(1, "name", name, "as asked");
    f(2, "login", login, "to the export: reached, refused, silent or failed (not tried)");
    f(3, "address", address, "from the address of somebody else, likewise");
    f(4, "detail", detail, "what the server or the tool said");
  }
};

struct NetProbeSeen {
  std::vector<ProbeSighting> received;
  std::vector<ProbeServiceSeen> services;
  int sent = 0;
  std::string fault;
  std::vector<ProbeServiceSeen> out_of_band;
  std::vector<ProbeExportSeen> exports;
  std::vector<ProbeServiceSeen> leaf;
  ProbeLink link = ProbeLink::unknown;
  int heard_self = 0;
  void fields(Fields& f) {
    f(1, "received", received, "distinct sightings, sorted");
    f(2, "services", services, "in the order asked");
    f(3, "sent", sent, "frames and connections that left");
    f(4, "fault", fault, "why a part could not be done; empty: all was");
    f(5, "out_of_band", out_of_band, "as asked, and tundishd as the agent knows it");
    f(6, "exports", exports, "in the order asked");
    f(7, "leaf", leaf, "in the order asked");
    f(8, "link", link, "of the port, at the beginning and the end: up, down or unknown (changed)");
    f(9, "heard_self", heard_self, "own frames that its ear saw leave: it was not deaf");
  }
};

}  // namespace tundish
