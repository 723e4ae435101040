#include "control/health/reconcile_health.hpp"

#include <algorithm>
#include <map>

#include "control/health/blame_parts.hpp"
#include "control/health/gather.hpp"
#include "control/network/isolation.hpp"
#include "model/ops/blame_ops.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control::health {
namespace {

/// So long nothing must be seen before an incident on a shared part is over.
constexpr Duration quiet_time = seconds(30);

/// The first repair that may help; the policy decides what is done.
FaultAction action_for(Resource part) {
  switch (part) {
    case Resource::gpu:
    case Resource::gpu_memory:
    case Resource::nvlink:
    case Resource::nvswitch: return FaultAction::reset;
    case Resource::pcie:
    case Resource::nic:
    case Resource::cpu:
    case Resource::memory:
    case Resource::disk:
    case Resource::storage_client:
    case Resource::service: return FaultAction::reboot;
    default: return FaultAction::none;
  }
}

/// What incidents that the kernel log opened are about.
bool is_of_gpu(Resource part) {
  return part == Resource::gpu || part == Resource::gpu_memory || part == Resource::nvlink;
}

bool is_in_maintenance(const View& view, const NodeId& node) {
  for (const auto& id : view.reg.windows_of(node)) {
    const Maintenance* found = view.reg.find(id);
    const bool on = found && (found->state == MaintenanceState::active ||
                              found->state == MaintenanceState::revalidating);
    if (on) return true;
  }
  return false;
}

/// When what is over ended: a person, or a repair that passed, answered a symptom, and it is not
/// asked again before it went away and came back.
class Ended {
 public:
  explicit Ended(const Registry& reg) {
    for (const auto& [id, incident] : reg.all<Incident>()) {
      const auto state = incident.state;
      if (state == IncidentState::open || state == IncidentState::rma) continue;
      const Resource part = incident.blamed ? incident.blamed->part : Resource::unknown;
      Instant& at = incident.node.empty() ? shared_[{incident.subject_kind, incident.subject, part}]
                                          : nodes_[{incident.node, part}];
      // What we ended ourselves was not answered by anybody.
      const bool by_us = incident.node.empty() && state == IncidentState::resolved;
      if (!by_us) at = std::max(at, incident.resolved_at);
      if (by_us) note_shared(incident, incident.resolved_at - quiet_time);
    }
  }
  /// When a shared part that explained the same on the node was last in trouble: nodes recover one
  /// after the other, and the last one is not broken for that.
  Instant shared_until(const Finding& finding) const {
    Instant until;
    for (const auto& [key, at] : hit_) {
      const bool explains = key.first == finding.node &&
                            find_cause(key.second, finding.symptom, Reach::users) != nullptr;
      if (explains) until = std::max(until, at);
    }
    return until;
  }
  /// As of an incident on a shared part: its nodes, and until when it stood.
  void note_shared(const Incident& incident, Instant until) {
    if (!incident.blamed) return;
    for (const auto& node : incident.affected) {
      Instant& at = hit_[{node, incident.blamed->part}];
      at = std::max(at, until);
    }
  }
  /// When the cause of the finding was mended, of one whose symptoms came late: a check looks once
  /// a minute, so that what it counted may be of the time before.
  Instant mended(const Finding& finding) const {
    Instant at;
    if (!finding.cause_first.is_set()) return at;
    for (const Resource part : {finding.blame.part, Resource::unknown}) {
      const auto found = nodes_.find({finding.node, part});
      if (found != nodes_.end() && found->second >= finding.cause_first) {
        at = std::max(at, found->second);
      }
    }
    return at;
  }
  bool answers(const Finding& finding) const {
    const auto by_part = nodes_.find({finding.node, finding.blame.part});
    const auto by_any = nodes_.find({finding.node, Resource::unknown});
    return (by_part != nodes_.end() && by_part->second >= finding.first) ||
           (by_any != nodes_.end() && by_any->second >= finding.first);
  }
  bool dismisses(const Finding& finding) const {
    const Blame& blame = finding.blame;
    const auto found = shared_.find({blame.subject_kind, blame.object, blame.part});
    return found != shared_.end() && found->second.is_set() && found->second >= finding.first;
  }

