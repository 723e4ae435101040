#include "control/network/probe_outside.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "control/network/reconcile_switch.hpp"

namespace tundish::control::network {
namespace {

/// In nobody's network, and on its way into none.
bool is_outside(const Registry& reg, const Node& node) {
  if (node.status.allocation.empty()) return true;
  const Allocation* held = reg.find(node.status.allocation);
  return held && std::any_of(held->status.nodes.begin(), held->status.nodes.end(),
                             [&](const AllocationNode& member) {
                               return member.node == node.id && member.role == MemberRole::spare &&
                                      !member.attached;
                             });
}

const Port* access_port(const Node& node) {
  for (const auto& port : node.spec.ports) {
    if (port.role == PortRole::access && !port.switch_name.empty()) return &port;
  }
  return nullptr;
}

/// "in quarantine on leaf1"; empty: not seen lately, or not so.
std::string shut_word(const View& view, const Port& port) {
  const auto seen = view.seen.ports.find({port.switch_name, port.switch_port});
  if (seen == view.seen.ports.end() || !seen->second.segment.empty()) return "";
  if (view.now - seen->second.at > stale_after) return "";
  return "in quarantine on " + port.switch_name;
}

/// From the range for tests between devices: nobody's. Source: RFC 2544, appendix C.2.2; RFC 6890.
std::string address_of(std::size_t index) {
  return "198.18." + std::to_string(index / 250) + "." + std::to_string(index % 250 + 1);
}

/// One node outside, as far as a run tells: what it proves of it as a sender and as a listener.
class Outside {
 public:
  Outside(const ProbeParticipant& one, const ProbeAnswer* answer) : one_(one), answer_(answer) {}

  const ProbeParticipant& node() const { return one_; }
  bool has_no_link() const { return answered() && answer_->seen.link == ProbeLink::down; }
  /// Why its silence proves nothing; empty: it does.
  std::string doubt_as_sender() const {
    if (stands_alone()) return "";
    if (!answered()) return one_.name + " took no part, and its port was not seen shut";
    return answer_->seen.sent > 0 ? "" : one_.name + " could not send";
  }
  std::string doubt_as_listener() const {
    if (stands_alone()) return "";
    if (!answered()) return one_.name + " took no part, and its port was not seen shut";
    return answer_->seen.heard_self > 0 ? "" : one_.name + " heard nothing, not even itself";
  }
  /// Nothing passes its port, whoever sends and listens.
  bool stands_alone() const { return has_no_link() || (!answered() && !one_.shut.empty()); }

 private:
  bool answered() const { return answer_ && answer_->answered; }
  const ProbeParticipant& one_;
  const ProbeAnswer* answer_;
};

struct Cell {
  std::vector<std::string> open;
  std::string doubt;
  bool any = false;

  ProbeWayResult result(ProbeWay way) const {
    ProbeWayResult out;
    out.way = way;
    if (!open.empty()) {
      out.cell = ProbeCell::open;
      out.detail = join(open, ", ");
    } else if (!any) {
      out.detail = "no two nodes took part";
    } else if (!doubt.empty()) {
      out.detail = doubt;
    } else {
      out.cell = ProbeCell::closed;
    }
    return out;
  }
};

enum class Direction { out_of_cluster, into_cluster };

class Judge {
 public:
  Judge(const Registry& reg, const ProbePlan& plan,
        const std::map<std::string, ProbeAnswer>& answers, const Sightings& all)
      : plan_(plan), all_(all) {
    const auto add = [&](const ProbeParticipant& one) {
      // Who was let into a network during the run is seen there, and rightly.
      const Node* node = reg.find(one.node);
      if (node && !is_outside(reg, *node)) return;
      const auto found = answers.find(one.id);
      outside_.emplace_back(one, found == answers.end() ? nullptr : &found->second);
    };
    for (const auto& one : plan.participants) {
      if (one.cluster.empty()) add(one);
    }
    for (const auto& one : plan.beside) add(one);
  }
  bool empty() const { return outside_.empty(); }

