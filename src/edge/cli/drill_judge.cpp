#include <algorithm>

#include "base/text.hpp"
#include "edge/cli/drill_plan.hpp"

namespace tundish::edge::cli {
namespace {

template <class E>
std::string text_of(E value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

std::int64_t passed_ms(Instant injected, Instant at) {
  if (!at.is_set()) return -1;
  // Both are on tundishd's clock but for `detected`, which an agent read on its own.
  return std::max<std::int64_t>(0, (at - injected).ms());
}

Instant entered(const Incident& incident, std::initializer_list<std::string_view> states) {
  for (const auto& entry : incident.timeline) {
    for (const auto state : states) {
      if (entry.what == state) return entry.at;
    }
  }
  return {};
}

bool did(const Incident& incident, const std::string& action) {
  for (const auto& entry : incident.timeline) {
    const bool same = entry.what == action || (action == "reset_gpus" && entry.what == "reset");
    if (same && entry.outcome == StepOutcome::done) return true;
    // A reboot is done when the node is back, which the next state tells.
    if (same && entry.until.is_set()) return true;
  }
  return false;
}

DrillLap lap(const std::string& what, std::int64_t took, std::int64_t band) {
  DrillLap out{what, took, band, DrillOutcome::unknown};
  if (band == 0) {
    out.outcome = took >= 0 ? DrillOutcome::passed : DrillOutcome::unknown;
  } else if (took >= 0) {
    out.outcome = took <= band ? DrillOutcome::passed : DrillOutcome::failed;
  }
  return out;
}

std::vector<DrillLap> laps_of(const DrillStep& step, Instant injected, const Incident& incident) {
  const Instant back = incident.state == IncidentState::resolved ? incident.resolved_at : Instant{};
  const auto& bands = step.bands;
  return {lap("detected", passed_ms(injected, incident.detected_at), bands.detected_ms),
          lap("claimed", passed_ms(injected, entered(incident, {"claimed"})), bands.claimed_ms),
          lap("drained", passed_ms(injected, entered(incident, {"isolate", "choose"})),
              bands.drained_ms),
          lap("replaced", passed_ms(injected, incident.member_restored_at), bands.replaced_ms),
          lap("returned", passed_ms(injected, back), bands.returned_ms)};
}

std::string in_words(const DrillLap& lap) {
  const std::string most = std::to_string(lap.band_ms) + " ms";
  if (lap.took_ms < 0) return "not " + lap.what + " within " + most;
  return lap.what + " after " + std::to_string(lap.took_ms) + " ms, at most " + most;
}

bool has_come(const DrillStep& step, const Incident& incident, const std::vector<DrillLap>& laps) {
  for (const auto& one : laps) {
    if (one.band_ms > 0 && one.took_ms < 0) return false;
  }
  if (!step.expect.action.empty() && !did(incident, step.expect.action)) return false;
  return step.expect.ends.empty() || text_of(incident.state) == step.expect.ends;
}

void judge_incident(const DrillStep& step, const Incident& incident, DrillResult& out) {
  std::vector<std::string> wrong;
  const auto& expect = step.expect;
  if (!expect.fault.empty() && incident.fault != expect.fault) {
    wrong.push_back("it is called \"" + incident.fault + "\", not \"" + expect.fault + "\"");
  }
  if (!expect.action.empty() && !did(incident, expect.action)) {
    wrong.push_back("no " + expect.action + " was done");
  }
  if (!expect.ends.empty() && text_of(incident.state) != expect.ends) {
    wrong.push_back("it is " + text_of(incident.state) + ", not " + expect.ends);
  }
  for (const auto& one : out.laps) {
    const bool missed = one.band_ms > 0 && one.outcome != DrillOutcome::passed;
    if (missed) wrong.push_back(in_words(one));
  }
  if (!incident.drill) wrong.push_back("it is not marked as a drill");
  out.outcome = wrong.empty() ? DrillOutcome::passed : DrillOutcome::failed;
  out.why = join(wrong, "; ");
}

Error bad_step(std::size_t index, const std::string& why) {
  return make_error(Code::invalid, "step " + std::to_string(index + 1) + " " + why);
}

Result<> check_step(const DrillStep& step, std::size_t index) {
  if (step.fault.empty()) return bad_step(index, "names no fault");
  if (step.node.name.empty() == (step.node.cluster.empty() && step.node.role != "free")) {
    return bad_step(index, "must name a node, or a cluster, or role: free");
  }
  if (step.expect.opens != "yes" && step.expect.opens != "no") {
    return bad_step(index, "expects opens: \"" + step.expect.opens + "\", which is yes or no");
  }
  const auto& ends = step.expect.ends;
  if (!ends.empty() && ends != "resolved" && ends != "rma") {
    return bad_step(index, "expects it to end as \"" + ends + "\": resolved or rma");
  }
  const auto& bands = step.bands;
  for (const auto band : {bands.detected_ms, bands.claimed_ms, bands.drained_ms, bands.replaced_ms,
                          bands.returned_ms, step.wait_s, std::int64_t{step.before_s}}) {
    if (band < 0) return bad_step(index, "has a time below 0");
    if (step.wait_s > 0 && band > step.wait_s * 1000) {
      return bad_step(index, "has a band that is longer than it waits (wait_s)");
    }
  }
  if (step.wait_s == 0) return bad_step(index, "waits for nothing: wait_s is 0");
  const bool decoy = step.expect.opens == "no";
  if (decoy && (!ends.empty() || !step.expect.action.empty() || !step.expect.fault.empty())) {
    return bad_step(index, "expects no incident and what it should do");
  }
  return {};
}

}  // namespace

Result<> check_drill(const DrillPlan& plan) {
  if (plan.steps.empty()) return make_error(Code::invalid, "the drill has no steps");
  for (std::size_t i = 0; i < plan.steps.size(); ++i) TRY_VOID(check_step(plan.steps[i], i));
  return {};
}

DrillJudgement judge_step(const DrillStep& step, Instant injected,
                          const std::optional<Incident>& incident, DrillTime time) {
  DrillJudgement out;
  out.result.step = step.name;
  out.result.fault = step.fault;
  const bool decoy = step.expect.opens == "no";
  if (incident) {
    out.result.incident = incident->id.str();
    out.result.laps = laps_of(step, injected, *incident);
  }
  if (decoy) {
    out.done = incident.has_value() || time == DrillTime::over;
    out.result.outcome = incident ? DrillOutcome::failed : DrillOutcome::passed;
    if (incident) out.result.why = "a decoy opened an incident: " + incident->fault;
    return out;
  }
  if (!incident) {
    out.done = time == DrillTime::over;
    out.result.outcome = DrillOutcome::failed;
    out.result.why = "no incident followed";
    return out;
  }
  out.done = time == DrillTime::over || has_come(step, *incident, out.result.laps);
  judge_incident(step, *incident, out.result);
  return out;
}

DrillOutcome outcome_of(const std::vector<DrillResult>& steps) {
  bool unknown = steps.empty();
  for (const auto& step : steps) {
    if (step.outcome == DrillOutcome::failed) return DrillOutcome::failed;
    unknown = unknown || step.outcome == DrillOutcome::unknown;
  }
  return unknown ? DrillOutcome::unknown : DrillOutcome::passed;
}

}  // namespace tundish::edge::cli