 private:
  std::map<std::pair<NodeId, Resource>, Instant> nodes_;
  std::map<std::tuple<SubjectKind, std::string, Resource>, Instant> shared_;
  std::map<std::pair<NodeId, Resource>, Instant> hit_;
};

BlamedOrder order_for(const Finding& finding) {
  BlamedOrder order;
  order.blame = finding.blame;
  order.fault = fault_text(finding);
  order.affected = finding.affected;
  order.detected_at = finding.first;
  if (!finding.claims) return order;
  order.node = finding.node;
  order.action = action_for(finding.blame.part);
  order.device = finding.device;
  return order;
}

class Reconciler {
 public:
  Reconciler(const View& view, const std::set<NodeId>& unwell)
      : view_(view), unwell_(unwell), ended_(view.reg) {
    for (const auto& id : view.reg.incidents_on({})) {
      const Incident* open = view.reg.find(id);
      const Instant quiet = quiet_since(*open);
      ended_.note_shared(*open, quiet.is_set() ? quiet : view.now);
    }
  }

  Outcome run() {
    const Evidence evidence = gather(view_, unwell_);
    if (evidence.wake_at.is_set()) out_.wake(evidence.wake_at);
    const auto findings = blame(evidence.sightings, evidence.topology, view_.now);
    for (const auto& finding : findings) take(finding);
    end_what_is_over();
    mark_nodes();
    // What rests on events ends by age alone.
    if (!findings.empty()) out_.wake(view_.now + quiet_time);
    out_.reason = std::to_string(findings.size()) + " causes";
    return std::move(out_);
  }

 private:
  void take(const Finding& finding) {
    if (finding.wake_at > view_.now) out_.wake(finding.wake_at);
    if (!finding.settled) {
      note_symptom(finding, "settles by " + render_utc(finding.wake_at));
    } else if (finding.claims) {
      take_node(finding);
    } else if (finding.blame.rule == "undecided" && finding.wake_at > view_.now) {
      note_symptom(finding,
                   "until " + render_utc(finding.wake_at) + " other users may still show it");
    } else {
      take_shared(finding);
    }
  }

  void take_node(const Finding& finding) {
    const auto& open = view_.reg.incidents_on(finding.node);
    if (!open.empty()) {  // out of service already: one incident, one more witness
      const Incident* known = view_.reg.find(*open.begin());
      const bool same =
          known->blamed ? known->blamed->part == finding.blame.part : is_of_gpu(finding.blame.part);
      if (same && known->state == IncidentState::open) {
        out_.operations.push_back(add_blame(known->id, finding.blame));
      }
      return;
    }
    if (is_in_maintenance(view_, finding.node) || ended_.answers(finding)) return;
    const Instant shared = finding.local ? Instant{} : ended_.shared_until(finding);
    if (waits_for(finding, shared, "what it shares was in trouble a moment ago")) return;
    const Instant mended = finding.local ? Instant{} : ended_.mended(finding);
    if (waits_for(finding, mended, "its cause was mended a moment ago")) return;
    out_.operations.push_back(open_blamed(order_for(finding)));
  }

  bool waits_for(const Finding& finding, Instant trouble, const std::string& why) {
    const Instant own_at = trouble + BlameTimes{}.look;
    if (!trouble.is_set() || own_at < view_.now) return false;
    // Evaluated once more when the log of before counts no longer.
    out_.wake(own_at + milliseconds(1));
    note_symptom(finding, why);
    return true;
  }

  void take_shared(const Finding& finding) {
    if (const Incident* known = find_blamed(view_.reg, finding.blame)) standing_.insert(known->id);
    if (ended_.dismisses(finding)) return;
    if (finding.blame.subject_kind != SubjectKind::node) take_back(finding);
    out_.operations.push_back(open_blamed(order_for(finding)));
    const bool cut_off = finding.blame.subject_kind == SubjectKind::network_switch ||
                         finding.blame.subject_kind == SubjectKind::domain ||
                         finding.blame.subject_kind == SubjectKind::rack;
    if (cut_off && finding.blame.part != Resource::link) {
      note_symptom(finding, "by " + subject_text(finding.blame) + " it cannot serve");
    }
  }

