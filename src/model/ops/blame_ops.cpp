#include "model/ops/blame_ops.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "model/ops/drill_ops.hpp"
#include "model/ops/incident_parts.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish {
namespace {

/// A blame that moves and a symptom that comes and goes must not make an incident grow.
constexpr std::size_t timeline_kept = 60;
constexpr std::string_view quiet = "quiet";
constexpr std::string_view seen_again = "seen again";

std::vector<AllocationId> allocations_of(const Registry& view, const std::vector<NodeId>& nodes) {
  std::set<AllocationId> out;
  for (const auto& id : nodes) {
    const Node* node = view.find(id);
    if (node && !node->status.allocation.empty()) out.insert(node->status.allocation);
  }
  return {out.begin(), out.end()};
}

template <class T>
bool add_all(std::vector<T>& to, const std::vector<T>& from) {
  std::set<T> all(to.begin(), to.end());
  const std::size_t before = all.size();
  all.insert(from.begin(), from.end());
  if (all.size() == before) return false;
  to.assign(all.begin(), all.end());
  return true;
}

bool is_news(const Blame& known, const Blame& blame) {
  return known.part != blame.part || known.object != blame.object || known.rule != blame.rule ||
         known.confidence != blame.confidence || known.evidence.size() != blame.evidence.size() ||
         known.cleared.size() != blame.cleared.size();
}

std::size_t nodes_in(const Blame& blame) {
  std::set<std::string> names;
  for (const auto& line : blame.evidence) names.insert(line.node);
  return names.size();
}

/// The same answer on less: nodes recover one after the other, and what was known stays known.
bool fades(const Blame& known, const Blame& blame) {
  const bool same =
      known.part == blame.part && known.object == blame.object && known.rule == blame.rule;
  if (!same) return false;
  const std::size_t before = nodes_in(known);
  const std::size_t after = nodes_in(blame);
  return after < before || (after == before && blame.confidence < known.confidence);
}

bool take_blame(Incident& incident, const Blame& blame, Instant now) {
  if (incident.blamed && !is_news(*incident.blamed, blame)) return false;
  // Of a node, the newest word counts; on a shared part the incident is as wide as it ever was.
  if (incident.blamed && incident.node.empty() && fades(*incident.blamed, blame)) return false;
  const bool moved = !incident.blamed || incident.blamed->rule != blame.rule ||
                     incident.blamed->part != blame.part;
  incident.blamed = blame;
  incident.blame = blame_sentence(blame);
  if (moved && incident.timeline.size() < timeline_kept) {
    add_entry(incident, now, "blamed", incident.blame);
  }
  return true;
}

/// The last line says whether it is seen; a full timeline changes it, else one is added.
bool turn(Incident& incident, std::string_view to, Instant now) {
  if (to == quiet && quiet_since(incident).is_set()) return false;
  const bool full = incident.timeline.size() >= timeline_kept;
  if (full) incident.timeline.pop_back();
  add_entry(incident, now, std::string(to), "");
  return true;
}

Incident begin_shared(Txn& txn, const BlamedOrder& order) {
  Incident incident;
  incident.id = txn.make_id<Incident>();
  incident.meta.name = incident.id.str();
  incident.fault = order.fault;
  incident.opened_at = txn.now();
  incident.hardware_witness = true;
  incident.action = action_name(FaultAction::none);
  return incident;
}

/// The heaviest sighting, as a witness that nobody without hardware could have made.
Witness witness_of(const Blame& blame, const std::string& node) {
  Witness out;
  out.node = node;
  out.provenance = Provenance::probe;
  out.kind = WitnessKind::event;
  if (blame.evidence.empty()) return out;
  const BlameEvidence& heaviest = blame.evidence.front();
  const bool line = heaviest.what.starts_with("xid") || heaviest.what.starts_with("sxid");
  if (line) out.provenance = Provenance::kernel;
  if (heaviest.part == Resource::cooling) out.provenance = Provenance::bmc;
  out.source = line ? "kmsg" : "check " + heaviest.what;
  out.observed_at = heaviest.at;
  out.reason = heaviest.says;
  return out;
}

/// What blame finds is never a user's word: the record says which sighting of the hardware it was.
void take_witness(Incident& incident, const Blame& blame, Instant now) {
  incident.witnesses.push_back(witness_of(blame, incident.node.str()));
  incident.hardware_witness = true;
  incident.last_witness_at = now;
}

/// A drill that was announced for one of the nodes is what is seen now.
void take_drill(Txn& txn, const BlamedOrder& order, Incident& incident) {
  const DrillSeen seen = drill_seen(order.blame, order.device);
  for (const auto& id : order.affected) {
    if (use_drill(txn, id, seen)) incident.drill = true;
  }
}

void open_anew(Txn& txn, const BlamedOrder& order, const Node* node) {
  Incident incident = node ? new_incident(txn, *node, order.fault) : begin_shared(txn, order);
  incident.detected_at = order.detected_at;
  incident.hardware_witness = true;
  incident.last_witness_at = txn.now();
  incident.action = action_name(order.action);
  incident.device = order.device;
  incident.device_lost = order.device_lost;
  incident.subject_kind = order.blame.subject_kind;
  incident.subject = order.blame.object;
  incident.affected = order.affected;
  incident.allocations = allocations_of(txn.view(), order.affected);
  take_drill(txn, order, incident);
  add_entry(incident, order.detected_at, "detected", order.fault);
  take_blame(incident, order.blame, txn.now());
  if (node) {
    incident.witnesses = {witness_of(order.blame, node->id.str())};
    add_entry(incident, txn.now(), "claimed", "node takes no new work");
    claim_for(txn, incident);
  }
  txn.put(std::move(incident));
}

}  // namespace

