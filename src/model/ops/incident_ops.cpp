#include "model/ops/incident_ops.hpp"

#include <algorithm>

#include "model/ops/drill_ops.hpp"
#include "model/ops/incident_parts.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/recent_events.hpp"
#include "model/ops/rma_ops.hpp"
#include "model/ops/witnessed_anew.hpp"

namespace tundish {
namespace {

constexpr std::size_t witnesses_kept = 50;
/// Further witnesses are only counted: a storm must not make an incident grow.
constexpr std::size_t timeline_kept = 200;
constexpr std::size_t boots_kept = 8;

std::string about(const IncidentId& id) { return "incident/" + id.str(); }

int severity(FaultAction action) {
  switch (action) {
    case FaultAction::none:
    case FaultAction::app:
    case FaultAction::trend:
    case FaultAction::by_text:
    case FaultAction::software: return 0;
    case FaultAction::fabric: return 1;
    case FaultAction::reset: return 2;
    case FaultAction::reboot: return 3;
    case FaultAction::power_off: return 5;
    case FaultAction::rma: return 4;
  }
  return 0;
}

FaultAction action_of(const std::string& name) {
  const auto names = enum_names(FaultAction{});
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? FaultAction::none : static_cast<FaultAction>(it - names.begin());
}

/// The node's open incident, when there is one that a further witness belongs to.
std::optional<Incident> open_incident(const Registry& view, const NodeId& node) {
  for (const auto& id : view.incidents_on(node)) {
    if (const Incident* found = view.find(id)) return *found;
  }
  return std::nullopt;
}

bool says_the_same(const Witness& a, const Witness& b) {
  return a.event.kind == b.event.kind && a.event.code == b.event.code &&
         a.event.device == b.event.device;
}

/// A storm of one fault leaves room for every other one: a repetition gives way to what is new.
void keep_witness(Incident& incident, const Witness& witness) {
  auto& kept = incident.witnesses;
  if (kept.size() < witnesses_kept) return kept.push_back(witness);
  const auto repeats = [&](const Witness& seen) {
    return std::any_of(kept.begin(), kept.end(), [&](const Witness& other) {
      return &other < &seen && says_the_same(other, seen);
    });
  };
  const bool known = std::any_of(kept.begin(), kept.end(), [&](const Witness& seen) {
    return says_the_same(seen, witness);
  });
  const auto last = known ? kept.rend() : std::find_if(kept.rbegin(), kept.rend(), repeats);
  if (last == kept.rend()) {
    incident.witnesses_dropped += witness.repeat;
    return;
  }
  incident.witnesses_dropped += last->repeat;
  kept.erase(std::next(last).base());
  kept.push_back(witness);
}

void extend(Incident& incident, const Witness& witness, const Judgement& judged, Instant now) {
  keep_witness(incident, witness);
  if (severity(judged.action) > severity(action_of(incident.action))) {
    incident.action = action_name(judged.action);
  }
  incident.device_lost = incident.device_lost || judged.device_lost;
  incident.hardware_witness = incident.hardware_witness || judged.hardware;
  if (judged.hardware) incident.last_witness_at = now;
  if (incident.device.empty()) incident.device = judged.device;
}

/// Who is accused. By a line that a tenant's root could have written nobody is: its node is proved.
std::string blame_of(const Node& node, const Judgement& judged) {
  const std::string of_node = "node " + node.meta.name;
  const std::string part =
      judged.device.empty() ? of_node : "GPU " + judged.device + " of " + of_node;
  if (judged.hardware) return part + ": " + judged.why;
  return "nobody: a line from user space names " + part + ", and nothing else saw it";
}

Incident open_for(Txn& txn, const NodeId& id, const Witness& witness, const Judgement& judged) {
  const Node node = *txn.view().find(id);
  Incident incident = new_incident(txn, node, judged.fault);
  incident.drill = use_drill(txn, id, {judged.fault, judged.device});
  incident.detected_at = witness.observed_at;
  incident.action = action_name(FaultAction::none);
  incident.blame = blame_of(node, judged);
  add_entry(incident, witness.observed_at, "detected", witness.event.text);
  add_entry(incident, txn.now(), "claimed", "node takes no new work");
  claim_for(txn, incident);
  return incident;
}

/// The node's incident as a batch of witnesses leaves it: written once, however many there are.
void apply_witness(Txn& txn, const NodeId& id, Witness witness, const Judgement& judged,
                   std::optional<Incident>& incident) {
  witness.node = id.str();
  if (!incident) {
    incident = open_for(txn, id, witness, judged);
  } else {
    join_drill(txn, *incident, {judged.fault, judged.device}, witness.provenance);
    if (incident->timeline.size() < timeline_kept) {
      add_entry(*incident, txn.now(), "witness", judged.fault + " " + judged.device);
    }
    // Now hardware says so as well.
    const bool first = judged.hardware && !incident->hardware_witness && !incident->blamed;
    if (first) incident->blame = blame_of(*txn.view().find(id), judged);
  }
  extend(*incident, witness, judged, txn.now());
}

/// The GPU that the failed checks are about, by the first of them that names one.
std::string device_of(const Node& node, const std::vector<Verdict>& failed) {
  for (const auto& verdict : failed) {
    for (const auto& gpu : node.status.hardware.gpus) {
      if (!verdict.device.empty() && gpu.pci == verdict.device) return verdict.device;
    }
  }
  return "";
}

/// More records than a log writes between two witnesses: 100,000 a minute for a month.
constexpr std::int64_t longest_jump = std::int64_t{1} << 32;
constexpr std::string_view jump_condition = "sequence_jump";

enum class Advance { old, next, jumped };

/// Whether the witness is new; moves the cursor. A number far ahead is counted beside the others,
/// as a numbering of its own: it must not make everything that comes after it look old.
Advance advance(AgentCursor& cursor, const Witness& witness) {
  std::string key = witness.source + "|" + witness.boot_id;
  auto known = cursor.stored.find(key);
  const std::int64_t last = known == cursor.stored.end() ? 0 : known->second;
  const bool jumped = witness.seq > longest_jump && witness.seq - longest_jump > last;
  if (jumped) {
    key += "|ahead";
    known = cursor.stored.find(key);
  }
  if (known != cursor.stored.end() && witness.seq <= known->second) return Advance::old;
  cursor.stored[key] = witness.seq;
  while (cursor.stored.size() > boots_kept) {
    const auto oldest = cursor.stored.begin()->first == key ? std::next(cursor.stored.begin())
                                                            : cursor.stored.begin();
    cursor.stored.erase(oldest);
  }
  return jumped ? Advance::jumped : Advance::next;
}

/// Set at the first jump of a boot, taken back by the first sound witness of another one.
void note_jump(Txn& txn, const NodeId& id, const Witness& witness, Advance advance) {
  Node node = *txn.view().find(id);
  const Condition* known = find_condition(node, jump_condition);
  const std::string boot = " in boot " + witness.boot_id;
  if (known && known->reason.ends_with(boot)) return;
  if (!known && advance != Advance::jumped) return;
  std::erase_if(node.status.conditions,
                [](const Condition& condition) { return condition.type == jump_condition; });
  if (advance == Advance::jumped) {
    node.status.conditions.push_back({std::string(jump_condition), Truth::yes,
                                      witness.source + " jumped to record " +
                                          std::to_string(witness.seq) + "; counted apart" + boot,
                                      txn.now()});
  }
  txn.put(std::move(node));
}

Result<> change_incident(Txn& txn, const IncidentId& id,
                         const std::function<bool(Incident&)>& change) {
  Incident incident = TRY(get_object(txn, id));
  if (change(incident)) txn.put(std::move(incident));
  return {};
}

/// A person took the node back: it serves again where it stood, beside whatever replaced it.
void keep_in_service(Txn& txn, const NodeId& id, const IncidentId& incident) {
  const Node* node = txn.view().find(id);
  const Allocation* held = node ? txn.view().find(node->status.allocation) : nullptr;
  if (!held) return;
  Allocation allocation = *held;
  bool changed = false;
  for (auto& member : allocation.status.nodes) {
    if (member.node != id || member.role != MemberRole::leaving) continue;
    if (member.cause != incident.str()) continue;
    member.role = MemberRole::member;
    member.since = txn.now();
    changed = true;
  }
  if (changed) txn.put(std::move(allocation));
}

TimelineEntry* find_act(Incident& incident, const std::string& key) {
  for (auto it = incident.timeline.rbegin(); it != incident.timeline.rend(); ++it) {
    if (it->key == key) return &*it;
  }
  return nullptr;
}

void close_entries(Incident& incident, Instant now) {
  for (auto& entry : incident.timeline) {
    if (entry.key.empty() || entry.until.is_set()) continue;
    entry.until = now;
    if (entry.outcome == StepOutcome::running) entry.outcome = StepOutcome::done;
  }
}

}  // namespace

Judgement judge_witness(const XidCatalogue& catalogue, const Witness& witness) {
  Judgement out;
  out.hardware = witness.provenance != Provenance::userspace;
  out.device = witness.event.device;
  if (witness.kind != WitnessKind::event || witness.event.follow_up) return out;
  const KernelEvent& event = witness.event;
  if (event.kind == KernelEventKind::fallen_off_bus) {
    out.opens = out.device_lost = true;
    out.action = FaultAction::reboot;
    out.fault = "fallen off bus";
    out.why = "the driver says that the GPU has fallen off the bus";
    return out;
  }
  const bool numbered = event.kind == KernelEventKind::xid || event.kind == KernelEventKind::sxid;
  if (!numbered || event.code == 0) return out;
  const XidEntry entry = catalogue.classify(event);
  out.fault = (event.kind == KernelEventKind::xid ? "xid " : "sxid ") + std::to_string(event.code);
  out.action = entry.action;
  out.device_lost = entry.device_lost;
  out.opens = !entry.decoy && severity(entry.action) > 0;
  out.why = "kernel reports " + out.fault + " (" + entry.name + ")";
  return out;
}

OperationPtr record_witnesses(NodeId id, std::vector<Witness> witnesses,
                              const XidCatalogue& catalogue) {
  const auto record = [id, witnesses = std::move(witnesses), &catalogue](Txn& txn) -> Result<> {
    TRY(get_object(txn, id));
    const Id<AgentCursor> cursor_id(id.str());
    AgentCursor cursor;
    if (const AgentCursor* known = txn.view().find(cursor_id)) cursor = *known;
    cursor.id = cursor_id;
    cursor.meta.name = id.str();
    bool moved = false;
    bool grew = false;
    std::optional<Incident> incident = open_incident(txn.view(), id);
    const bool shares = shares_domain(txn.view(), id);
    for (const auto& witness : witnesses) {
      const Advance advanced = advance(cursor, witness);
      if (advanced == Advance::old) continue;
      moved = true;
      note_jump(txn, id, witness, advanced);
      const Judgement judged = judge_witness(catalogue, witness);
      // A fault of the links within a domain may be the domain's: blame decides, within seconds.
      const bool deferred = judged.opens && shares && !incident &&
                            judged.action == FaultAction::fabric && judged.hardware;
      // What a switch corrected by itself speaks for no NVLink domain.
      const bool corrected = witness.event.kind == KernelEventKind::sxid && !judged.opens;
      if (!corrected) note_recent(cursor, witness, deferred ? Deferred::yes : Deferred::no);
      if (!judged.opens || deferred) continue;
      apply_witness(txn, id, witness, judged, incident);
      grew = true;
    }
    if (grew) txn.put(std::move(*incident));
    if (moved) txn.put(std::move(cursor));
    return {};
  };
  return make_operation("record_witnesses", "node/" + id.str(), record);
}

OperationPtr open_probe_incident(NodeId id, std::vector<Verdict> failed) {
  return make_operation("open_probe_incident", "node/" + id.str(), [=](Txn& txn) -> Result<> {
    const Node node = TRY(get_object(txn, id));
    if (open_incident(txn.view(), id)) return {};
    std::string names;
    for (const auto& verdict : failed) names += (names.empty() ? "" : ", ") + verdict.check;
    Incident incident = new_incident(txn, node, std::string(checks_failed_fault) + names);
    incident.action = action_name(FaultAction::reset);
    incident.hardware_witness = true;
    incident.verdicts = failed;
    incident.device = device_of(node, failed);
    for (const auto& verdict : failed) {
      const DrillSeen seen{"", incident.device, verdict.watches, verdict.at};
      incident.drill = incident.drill || use_drill(txn, id, seen);
    }
    const std::string of_node = "node " + node.meta.name;
    incident.blame =
        (incident.device.empty() ? of_node : "GPU " + incident.device + " of " + of_node) + ": " +
        (failed.empty() ? "checks failed" : failed.front().reason);
    for (const auto& verdict : failed) {
      add_entry(incident, verdict.at.is_set() ? verdict.at : txn.now(), "check failed",
                verdict.check + ": " + verdict.reason);
    }
    add_entry(incident, txn.now(), "claimed", "node takes no new work; failed: " + names);
    claim_for(txn, incident);
    txn.put(std::move(incident));
    return {};
  });
}

OperationPtr permit_claims(IncidentId id) {
  return make_operation("permit_claims", about(id), [id](Txn& txn) -> Result<> {
    const Incident incident = TRY(get_object(txn, id));
    std::vector<Claim> permitted;
    for (const auto& claim_id : txn.view().claims_on(incident.node)) {
      const Claim* claim = txn.view().find(claim_id);
      if (claim && claim->incident == id && !claim->permitted) permitted.push_back(*claim);
    }
    for (auto& claim : permitted) {
      claim.permitted = true;
      txn.put(std::move(claim));
    }
    return {};
  });
}

OperationPtr enter_policy_state(IncidentId id, std::string from, std::string to, std::string action,
                                std::string doc, TimeOwner owner) {
  return make_operation("enter_policy_state", about(id), [=](Txn& txn) -> Result<> {
    Incident incident = TRY(get_object(txn, id));
    if (incident.policy_state != from) {
      return make_error(Code::conflict, "incident " + id.str() + " left state " + from);
    }
    close_entries(incident, txn.now());
    incident.policy_state = to;
    incident.policy_since = txn.now();
    ++incident.entries[to];
    if (const Node* node = txn.view().find(incident.node)) {
      incident.boot_id_at_entry = node->status.boot_id;
    }
    TimelineEntry entry;
    entry.at = txn.now();
    entry.what = to;
    entry.detail = doc;
    entry.owner = owner;
    entry.key = act_key(incident);
    if (!action.empty()) entry.outcome = StepOutcome::running;
    incident.timeline.push_back(std::move(entry));
    txn.put(std::move(incident));
    return {};
  });
}

OperationPtr finish_act(IncidentId id, std::string key, StepOutcome outcome, std::string detail,
                        Duration acting) {
  return make_operation("finish_act", about(id), [=](Txn& txn) {
    return change_incident(txn, id, [&](Incident& incident) {
      TimelineEntry* act = find_act(incident, key);
      if (!act || act->outcome == outcome) return false;
      const bool open =
          act->outcome == StepOutcome::running || act->outcome == StepOutcome::proposed;
      if (!open) return false;
      act->outcome = outcome;
      if (!detail.empty()) act->detail += (act->detail.empty() ? "" : "; ") + detail;
      act->acting = act->acting + acting;
      return true;
    });
  });
}

OperationPtr record_incident_verdicts(IncidentId id, std::string key, std::vector<Verdict> verdicts,
                                      StepOutcome outcome) {
  return make_operation("record_incident_verdicts", about(id), [=](Txn& txn) {
    return change_incident(txn, id, [&](Incident& incident) {
      TimelineEntry* act = find_act(incident, key);
      if (!act || act->outcome != StepOutcome::running) return false;
      incident.verdicts = verdicts;
      act->outcome = outcome;
      for (const auto& verdict : verdicts) {
        if (verdict.state == VerdictState::ok) continue;
        act->detail += "; " + verdict.check + ": " + verdict.reason;
      }
      return true;
    });
  });
}

OperationPtr return_node(IncidentId id) {
  return make_operation("return_node", about(id), [id](Txn& txn) -> Result<> {
    Incident incident = TRY(get_object(txn, id));
    if (incident.state != IncidentState::open) return {};
    Node node = TRY(get_object(txn, incident.node));
    if (!node.status.allocation.empty()) {
      return make_error(Code::conflict, "node " + node.meta.name + " is still in an allocation");
    }
    if (is_witnessed_anew(incident)) {
      return make_error(Code::conflict,
                        "node " + node.meta.name + " showed a fault after its checks");
    }
    incident.state = IncidentState::resolved;
    incident.resolved_at = txn.now();
    close_entries(incident, txn.now());
    add_entry(incident, txn.now(), "returned", "claim released; node is free");
    end_claims(txn, incident.node, id, ClaimState::released);
    if (node.status.phase != NodePhase::retired) {
      node.status.phase = NodePhase::ready;
      node.status.phase_since = txn.now();
      node.status.revalidated_at = txn.now();
      mark_proved(node);
    }
    txn.put(std::move(node));
    txn.put(std::move(incident));
    return {};
  });
}

namespace {
constexpr std::string_view rma_step = "rma";
}  // namespace

OperationPtr open_rma(IncidentId id, std::string reason) {
  return make_operation("open_rma", about(id), [=](Txn& txn) -> Result<> {
    Incident incident = TRY(get_object(txn, id));
    if (incident.state != IncidentState::open) return {};
    incident.state = IncidentState::rma;
    incident.resolved_at = txn.now();
    close_entries(incident, txn.now());
    const Node node = TRY(get_object(txn, incident.node));
    const std::string text =
        vendor_text(incident, node) + ": " + reason + std::string(claim_stays);
    // Where the policy calls its state so as well, this is that step: told twice it reads as two.
    const auto step = std::ranges::find_if(incident.timeline, [&](const TimelineEntry& entry) {
      return entry.what == rma_step && entry.key == act_key(incident);
    });
    if (step != incident.timeline.end()) {
      step->detail = text;
    } else {
      add_entry(incident, txn.now(), std::string(rma_step), text);
    }
    txn.put(std::move(incident));
    return {};
  });
}

OperationPtr record_job_hit(IncidentId id, JobImpact job) {
  return make_operation("record_job_hit", about(id), [=](Txn& txn) {
    return change_incident(txn, id, [&](Incident& incident) {
      for (const auto& known : incident.jobs) {
        if (known.job == job.job) return false;
      }
      add_entry(incident, txn.now(), "job hit", "job " + job.job + " ran on " + job.nodes_before);
      incident.jobs.push_back(job);
      return true;
    });
  });
}

OperationPtr record_job_back(IncidentId id, std::string job, std::string nodes_after,
                             int restarts) {
  return make_operation("record_job_back", about(id), [=](Txn& txn) {
    return change_incident(txn, id, [&](Incident& incident) {
      for (auto& known : incident.jobs) {
        if (known.job != job || known.running_again_at.is_set()) continue;
        known.nodes_after = nodes_after;
        known.restarts = restarts;
        known.running_again_at = txn.now();
        add_entry(incident, txn.now(), "job running again", "job " + job + " on " + nodes_after);
        return true;
      }
      return false;
    });
  });
}

OperationPtr record_restored(IncidentId id) {
  return make_operation("record_restored", about(id), [id](Txn& txn) {
    return change_incident(txn, id, [&](Incident& incident) {
      if (incident.member_restored_at.is_set()) return false;
      incident.member_restored_at = txn.now();
      add_entry(incident, txn.now(), "allocation whole again",
                incident.replacement.empty() ? "as many members serve as were ordered"
                                             : "the replacement serves");
      return true;
    });
  });
}

OperationPtr note_incident(IncidentId id, std::string what, std::string detail) {
  return make_operation("note_incident", about(id), [=](Txn& txn) {
    return change_incident(txn, id, [&](Incident& incident) {
      add_entry(incident, txn.now(), what, detail);
      return true;
    });
  });
}

OperationPtr set_incident_held(IncidentId id, bool held) {
  return make_operation("set_incident_held", about(id), [=](Txn& txn) {
    return change_incident(txn, id, [&](Incident& incident) {
      if (incident.held == held) return false;
      incident.held = held;
      add_entry(incident, txn.now(), held ? "held" : "resumed", "by " + txn.actor());
      return true;
    });
  });
}

OperationPtr override_claims(NodeId id, std::string reason) {
  return make_operation("override_claims", "node/" + id.str(), [=](Txn& txn) -> Result<> {
    std::vector<IncidentId> incidents;
    for (const auto& incident : txn.view().incidents_on(id)) incidents.push_back(incident);
    for (const auto& incident_id : incidents) {
      Incident incident = TRY(get_object(txn, incident_id));
      incident.state = IncidentState::overridden;
      incident.resolved_at = txn.now();
      add_entry(incident, txn.now(), "overridden", reason);
      end_claims(txn, id, incident_id, ClaimState::overridden);
      keep_in_service(txn, id, incident_id);
      txn.put(std::move(incident));
    }
    return {};
  });
}

OperationPtr take_claim(NodeId id, std::string holder, std::string reason) {
  return make_operation("claim_node", "node/" + id.str(), [=](Txn& txn) -> Result<> {
    TRY(get_object(txn, id));
    for (const auto& claim_id : txn.view().claims_on(id)) {
      const Claim* claim = txn.view().find(claim_id);
      if (claim && claim->holder == holder && claim->reason == reason) return {};
    }
    Claim claim;
    claim.id = txn.make_id<Claim>();
    claim.meta.name = claim.id.str();
    claim.node = id;
    claim.holder = holder;
    claim.reason = reason;
    claim.permitted = true;
    claim.since = txn.now();
    txn.put(std::move(claim));
    return {};
  });
}

OperationPtr release_claim(Id<Claim> id, ClaimState state) {
  return make_operation("release_claim", "claim/" + id.str(), [=](Txn& txn) -> Result<> {
    Claim claim = TRY(get_object(txn, id));
    if (claim.state != ClaimState::active) return {};
    claim.state = state;
    claim.until = txn.now();
    if (const Incident* found = txn.view().find(claim.incident)) {
      Incident incident = *found;
      incident.state = IncidentState::overridden;
      incident.resolved_at = txn.now();
      add_entry(incident, txn.now(), "overridden", "claim forced by " + txn.actor());
      txn.put(std::move(incident));
    }
    txn.put(std::move(claim));
    return {};
  });
}

const TimelineEntry* current_act(const Incident& incident) {
  for (auto it = incident.timeline.rbegin(); it != incident.timeline.rend(); ++it) {
    if (!it->key.empty()) return &*it;
  }
  return nullptr;
}

std::string act_key(const Incident& incident) {
  const auto entered = incident.entries.find(incident.policy_state);
  const int times = entered == incident.entries.end() ? 0 : entered->second;
  return incident.id.str() + "/" + incident.policy_state + "/" + std::to_string(times);
}

}  // namespace tundish