  /// Nodes that were claimed for what turns out to be shared, unless they left their tenant.
  void take_back(const Finding& finding) {
    for (const auto& id : finding.affected) {
      for (const auto& incident_id : view_.reg.incidents_on(id)) {
        const Incident* known = view_.reg.find(incident_id);
        const Node* node = view_.reg.find(id);
        if (!known || !node || known->state != IncidentState::open || !known->blamed) continue;
        const bool guessed = known->blamed->rule == "alone" || known->blamed->rule == "only_part";
        const bool explained =
            find_cause(finding.blame.part, known->blamed->part, Reach::users) != nullptr;
        const bool early = node->status.allocation == known->allocation && !has_left(*node);
        if (!guessed || !explained || !early) continue;
        out_.operations.push_back(end_blamed(incident_id, "it is " + subject_text(finding.blame)));
      }
    }
  }

  bool has_left(const Node& node) const {
    const Allocation* held = view_.reg.find(node.status.allocation);
    if (!held) return node.status.phase != NodePhase::ready;
    return std::any_of(held->status.nodes.begin(), held->status.nodes.end(),
                       [&](const AllocationNode& member) {
                         return member.node == node.id && member.role == MemberRole::leaving;
                       });
  }

  /// Most of its nodes are not heard: that nothing of it is seen says nothing.
  bool is_out_of_sight(const Incident& incident) const {
    const auto heard = std::count_if(incident.affected.begin(), incident.affected.end(),
                                     [&](const NodeId& id) { return is_present(view_, id); });
    return heard * 2 < static_cast<std::ptrdiff_t>(incident.affected.size());
  }

  void end_what_is_over() {
    for (const auto& id : view_.reg.incidents_on({})) {
      const Incident* incident = view_.reg.find(id);
      if (!incident || !incident->blamed || standing_.contains(id)) continue;
      if (incident->blamed->rule == network::isolation_rule) continue;  // its own look ends it
      if (is_out_of_sight(*incident)) continue;
      const Instant since = quiet_since(*incident);
      if (!since.is_set()) {
        out_.operations.push_back(quiet_blamed(id));
        out_.wake(view_.now + quiet_time);
      } else if (since + quiet_time > view_.now) {
        out_.wake(since + quiet_time);
      } else {
        out_.operations.push_back(end_blamed(id, "nothing of it was seen for 30 s"));
      }
    }
  }

  void note_symptom(const Finding& finding, const std::string& wait) {
    for (const auto& id : finding.affected) {
      std::string& reason = symptoms_[id];
      if (!reason.empty()) continue;  // findings come in a fixed order: the first one speaks
      reason = fault_text(finding) + "; whose it is: " + wait;
    }
  }

  void mark_nodes() {
    for (const auto& [id, reason] : symptoms_) {
      const Node* node = view_.reg.find(id);
      const Condition* known = node ? find_condition(*node, symptom_condition) : nullptr;
      if (node && (!known || known->reason != reason)) {
        out_.operations.push_back(set_symptom(id, reason));
      }
    }
    for (const auto& id : unwell_) {
      const Node* node = view_.reg.find(id);
      if (node && !symptoms_.contains(id) && find_condition(*node, symptom_condition)) {
        out_.operations.push_back(clear_symptom(id));
      }
    }
  }

  const View& view_;
  const std::set<NodeId>& unwell_;
  Ended ended_;
  Outcome out_;
  std::set<IncidentId> standing_;
  std::map<NodeId, std::string> symptoms_;
};

}  // namespace

std::string fault_text(const Finding& finding) {
  switch (finding.blame.part) {
    case Resource::cpu: return "short of CPU";
    case Resource::memory: return "memory";
    case Resource::storage_server: return "storage does not answer";
    case Resource::storage_client: return "storage client";
    case Resource::leaf: return "switch";
    case Resource::link: return "link";
    case Resource::nvswitch: return "NVLink fabric";
    case Resource::process: return "program fault on all nodes of a job";
    case Resource::service:
      return finding.blame.subject_kind == SubjectKind::engine ? "engine does not answer"
                                                               : "service";
    default: return part_text(finding.blame.part);
  }
}

Outcome reconcile_health(const View& view, const std::set<NodeId>& unwell) {
  return Reconciler(view, unwell).run();
}

}  // namespace tundish::control::health
