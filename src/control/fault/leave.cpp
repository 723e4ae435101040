#include "control/fault/leave.hpp"

namespace tundish::control {
namespace {

std::string about(const IncidentId& id) { return "incident/" + id.str(); }

TimelineEntry* find_act(Incident& incident, const std::string& key) {
  for (auto it = incident.timeline.rbegin(); it != incident.timeline.rend(); ++it) {
    if (it->key == key) return &*it;
  }
  return nullptr;
}

Result<> change_act(Txn& txn, const IncidentId& id, const std::string& key,
                    const std::function<bool(Incident&, TimelineEntry&)>& change) {
  Incident incident = TRY(get_object(txn, id));
  TimelineEntry* act = find_act(incident, key);
  if (act && change(incident, *act)) txn.put(std::move(incident));
  return {};
}

constexpr std::string_view refused_mark = "; refused: ";
constexpr std::string_view proposed_mark = "; proposed: ";

/// The reason of now takes the place of the one before; false: it is told already.
bool tell(TimelineEntry& act, StepOutcome outcome, const std::string& reason) {
  const bool proposed = outcome == StepOutcome::proposed;
  const std::string told = std::string(proposed ? proposed_mark : refused_mark) + reason;
  if (act.outcome == outcome && act.detail.ends_with(told)) return false;
  if (waits_for_leave(act)) {
    const bool was_proposed = act.outcome == StepOutcome::proposed;
    const auto before = act.detail.rfind(was_proposed ? proposed_mark : refused_mark);
    if (before != std::string::npos) act.detail.resize(before);
  }
  act.outcome = outcome;
  act.detail += told;
  return true;
}

}  // namespace

bool waits_for_leave(const TimelineEntry& act) {
  return act.outcome == StepOutcome::proposed || act.outcome == StepOutcome::refused;
}

bool is_open_act(const TimelineEntry& act) {
  return act.outcome == StepOutcome::running || waits_for_leave(act);
}

OperationPtr refuse_act(IncidentId id, std::string key, std::string reason) {
  return make_operation("refuse_act", about(id), [=](Txn& txn) {
    return change_act(txn, id, key, [&](Incident&, TimelineEntry& act) {
      return is_open_act(act) && tell(act, StepOutcome::refused, reason);
    });
  });
}

OperationPtr propose_act(IncidentId id, std::string key, std::string reason) {
  return make_operation("propose_act", about(id), [=](Txn& txn) {
    return change_act(txn, id, key, [&](Incident&, TimelineEntry& act) {
      return is_open_act(act) && tell(act, StepOutcome::proposed, reason);
    });
  });
}

OperationPtr resume_act(IncidentId id, std::string key) {
  return make_operation("resume_act", about(id), [=](Txn& txn) {
    return change_act(txn, id, key, [&](Incident& incident, TimelineEntry& act) {
      if (!waits_for_leave(act)) return false;
      act.outcome = StepOutcome::running;
      incident.policy_since = txn.now();
      return true;
    });
  });
}

OperationPtr confirm_hardware(IncidentId id) {
  return make_operation("confirm_hardware", about(id), [id](Txn& txn) -> Result<> {
    Incident incident = TRY(get_object(txn, id));
    if (incident.hardware_witness) return {};
    incident.hardware_witness = true;
    txn.put(std::move(incident));
    return {};
  });
}

}  // namespace tundish::control
