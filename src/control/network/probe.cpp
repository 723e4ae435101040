#include "control/network/probe.hpp"

#include <algorithm>
#include <set>

#include "control/network/probe_leaf.hpp"
#include "control/network/probe_out_of_band.hpp"
#include "control/network/probe_outside.hpp"
#include "control/network/probe_sightings.hpp"
#include "control/network/probe_storage.hpp"

namespace tundish::control::network {
namespace {

const Port* port_named(const Node& node, const std::string& name) {
  for (const auto& port : node.spec.ports) {
    if (port.name == name) return &port;
  }
  return nullptr;
}

std::string gateway_of(const View& view, const Allocation& held) {
  const Network* network = view.reg.find(held.status.network);
  if (!network || network->status.segments.empty()) return "";
  const std::string& text = network->status.segments.front().gateway;
  return text.substr(0, text.find('/'));
}

void add_members(const View& view, const ClusterId& id, ProbePlan& plan) {
  const Cluster* cluster = view.reg.find(id);
  const Allocation* held = cluster ? view.reg.find(cluster->status.allocation) : nullptr;
  if (!held) return;
  for (const auto& member : held->status.nodes) {
    const Node* node = view.reg.find(member.node);
    if (!node || member.role == MemberRole::spare || member.role == MemberRole::leaving) continue;
    const std::string label = "node " + node->meta.name + ": ";
    const Port* port = port_named(*node, member.interface);
    if (!member.attached || !member.joined) {
      plan.left_out.push_back(label + std::string(joins_still));
    } else if (!is_present(view, member.node)) {
      plan.left_out.push_back(label + "was not heard lately");
    } else if (!port) {
      plan.left_out.push_back(label + "has no port " + member.interface);
    } else {
      ProbeParticipant one;
      one.id = member.node.str() + "/" + member.interface;
      one.node = member.node;
      one.name = node->meta.name;
      one.cluster = id;
      one.probe.self = one.id;
      one.probe.interface = member.interface;
      one.address = member.address;
      one.probe.targets.push_back({one.id, member.address, port->mac});
      one.probe.gateway = gateway_of(view, *held);
      one.switch_name = port->switch_name;
      plan.participants.push_back(std::move(one));
    }
  }
}

Sightings gather(const ProbePlan& plan, const std::map<std::string, ProbeAnswer>& answers) {
  Sightings out;
  std::map<std::string, const ProbeParticipant*> by_id;
  for (const auto& one : plan.participants) by_id[one.id] = &one;
  for (const auto& one : plan.participants) {
    const auto answer = answers.find(one.id);
    if (answer == answers.end() || !answer->second.answered) continue;
    for (const auto& sighting : answer->second.seen.received) {
      const auto sender = by_id.find(sighting.sender);
      if (sender == by_id.end()) continue;
      out.by_way[sighting.way].insert({sender->second->id, one.id});
      if (sender->second->cluster != one.cluster || one.cluster.empty()) continue;
      out.was_heard[sighting.way].insert(sender->second->id);
      out.heard_own[sighting.way].insert(one.id);
    }
  }
  return out;
}

ProbeWayResult judge_way(const ProbePlan& plan, const Sightings& all, ProbeWay way,
                         const ClusterId& from, const ClusterId& to) {
  ProbeWayResult result;
  result.way = way;
  std::string leaks, doubts;
  bool any = false;
  for (const auto& sender : plan.participants) {
    for (const auto& listener : plan.participants) {
      const bool pair =
          sender.cluster == from && listener.cluster == to && sender.node != listener.node;
      if (!pair) continue;
      any = true;
      if (all.passed(way, sender, listener)) {
        leaks += (leaks.empty() ? "" : ", ") + sender.name + " to " + listener.name;
      } else if (!all.was_heard_by_own(way, sender)) {
        doubts = sender.name + " was heard by nobody of its own cluster";
      } else if (!all.heard_its_own(way, listener)) {
        doubts = listener.name + " heard nobody of its own cluster";
      }
    }
  }
  if (!leaks.empty()) {
    result.cell = ProbeCell::open;
    result.detail = leaks;
  } else if (!any) {
    result.detail = "no two nodes took part";
  } else if (!doubts.empty()) {
    result.detail = doubts;
  } else {
    result.cell = ProbeCell::closed;
  }
  return result;
}

ProbePair judge_pair(const Registry& reg, const ProbePlan& plan, const Sightings& all,
                     const ClusterId& from, const ClusterId& to) {
  ProbePair pair;
  pair.from = cluster_label(reg, from);
  pair.to = cluster_label(reg, to);
  pair.same = from == to;
  bool any_open = false, all_closed = true;
  for (int way = 0; way < probe_ways; ++way) {
    pair.ways.push_back(judge_way(plan, all, static_cast<ProbeWay>(way), from, to));
    any_open = any_open || pair.ways.back().cell == ProbeCell::open;
    all_closed = all_closed && pair.ways.back().cell == ProbeCell::closed;
  }
  pair.good = pair.same ? any_open : all_closed;
  return pair;
}

void add_services(const Registry& reg, const ProbePlan& plan,
                  const std::map<std::string, ProbeAnswer>& answers, ProbeMatrix& matrix) {
  std::map<std::pair<std::string, std::string>, ProbeServiceResult> found;
  for (const auto& one : plan.participants) {
    const auto answer = answers.find(one.id);
    if (answer == answers.end() || !answer->second.answered) continue;
    for (const auto& service : answer->second.seen.services) {
      const std::string cluster = cluster_label(reg, one.cluster);
      ProbeServiceResult& result = found[{cluster, service.name}];
      result.cluster = cluster;
      result.service = service.name;
      for (const auto& asked : one.probe.services) {
        if (asked.name == service.name) result.closed_to_all = closed_to_all(reg, asked.address);
      }
      if (service.reach == ProbeReach::reached) result.reached.push_back(one.name);
      if (service.reach == ProbeReach::refused) result.refused.push_back(one.name);
      if (service.reach == ProbeReach::silent) result.silent.push_back(one.name);
    }
  }
  for (auto& [key, result] : found) matrix.services.push_back(std::move(result));
}

std::vector<ProbeSender> senders_of(const Registry& reg, const ProbePlan& plan) {
  std::vector<ProbeSender> out;
  const auto count = [](const auto& list) { return static_cast<int>(list.size()); };
  for (const auto& one : plan.participants) {
    const NetProbe& probe = one.probe;
    out.push_back({one.name, cluster_label(reg, one.cluster), probe.interface, one.address,
                   count(probe.targets), count(probe.services), count(probe.out_of_band),
                   count(probe.exports)});
  }
  return out;
}

}  // namespace

std::string cluster_label(const Registry& reg, const ClusterId& id) {
  const Cluster* cluster = reg.find(id);
  if (id.empty()) return std::string(outside_label);
  if (!cluster) return id.str();
  const Tenant* tenant = reg.find(cluster->meta.tenant);
  return (tenant ? tenant->meta.name : cluster->meta.tenant.str()) + "/" + cluster->meta.name;
}

ProbeMatrix rehearse_probe(const Registry& reg, const ProbePlan& plan) {
  ProbeMatrix matrix;
  matrix.left_out = plan.left_out;
  matrix.senders = senders_of(reg, plan);
  return matrix;
}

ProbePlan plan_probe(const View& view, const std::vector<ClusterId>& clusters,
                     const std::string& token, const std::vector<ProbeService>& services) {
  ProbePlan plan;
  for (const auto& id : clusters) add_members(view, id, plan);
  plan_leaf(view, plan);
  add_outside(view, plan);
  std::vector<ProbeTarget> everybody;
  for (auto& one : plan.participants) {
    everybody.push_back(one.probe.targets.front());
    one.probe.targets.clear();
  }
  for (auto& one : plan.participants) {
    one.probe.token = token;
    if (!one.cluster.empty()) one.probe.services = services;
    one.probe.tcp_port = probe_port;
    for (std::size_t i = 0; i < everybody.size(); ++i) {
      // Of two nodes outside nobody asks whether they see each other.
      const bool both_out = one.cluster.empty() && plan.participants[i].cluster.empty();
      if (everybody[i].node != one.probe.self && !both_out) {
        one.probe.targets.push_back(everybody[i]);
      }
    }
  }
  plan_out_of_band(view, plan);
  plan_exports(view, plan);
  return plan;
}

ProbeMatrix judge_probe(const Registry& reg, const ProbePlan& plan,
                        const std::map<std::string, ProbeAnswer>& answers) {
  ProbeMatrix matrix;
  matrix.left_out = plan.left_out;
  for (const auto& one : plan.participants) {
    const auto answer = answers.find(one.id);
    if (answer != answers.end() && answer->second.answered) continue;
    if (one.cluster.empty()) continue;  // its switch's word stands for it, or its cells are unknown
    const std::string why = answer == answers.end() ? "gave no answer" : answer->second.fault;
    matrix.left_out.push_back("node " + one.name + ": " + why);
  }
  const Sightings all = gather(plan, answers);
  std::vector<ClusterId> clusters;
  for (const auto& one : plan.participants) {
    const bool known = std::find(clusters.begin(), clusters.end(), one.cluster) != clusters.end();
    if (!known && !one.cluster.empty()) clusters.push_back(one.cluster);
  }
  for (const auto& from : clusters) {
    for (const auto& to : clusters) {
      matrix.pairs.push_back(judge_pair(reg, plan, all, from, to));
    }
  }
  judge_outside(reg, plan, answers, all, matrix);
  matrix.leaf = judge_leaf(reg, plan, answers);
  matrix.out_of_band = judge_out_of_band(plan, answers);
  matrix.storage = judge_exports(reg, plan, answers);
  add_services(reg, plan, answers, matrix);
  matrix.senders = senders_of(reg, plan);
  conclude_probe(matrix);
  return matrix;
}

}  // namespace tundish::control::network
