#pragma once
// `network probe`: who takes part, and what the sightings prove. Pure.
#include <map>
#include <string>
#include <vector>

#include "control/view.hpp"
#include "model/net_probe.hpp"

namespace tundish::control::network {

/// One port of one node: a service node carries several clusters, on a port each.
struct ProbeParticipant {
  std::string id;  ///< NODE/INTERFACE
  NodeId node;
  std::string name;
  ClusterId cluster;
  NetProbe probe;
};

/// TCP port that participants listen on during a run; outside the range that Linux hands out to
/// programs (net.ipv4.ip_local_port_range, 32768 and up).
inline constexpr int probe_port = 18515;

struct ProbePlan {
  std::vector<ProbeParticipant> participants;
  std::vector<std::string> left_out;  ///< "node n05: was not heard lately"
};
/// Attached nodes of the clusters. `services` are tried by every participant.
ProbePlan plan_probe(const View& view, const std::vector<ClusterId>& clusters,
                     const std::string& token, const std::vector<ProbeService>& services);

/// What one cell of the matrix says. `open` between two tenants is a leak; `unknown` is never good.
enum class ProbeCell { open, closed, unknown };
inline std::span<const std::string_view> enum_names(ProbeCell) {
  static constexpr std::string_view names[] = {"open", "closed", "unknown"};
  return names;
}

struct ProbeWayResult {
  ProbeWay way = ProbeWay::broadcast;
  ProbeCell cell = ProbeCell::unknown;
  std::string detail;
  void fields(Fields& f) {
    f(1, "way", way, "kind of frame or call");
    f(2, "cell", cell, "open, closed or unknown");
    f(3, "detail", detail, "which nodes, or why unknown");
  }
};

struct ProbePair {
  std::string from, to;
  bool same = false;
  bool good = false;
  std::vector<ProbeWayResult> ways;
  void fields(Fields& f) {
    f(1, "from", from, "tenant/cluster that sent");
    f(2, "to", to, "tenant/cluster that listened");
    f(3, "same", same, "one cluster: here open is good");
    f(4, "good", good, "as it must be, and proved: unknown is not");
    f(5, "ways", ways, "by kind");
  }
};

struct ProbeServiceResult {
  std::string cluster, service;
  std::vector<std::string> reached, refused, silent;
  void fields(Fields& f) {
    f(1, "cluster", cluster, "tenant/cluster");
    f(2, "service", service, "as asked");
    f(3, "reached", reached, "nodes that could connect");
    f(4, "refused", refused, "nodes that were told no");
    f(5, "silent", silent, "nodes that got no answer");
  }
};

/// On the out-of-band network of one node.
struct ProbeOutOfBand {
  std::string node;
  ProbeCell cell = ProbeCell::unknown;
  int tried = 0;
  std::vector<std::string> open;
  std::string detail;
  void fields(Fields& f) {
    f(1, "node", node, "node that tried");
    f(2, "cell", cell, "closed: it reached tundishd's port for agents and nothing else");
    f(3, "tried", tried, "other nodes, BMCs, switches and managers that were tried");
    f(4, "open", open, "who answered of them");
    f(5, "detail", detail, "why unknown");
  }
};

/// InfiniBand: what the ports' own tables and the subnet manager's path records say.
struct ProbePartitions {
  std::string fabric, from, to;
  bool same = false;
  bool good = false;
  ProbeCell tables = ProbeCell::unknown;
  std::string tables_detail;
  ProbeCell paths = ProbeCell::unknown;
  std::string paths_detail;
  std::int64_t age_ms = -1;
  void fields(Fields& f) {
    f(1, "fabric", fabric, "InfiniBand fabric");
    f(2, "from", from, "tenant/cluster");
    f(3, "to", to, "tenant/cluster");
    f(4, "same", same, "one cluster: here open is good");
    f(5, "good", good, "as it must be, and proved: unknown is not");
    f(6, "tables", tables, "open: two ports carry one PKey, and one of them is a full member");
    f(7, "tables_detail", tables_detail, "which ports, or why unknown");
    f(8, "paths", paths, "open: the subnet manager tells a path from one port to the other");
    f(9, "paths_detail", paths_detail, "which ports, how many were asked for, or why unknown");
    f(10, "age_ms", age_ms, "of the look at the tables; -1: never read");
  }
};

/// The storage: a node of one cluster tries the export of another, and with the other's address.
struct ProbeStorage {
  std::string from, to;
  bool same = false;
  bool good = false;
  ProbeCell cell = ProbeCell::unknown;
  std::string detail;
  void fields(Fields& f) {
    f(1, "from", from, "tenant/cluster whose nodes tried");
    f(2, "to", to, "tenant/cluster whose export and address they tried");
    f(3, "same", same, "one cluster: here open is good");
    f(4, "good", good, "as it must be, and proved: unknown is not");
    f(5, "cell", cell, "open: a node was let in");
    f(6, "detail", detail, "which nodes, or why unknown");
  }
};

struct ProbeMatrix {
  bool isolated = false;
  std::vector<ProbePair> pairs;
  std::vector<ProbeServiceResult> services;
  std::vector<std::string> left_out;
  std::vector<ProbeOutOfBand> out_of_band;
  std::vector<ProbePartitions> partitions;
  std::vector<ProbeStorage> storage;
  void fields(Fields& f) {
    f(1, "isolated", isolated,
      "every pair of two clusters and the out-of-band network are proved closed");
    f(2, "pairs", pairs, "ordered pairs");
    f(3, "services", services, "reach beside the nodes");
    f(4, "left_out", left_out, "nodes that could not take part, and why");
    f(5, "partitions", partitions, "ordered pairs of clusters that have InfiniBand");
    f(10, "out_of_band", out_of_band, "what each node reached on the out-of-band network");
    f(11, "storage", storage, "ordered pairs of clusters that use a storage");
  }
};

struct ProbeAnswer {
  bool answered = false;
  NetProbeSeen seen;
  std::string fault;
};
/// A pair is proved closed only when the sender was seen by its own cluster and the listener saw
/// its own: else the silence may be the probe's.
ProbeMatrix judge_probe(const Registry& reg, const ProbePlan& plan,
                        const std::map<std::string, ProbeAnswer>& answers);

}  // namespace tundish::control::network