const Incident* find_blamed(const Registry& view, const Blame& blame) {
  for (const auto& id : view.incidents_on({})) {
    const Incident* found = view.find(id);
    const bool same = found && found->blamed && found->subject_kind == blame.subject_kind &&
                      found->subject == blame.object && found->blamed->part == blame.part;
    if (same) return found;
  }
  return nullptr;
}

OperationPtr open_blamed(BlamedOrder order) {
  const std::string about =
      order.node.empty() ? "incident/" + order.blame.object : "node/" + order.node.str();
  return make_operation("open_blamed", about, [order = std::move(order)](Txn& txn) -> Result<> {
    if (!order.node.empty()) {
      const Node node = TRY(get_object(txn, order.node));
      if (txn.view().incidents_on(order.node).empty()) open_anew(txn, order, &node);
      return {};
    }
    const Incident* known = find_blamed(txn.view(), order.blame);
    if (!known) {
      open_anew(txn, order, nullptr);
      return {};
    }
    Incident incident = *known;
    for (const auto& id : order.affected) {
      (void)use_drill(txn, id, drill_seen(order.blame, order.device));
    }
    const bool moved = take_blame(incident, order.blame, txn.now());
    const bool grew = add_all(incident.affected, order.affected);
    const bool wider = add_all(incident.allocations, allocations_of(txn.view(), order.affected));
    const bool back = quiet_since(incident).is_set() && turn(incident, seen_again, txn.now());
    if (moved || grew || wider || back) txn.put(std::move(incident));
    return {};
  });
}

OperationPtr quiet_blamed(IncidentId id) {
  return make_operation("quiet_blamed", "incident/" + id.str(), [id](Txn& txn) -> Result<> {
    Incident incident = TRY(get_object(txn, id));
    if (incident.state != IncidentState::open) return {};
    if (turn(incident, quiet, txn.now())) txn.put(std::move(incident));
    return {};
  });
}

Instant quiet_since(const Incident& incident) {
  // People's notes may stand behind it.
  for (auto entry = incident.timeline.rbegin(); entry != incident.timeline.rend(); ++entry) {
    if (entry->what == quiet) return entry->at;
    const bool stands = entry->what == seen_again || entry->what == "blamed";
    if (stands) return {};
  }
  return {};
}

OperationPtr raise_blamed(IncidentId id, BlamedOrder order) {
  return make_operation("raise_blamed", "incident/" + id.str(),
                        [id, order = std::move(order)](Txn& txn) -> Result<> {
                          Incident incident = TRY(get_object(txn, id));
                          const std::string action(action_name(order.action));
                          if (incident.state != IncidentState::open) return {};
                          if (incident.action == action) return {};
                          incident.action = action;
                          incident.device_lost = incident.device_lost || order.device_lost;
                          take_witness(incident, order.blame, txn.now());
                          add_entry(incident, order.detected_at, "detected", order.fault);
                          take_blame(incident, order.blame, txn.now());
                          txn.put(std::move(incident));
                          return {};
                        });
}

OperationPtr add_blame(IncidentId id, Blame blame) {
  return make_operation("add_blame", "incident/" + id.str(),
                        [id, blame = std::move(blame)](Txn& txn) -> Result<> {
                          Incident incident = TRY(get_object(txn, id));
                          (void)use_drill(txn, incident.node, drill_seen(blame, incident.device));
                          const bool first = !incident.hardware_witness;
                          if (first) take_witness(incident, blame, txn.now());
                          const bool moved = take_blame(incident, blame, txn.now());
                          if (first || moved) txn.put(std::move(incident));
                          return {};
                        });
}

OperationPtr end_blamed(IncidentId id, std::string why) {
  return make_operation("end_blamed", "incident/" + id.str(), [=](Txn& txn) -> Result<> {
    Incident incident = TRY(get_object(txn, id));
    if (incident.state != IncidentState::open) return {};
    const bool was_node = !incident.node.empty();
    incident.state = was_node ? IncidentState::closed : IncidentState::resolved;
    incident.resolved_at = txn.now();
    for (auto& entry : incident.timeline) {
      if (!entry.key.empty() && !entry.until.is_set()) entry.until = txn.now();
    }
    add_entry(incident, txn.now(), was_node ? "blame moved" : "over", why);
    if (was_node) end_claims(txn, incident.node, id, ClaimState::released);
    txn.put(std::move(incident));
    return {};
  });
}

OperationPtr set_symptom(NodeId node, std::string reason) {
  std::shared_ptr<Operation> set =
      set_condition(node, std::string(symptom_condition), Truth::yes, std::move(reason));
  return make_operation("set_symptom", "node/" + node.str(),
                        [set](Txn& txn) { return set->perform(txn); });
}

OperationPtr clear_symptom(NodeId id) {
  return make_operation("clear_symptom", "node/" + id.str(), [id](Txn& txn) -> Result<> {
    Node node = TRY(get_object(txn, id));
    const auto gone = std::erase_if(node.status.conditions, [](const Condition& condition) {
      return condition.type == symptom_condition;
    });
    if (gone > 0) txn.put(std::move(node));
    return {};
  });
}

}  // namespace tundish
