#include "control/health/reconcile_health.hpp"

#include <algorithm>
#include <map>

#include "control/fault/policy.hpp"
#include "control/health/blame_parts.hpp"
#include "control/health/gather.hpp"
#include "control/health/sightings.hpp"
#include "control/network/isolation.hpp"
#include "model/ops/blame_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/rma_ops.hpp"

namespace tundish::control::health {
namespace {

/// So long nothing must be seen before an incident on a shared part is over.
constexpr Duration quiet_time = seconds(30);

/// While it is not known whether a switch answers.
constexpr Duration ask_again = seconds(3);

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
    case Resource::cooling: return FaultAction::power_off;
    default: return FaultAction::none;
  }
}

/// A repair of a GPU is one of its memory and its links, whichever of them was blamed.
Resource repaired_with(Resource part) { return is_gpu_part(part) ? Resource::gpu : part; }

/// What a node's incident was about: what the kernel log opens is a GPU's, and checks that failed
/// may have been about anything.
Resource part_of(const Incident& incident) {
  if (incident.blamed) return incident.blamed->part;
  return incident.witnesses.empty() ? Resource::unknown : Resource::gpu;
}

/// The GPUs that it is about; empty: all of the node.
std::set<std::string> devices_of(const RemediationPolicy& policy, const Incident& incident) {
  std::set<std::string> out;
  for (const auto& entry : incident.timeline) {
    const auto state = policy.states.find(entry.what);
    const bool restarts = state != policy.states.end() && is_power_action(state->second.action);
    if (restarts && !entry.key.empty() && entry.outcome == StepOutcome::done) return {};
  }
  if (!incident.device.empty()) out.insert(incident.device);
  for (const auto& witness : incident.witnesses) {
    if (!witness.event.device.empty()) out.insert(witness.event.device);
  }
  return out;
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
  /// Of nodes that are well nothing is asked.
  Ended(const View& view, const std::set<NodeId>& unwell) {
    for (const auto& [id, incident] : view.reg.all<Incident>()) {
      const auto state = incident.state;
      if (state == IncidentState::open || state == IncidentState::rma) continue;
      if (!incident.node.empty()) {
        if (unwell.contains(incident.node)) note_node(view, incident);
        continue;
      }
      // What we ended ourselves was not answered by anybody.
      const Resource part = incident.blamed ? incident.blamed->part : Resource::unknown;
      const bool by_us = state == IncidentState::resolved;
      Instant& at = shared_[{incident.subject_kind, incident.subject, part}];
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
    const Instant last = answered_until(finding);
    return last >= finding.cause_first ? last : at;
  }
  bool answers(const Finding& finding) const {
    const Instant last = answered_until(finding);
    return last.is_set() && last >= finding.first;
  }
  bool dismisses(const Finding& finding) const {
    const Blame& blame = finding.blame;
    const auto found = shared_.find({blame.subject_kind, blame.object, blame.part});
    return found != shared_.end() && found->second.is_set() && found->second >= finding.first;
  }

 private:
  void note_node(const View& view, const Incident& incident) {
    const Resource part = part_of(incident);
    auto& by_device = nodes_[{incident.node, repaired_with(part)}];
    auto devices = devices_of(view.policy, incident);
    if (devices.empty() || !(part == Resource::unknown || is_gpu_part(part))) devices = {""};
    // Who resumes it may be quicker than the checks, which then tell of the same once more.
    const bool resumed = incident.state == IncidentState::overridden;
    const Instant until = incident.resolved_at + (resumed ? BlameTimes{}.look : Duration{});
    for (const auto& device : devices) {
      by_device[device] = std::max(by_device[device], until);
    }
  }
  /// When the last incident on the part ended that was about the finding's device, or about all.
  Instant answered_until(const Finding& finding) const {
    Instant out;
    const bool of_gpu = is_gpu_part(finding.blame.part) && !finding.device.empty();
    for (const Resource part : {repaired_with(finding.blame.part), Resource::unknown}) {
      const auto found = nodes_.find({finding.node, part});
      if (found == nodes_.end()) continue;
      for (const auto& [device, at] : found->second) {
        const bool other = of_gpu && !device.empty() && device != finding.device;
        if (!other) out = std::max(out, at);
      }
    }
    return out;
  }

  /// Device -> when; "": every one.
  std::map<std::pair<NodeId, Resource>, std::map<std::string, Instant>> nodes_;
  std::map<std::tuple<SubjectKind, std::string, Resource>, Instant> shared_;
  std::map<std::pair<NodeId, Resource>, Instant> hit_;
};

/// A driver that hangs cannot be asked to reset anything.
bool hangs(const Blame& blame) {
  return std::any_of(blame.evidence.begin(), blame.evidence.end(), [](const auto& line) {
    return line.what == "gpu_answers" && line.part == Resource::gpu;
  });
}

BlamedOrder order_for(const Finding& finding) {
  BlamedOrder order;
  order.blame = finding.blame;
  order.fault = fault_text(finding);
  order.affected = finding.affected;
  order.detected_at = finding.first;
  if (!finding.claims) return order;
  order.node = finding.node;
  order.action =
      hangs(finding.blame) ? FaultAction::reboot : action_for(finding.blame.part);
  order.device = finding.device;
  // No job outlives these.
  order.device_lost = finding.blame.part == Resource::cooling || hangs(finding.blame);
  return order;
}

class Reconciler {
 public:
  Reconciler(const View& view, const std::set<NodeId>& unwell)
      : view_(view), unwell_(unwell), ended_(view, unwell) {
    for (const auto& id : view.reg.incidents_on({})) {
      const Incident* open = view.reg.find(id);
      const Instant quiet = quiet_since(*open);
      ended_.note_shared(*open, quiet.is_set() ? quiet : view.now);
    }
  }

  Outcome run() {
    const Evidence evidence = gather(view_, unwell_);
    if (evidence.wake_at.is_set()) out_.wake(evidence.wake_at);
    findings_ = blame(evidence.sightings, evidence.topology, view_.now);
    for (const auto& finding : findings_) take(finding);
    end_what_is_over();
    mark_nodes();
    // What rests on events ends by age alone.
    if (!findings_.empty()) out_.wake(view_.now + quiet_time);
    out_.reason = std::to_string(findings_.size()) + " causes";
    return std::move(out_);
  }

 private:
  void take(const Finding& finding) {
    if (finding.wake_at > view_.now) out_.wake(finding.wake_at);
    if (!finding.settled) {
      // What is told of already stands; a look that settles it wakes nobody by itself.
      if (finding.node.empty() && finding.blame.rule != "undecided") {
        const Incident* known = find_blamed(view_.reg, finding.blame);
        if (known) standing_.insert(known->id);
        out_.wake(view_.now + ask_again);
      }
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
          known->blamed ? known->blamed->part == finding.blame.part
                        : is_gpu_part(finding.blame.part) && !ended_.answers(finding);
      if (same && known->state == IncidentState::open) {
        out_.operations.push_back(add_blame(known->id, finding.blame));
      } else if (finding.blame.part == Resource::cooling) {
        out_.operations.push_back(raise_blamed(known->id, order_for(finding)));
      }
      return;
    }
    if (find_at_vendor(view_.reg, finding.node)) return;
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

  /// Whether the node can say that it is over: one whose port we just moved will in a moment.
  bool is_heard_of(const Incident& incident, const NodeId& id) const {
    if (!is_present(view_, id)) return false;
    const Node* node = view_.reg.find(id);
    if (!node || incident.blamed->part != Resource::leaf) return true;
    const Instant speaks = speaks_of_leaf(view_, *node, incident.subject);
    return speaks == never || speaks <= view_.now;
  }

  /// Most of its nodes are not heard: that nothing of it is seen says nothing.
  bool is_out_of_sight(const Incident& incident) const {
    if (incident.blamed->part == Resource::cooling) {
      return std::any_of(incident.affected.begin(), incident.affected.end(), [&](const NodeId& id) {
        const Node* node = view_.reg.find(id);
        return node && std::any_of(node->status.bmc_verdicts.begin(),
                                   node->status.bmc_verdicts.end(), [](const Verdict& verdict) {
                                     return verdict.watches == Resource::cooling &&
                                            verdict.state == VerdictState::unknown;
                                   });
      });
    }
    const auto heard = std::count_if(incident.affected.begin(), incident.affected.end(),
                                     [&](const NodeId& id) { return is_heard_of(incident, id); });
    return heard * 2 < static_cast<std::ptrdiff_t>(incident.affected.size());
  }

  /// The switch that an incident's symptoms turned out to be of: one cause is one incident.
  const Finding* find_behind(const Incident& incident) const {
    const Resource part = incident.blamed->part;
    const auto found = std::find_if(findings_.begin(), findings_.end(), [&](const Finding& one) {
      if (one.blame.part != Resource::leaf || !one.settled) return false;
      if (one.blame.rule == "undecided") return false;
      const bool port = part == Resource::link &&
                        incident.subject.starts_with(one.blame.object + "/");
      const bool own = one.blame.rule == "own_word" &&
                       (part == Resource::leaf || part == Resource::storage_server);
      if (!port && !own) return false;
      return std::includes(one.affected.begin(), one.affected.end(), incident.affected.begin(),
                           incident.affected.end());
    });
    return found == findings_.end() ? nullptr : &*found;
  }

  void end_what_is_over() {
    for (const auto& id : view_.reg.incidents_on({})) {
      const Incident* incident = view_.reg.find(id);
      if (!incident || !incident->blamed || standing_.contains(id)) continue;
      if (incident->blamed->rule == network::isolation_rule) continue;  // its own look ends it
      if (const Finding* behind = find_behind(*incident)) {
        out_.operations.push_back(end_blamed(id, "it is " + subject_text(behind->blame)));
        continue;
      }
      if (is_out_of_sight(*incident)) {
        out_.wake(view_.now + quiet_time);  // whose port we moved is not told of again
        continue;
      }
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
  std::vector<Finding> findings_;
  Outcome out_;
  std::set<IncidentId> standing_;
  std::map<NodeId, std::string> symptoms_;
};

}  // namespace

std::string fault_text(const Finding& finding) {
  switch (finding.blame.part) {
    case Resource::cooling: return "leak";
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
