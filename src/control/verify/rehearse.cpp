#include "control/verify/rehearse.hpp"

#include <algorithm>
#include <deque>

#include "control/fault/check_plan.hpp"
#include "control/fault/policy.hpp"
#include "model/ops/rma_ops.hpp"

namespace tundish::control::verify {
namespace {

constexpr int most_steps = 200;

using Answers = std::map<std::string, std::deque<StepOutcome>>;

std::string word_of(StepOutcome outcome) {
  return std::string(enum_names(outcome)[static_cast<std::size_t>(outcome)]);
}

/// What each act came to, by action, in the order of history.
Answers answers_of(const RemediationPolicy& loaded, const Incident& incident,
                   std::vector<std::string>& did) {
  Answers out;
  for (const auto& entry : incident.timeline) {
    const auto state = loaded.states.find(entry.what);
    if (entry.key.empty() || state == loaded.states.end() || state->second.action.empty()) continue;
    if (state->second.final) continue;
    did.push_back(state->second.action + " " + word_of(entry.outcome));
    if (entry.outcome == StepOutcome::done || entry.outcome == StepOutcome::failed ||
        entry.outcome == StepOutcome::timeout) {
      out[state->second.action].push_back(entry.outcome);
    }
  }
  return out;
}

std::set<std::string> facts_of_history(const RemediationPolicy& policy, const Incident& incident) {
  std::set<std::string> facts = {"permitted", "drained", "isolated", "rebooted", "agent_back"};
  const PolicyFault* known = find_fault(policy, incident.fault);
  facts.insert(wish_fact(known ? known->action : incident.action));
  facts.insert("fault:" + incident.fault);
  if (incident.device_lost) facts.insert("device_lost");
  if (incident.hardware_witness) facts.insert("hardware_witness");
  return facts;
}

int longest_deadline(const PolicyState& state) {
  int out = 0;
  for (const auto& edge : state.next) out = std::max(out, edge.after_s);
  return out;
}

/// Repairs that it was charged with for the incidents before it: more than it did itself. The other
/// policy may call them something else.
std::map<std::string, int> charged_before(const RemediationPolicy& loaded,
                                          const RemediationPolicy& policy,
                                          const Incident& incident) {
  auto spent = incident.entries;
  for (const auto& entry : incident.timeline) {
    if (!entry.key.empty()) --spent[entry.what];
  }
  std::map<std::string, int> out;
  for (const auto& [name, times] : spent) {
    const auto was = loaded.states.find(name);
    if (times <= 0 || was == loaded.states.end()) continue;
    const std::string& action = was->second.action;
    if (!is_disruptive_action(action)) continue;
    auto is = policy.states.find(name);
    if (is == policy.states.end() || is->second.action != action) {
      is = std::find_if(policy.states.begin(), policy.states.end(),
                        [&](const auto& state) { return state.second.action == action; });
    }
    if (is != policy.states.end()) out[is->first] += times;
  }
  return out;
}

void walk(const RemediationPolicy& policy, const Incident& incident,
          std::map<std::string, int> spent, Answers answers, Rehearsal& out) {
  const Instant now{1};
  PolicyPosition at{policy.initial, now, std::move(spent)};
  ++at.entries[policy.initial];
  for (int step = 0; step < most_steps; ++step) {
    const PolicyState& state = policy.states.at(at.state);
    if (state.final) {
      out.would_end = state.action == "open_rma" ? "rma" : "return";
      return;
    }
    auto facts = facts_of_history(policy, incident);
    if (!state.action.empty()) {
      auto& known = answers[state.action];
      StepOutcome outcome = StepOutcome::done;
      if (!known.empty()) {
        outcome = known.front();
        known.pop_front();
      } else if (state.action != "evacuate") {
        out.would.push_back(state.action);
        out.would_end = "unknown: " + state.action + " was not tried then";
        return;
      }
      facts.merge(act_facts(policy, state, outcome));
      out.would.push_back(state.action + " " + word_of(outcome));
    }
    PolicyStep next = policy_step(policy, at, facts, now);
    if (!next.go) next = policy_step(policy, at, facts, now + seconds(longest_deadline(state)));
    if (!next.go) {
      out.would_end = "stays in " + at.state;
      return;
    }
    at.state = *next.go;
    ++at.entries[at.state];
  }
  out.would_end = "goes on without end";
}

/// Its newest line about that; nullptr: there is none.
const TimelineEntry* find_line(const Incident& incident, std::string_view what) {
  const TimelineEntry* found = nullptr;
  for (const auto& entry : incident.timeline) {
    if (entry.what == what && entry.key.empty()) found = &entry;
  }
  return found;
}

/// A policy may call any state so: the record of the RMA says that the claim stays.
bool went_to_vendor(const Incident& incident) {
  return incident.state == IncidentState::rma ||
         std::ranges::any_of(incident.timeline, [](const TimelineEntry& entry) {
           return entry.what == "rma" && entry.detail.ends_with(claim_stays);
         });
}

std::string end_of(const Incident& incident) {
  if (went_to_vendor(incident)) return "rma";
  return std::string(enum_names(incident.state)[static_cast<std::size_t>(incident.state)]);
}

/// What a person did about an incident, and whether the node served on after it.
struct Stance {
  std::string what;  ///< empty: nobody did anything
  bool serves = false;
};

Stance person_about(const Registry& reg, const Incident& incident) {
  const auto told = [&](const std::string& what, std::string_view line) {
    const TimelineEntry* entry = find_line(incident, line);
    return entry && !entry->detail.empty() ? what + ": " + entry->detail : what;
  };
  if (incident.state == IncidentState::overridden) {
    return {told("took the node back into service", "overridden"), true};
  }
  for (const auto& [id, claim] : reg.all<Claim>()) {
    if (claim.node != incident.node || !claim.holder.starts_with("person:")) continue;
    if (claim.since < incident.opened_at) continue;
    return {claim.holder.substr(7) + " took the node out of service: " + claim.reason, false};
  }
  const Node* node = reg.find(incident.node);
  if (node && node->status.phase == NodePhase::retired) return {"retired the node", false};
  if (incident.state != IncidentState::closed) return {};
  if (went_to_vendor(incident)) return {told("closed it after the vendor", "closed"), false};
  return {told("closed it", "closed"), true};
}

std::string agreement_of(const Stance& person, const Rehearsal& row) {
  if (person.what.empty()) return "nobody";
  if (row.would_end != "return" && row.would_end != "rma") return "unknown";
  return person.serves == (row.would_end == "return") ? "agrees" : "disagrees";
}

}  // namespace

std::vector<Rehearsal> rehearse(const RehearsalInput& input) {
  std::vector<Rehearsal> out;
  for (const auto& [id, incident] : input.reg.all<Incident>()) {
    if (incident.opened_at < input.since || incident.node.empty()) continue;
    Rehearsal row;
    const Node* node = input.reg.find(incident.node);
    row.incident = id.str();
    row.node = node ? node->meta.name : incident.node.str();
    row.fault = incident.fault;
    row.ended = end_of(incident);
    walk(input.policy, incident, charged_before(input.loaded, input.policy, incident),
         answers_of(input.loaded, incident, row.did), row);
    const bool same_end = (row.ended == "resolved" && row.would_end == "return") ||
                          (row.ended == "rma" && row.would_end == "rma");
    row.differs = row.did != row.would || !same_end;
    const Stance person = person_about(input.reg, incident);
    row.person = person.what;
    row.agreement = agreement_of(person, row);
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace tundish::control::verify