  ProbePair pair(const Registry& reg, const ClusterId& cluster, Direction direction) const {
    ProbePair out;
    out.from = cluster_label(reg, cluster);
    out.to = std::string(outside_label);
    if (direction == Direction::into_cluster) std::swap(out.from, out.to);
    out.good = true;
    for (int way = 0; way < probe_ways; ++way) {
      out.ways.push_back(judge(static_cast<ProbeWay>(way), cluster, direction));
      out.good = out.good && out.ways.back().cell == ProbeCell::closed;
    }
    return out;
  }

 private:
  ProbeWayResult judge(ProbeWay way, const ClusterId& cluster, Direction direction) const {
    Cell cell;
    for (const auto& member : plan_.participants) {
      if (member.cluster != cluster) continue;
      for (const auto& other : outside_) {
        cell.any = true;
        if (direction == Direction::out_of_cluster) {
          judge_out(way, member, other, cell);
        } else {
          judge_in(way, other, member, cell);
        }
      }
    }
    return cell.result(way);
  }

  void judge_out(ProbeWay way, const ProbeParticipant& sender, const Outside& listener,
                 Cell& cell) const {
    if (all_.passed(way, sender, listener.node())) {
      cell.open.push_back(sender.name + " to " + listener.node().name);
    } else if (std::string doubt = listener.doubt_as_listener(); !doubt.empty()) {
      cell.doubt = std::move(doubt);
    } else if (!listener.stands_alone() && !all_.was_heard_by_own(way, sender)) {
      cell.doubt = sender.name + " was heard by nobody of its own cluster";
    }
  }

  void judge_in(ProbeWay way, const Outside& sender, const ProbeParticipant& listener,
                Cell& cell) const {
    if (all_.passed(way, sender.node(), listener)) {
      cell.open.push_back(sender.node().name + " to " + listener.name);
    } else if (std::string doubt = sender.doubt_as_sender(); !doubt.empty()) {
      cell.doubt = std::move(doubt);
    } else if (!sender.stands_alone() && !all_.heard_its_own(way, listener)) {
      cell.doubt = listener.name + " heard nobody of its own cluster";
    }
  }

  const ProbePlan& plan_;
  const Sightings& all_;
  std::vector<Outside> outside_;
};

}  // namespace

void add_outside(const View& view, ProbePlan& plan) {
  if (plan.participants.empty()) return;
  std::size_t count = 0;
  for (const auto& [id, node] : view.reg.all<Node>()) {
    const bool outside = is_outside(view.reg, node);
    const Port* port = outside && node.spec.role != NodeRole::service ? access_port(node) : nullptr;
    if (!port) continue;
    ProbeParticipant one;
    one.id = id.str() + "/" + port->name;
    one.node = id;
    one.name = node.meta.name;
    one.switch_name = port->switch_name;
    one.shut = shut_word(view, *port);
    one.probe.self = one.id;
    one.probe.interface = port->name;
    // Frames to one whose MAC is not known would reach nobody, which proves nothing.
    if (!is_present(view, id) || port->mac.empty() || count >= most_outside) {
      plan.beside.push_back(std::move(one));
      continue;
    }
    one.address = address_of(count++);
    one.probe.address = one.address;
    one.probe.targets.push_back({one.id, one.address, port->mac});
    plan.participants.push_back(std::move(one));
  }
}

void judge_outside(const Registry& reg, const ProbePlan& plan,
                   const std::map<std::string, ProbeAnswer>& answers, const Sightings& all,
                   ProbeMatrix& matrix) {
  const Judge judge(reg, plan, answers, all);
  if (judge.empty()) return;
  std::vector<ClusterId> clusters;
  for (const auto& one : plan.participants) {
    const bool known = std::find(clusters.begin(), clusters.end(), one.cluster) != clusters.end();
    if (!known && !one.cluster.empty()) clusters.push_back(one.cluster);
  }
  for (const auto& id : clusters) {
    matrix.pairs.push_back(judge.pair(reg, id, Direction::out_of_cluster));
    matrix.pairs.push_back(judge.pair(reg, id, Direction::into_cluster));
  }
}

}  // namespace tundish::control::network
