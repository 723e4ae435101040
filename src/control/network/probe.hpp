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
  ClusterId cluster;    ///< empty: a free or spare node, which is in nobody's network
  std::string address;  ///< in the tenant's network
  NetProbe probe;
  std::string switch_name = {};  ///< leaf that its port is on
  std::string shut = {};  ///< of a node outside: how its switch shows its port in no network
};
/// How a matrix calls the nodes outside of every network.
constexpr std::string_view outside_label = "free nodes";

/// TCP port that participants listen on during a run; outside the range that Linux hands out to
/// programs (net.ipv4.ip_local_port_range, 32768 and up).
inline constexpr int probe_port = 18515;

/// Of a node that was left out because it is on its way in, which proves nothing and hides nothing.
constexpr std::string_view joins_still = "is not in its network yet";

struct ProbePlan {
  std::vector<ProbeParticipant> participants;
  std::vector<std::string> left_out;  ///< "node n05: was not heard lately"
  /// Free and spare nodes that take no part themselves: their switch's word is all there is.
  std::vector<ProbeParticipant> beside;
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
    f(1, "from", from, "tenant/cluster that sent, or free nodes");
    f(2, "to", to, "tenant/cluster that listened, or free nodes");
    f(3, "same", same, "one cluster: here open is good");
    f(4, "good", good, "as it must be, and proved: unknown is not");
    f(5, "ways", ways, "by kind");
  }
};

struct ProbeServiceResult {
  std::string cluster, service;
  std::vector<std::string> reached, refused, silent;
  std::string closed_to_all;
  void fields(Fields& f) {
    f(1, "cluster", cluster, "tenant/cluster");
    f(2, "service", service, "as asked");
    f(3, "reached", reached, "nodes that could connect");
    f(4, "refused", refused, "nodes that were told no");
    f(5, "silent", silent, "nodes that got no answer");
    f(6, "closed_to_all", closed_to_all,
      "why no tenant may get an answer there; empty: nobody says who may, it is not judged");
  }
};

/// Who takes part; in a dry run, who would.
struct ProbeSender {
  std::string node, cluster, interface, address;
  int targets = 0, services = 0, out_of_band = 0, exports = 0;
  void fields(Fields& f) {
    f(1, "node", node, "name");
    f(2, "cluster", cluster, "tenant/cluster, or free nodes");
    f(3, "interface", interface, "port that sends");
    f(4, "address", address, "IPv4 in the tenant's network");
    f(5, "targets", targets, "other ports that it sends to, of every tenant");
    f(6, "services", services, "services that it tries");
    f(7, "out_of_band", out_of_band, "addresses that it calls on the out-of-band network");
    f(8, "exports", exports, "storage exports that it tries, its own among them");
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

/// The addresses of the leaf itself, called from one tenant's network.
struct ProbeLeaf {
  std::string cluster, switch_name;
  ProbeCell cell = ProbeCell::unknown;
  int tried = 0;
  std::vector<std::string> open;
  std::string detail;
  void fields(Fields& f) {
    f(1, "cluster", cluster, "tenant/cluster whose nodes tried");
    f(2, "switch_name", switch_name, "leaf that the nodes are on");
    f(3, "cell", cell, "closed: the gateway answers to ICMP, and nothing answers to anything else");
    f(4, "tried", tried, "addresses and ports that were tried beside the gateway's ICMP");
    f(5, "open", open, "what answered of them, and to whom");
    f(6, "detail", detail, "why unknown");
  }
};

/// `leak`: a way between clusters, or onto the out-of-band network, was seen open. `unproved`: no
/// such way was seen, and not every way was proved closed.
enum class ProbeVerdict { unproved, isolated, leak };
inline std::span<const std::string_view> enum_names(ProbeVerdict) {
  static constexpr std::string_view names[] = {"unproved", "isolated", "leak"};
  return names;
}

/// One thing that was seen open and must be closed.
struct ProbeOpenWay {
  std::string from, to, way, detail;
  bool operator==(const ProbeOpenWay&) const = default;
  void fields(Fields& f) {
    f(1, "from", from, "tenant/cluster, or node on the out-of-band network");
    f(2, "to", to, "tenant/cluster, or who answered");
    f(3, "way", way, "kind of frame or call, PKey tables, path records, storage or out of band");
    f(4, "detail", detail, "which nodes");
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
  ProbeVerdict verdict = ProbeVerdict::unproved;
  std::vector<ProbeOpenWay> open_ways;
  std::vector<std::string> doubts;
  std::vector<ProbeSender> senders;
  std::vector<ProbeLeaf> leaf;
  void fields(Fields& f) {
    f(1, "isolated", isolated,
      "every pair of two clusters, the free nodes, the leaves' own addresses and the out-of-band "
      "network are proved closed");
    f(2, "pairs", pairs, "ordered pairs of clusters, and each with the free and spare nodes");
    f(3, "services", services, "reach beside the nodes");
    f(4, "left_out", left_out, "nodes that could not take part, and why");
    f(5, "partitions", partitions, "ordered pairs of clusters that have InfiniBand");
    f(6, "verdict", verdict, "isolated, leak or unproved");
    f(7, "open_ways", open_ways, "all that was seen open and must be closed; empty: nothing");
    f(8, "doubts", doubts, "why it is unproved");
    f(9, "senders", senders, "who takes part");
    f(10, "out_of_band", out_of_band, "what each node reached on the out-of-band network");
    f(11, "storage", storage, "ordered pairs of clusters that use a storage");
    f(12, "leaf", leaf, "what each cluster reaches of its leaves themselves");
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
/// The verdict over every table that is filled in; to be asked again when one is added.
void conclude_probe(ProbeMatrix& matrix);
/// The matrix of a run that has not begun: who would take part, and who could not.
ProbeMatrix rehearse_probe(const Registry& reg, const ProbePlan& plan);
/// "tenant/cluster".
std::string cluster_label(const Registry& reg, const ClusterId& id);

}  // namespace tundish::control::network
