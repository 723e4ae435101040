// Counterexamples that speak of the files alone: a limit that says the wrong thing, a fault that
// nothing handles, a state or a guard that nothing comes to.
#include <algorithm>

#include "base/text.hpp"
#include "control/fault/policy.hpp"
#include "control/verify/space.hpp"
#include "sim/life.hpp"
#include "sim/replay.hpp"

namespace tundish::sim {
namespace {

using control::verify::Refutation;

constexpr Duration patience = hours(8);
constexpr Manner manners[] = {Manner::all_succeeds, Manner::acts_fail, Manner::checks_fail,
                              Manner::no_answers};

ActEnd end_in(Manner manner, const std::string& action) {
  const bool checks = action == "run_checks";
  const bool power = control::is_power_action(action);
  switch (manner) {
    case Manner::all_succeeds: return power ? ActEnd::real : ActEnd::done;
    case Manner::acts_fail: return checks ? ActEnd::done : ActEnd::failed;
    case Manner::checks_fail:
      if (checks) return ActEnd::failed;
      return power ? ActEnd::real : ActEnd::done;
    case Manner::no_answers: return ActEnd::silent;
  }
  return ActEnd::silent;
}

struct FaultKind {
  std::string name;
  Witnessed by = Witnessed::hardware;
};

/// One fault of each kind that the policy tells apart, and where users can write its line, that.
Result<std::vector<FaultKind>> kinds_of_faults(const RemediationPolicy& policy,
                                                 const XidCatalogue& catalogue) {
  const control::verify::VerifyInput input{policy, control::verify::faults_of(catalogue), {}};
  const auto space = TRY(control::verify::Space::build(input));
  std::vector<FaultKind> out;
  for (const auto& fault : space.faults()) {
    if (fault.members.empty()) continue;
    out.push_back({fault.members.front(), Witnessed::hardware});
    if (policy.faults.empty()) out.push_back({fault.members.front(), Witnessed::user});
  }
  return out;
}

/// Whether the first thing that judges or repairs is another one than the fault asks for.
bool begins_otherwise(const RemediationPolicy& policy, const std::vector<std::string>& lived,
                      const std::string& wanted) {
  for (const auto& name : lived) {
    const std::string& action = policy.states.at(name).action;
    if (action == wanted) return false;
    if (action == "run_checks" || control::is_disruptive_action(action)) return true;
  }
  return true;
}

Result<ReplayReport> replay_fault(const RemediationPolicy& policy, const XidCatalogue& catalogue,
                                  const Refutation& story) {
  ReplayReport out;
  const std::string fault = story.story.front().fault;
  out.lived = TRY(live(policy, catalogue, {fault, Witnessed::hardware, Manner::all_succeeds}));
  std::string wish = "reset";
  if (const PolicyFault* own = control::find_fault(policy, fault)) {
    wish = own->action;
  } else {
    for (const auto& known : control::verify::faults_of(catalogue)) {
      if (known.name == fault) wish = known.action;
    }
  }
  const std::string wanted = control::verify::first_action(wish);
  out.is_reproduced = begins_otherwise(policy, out.lived, wanted);
  out.end = (out.is_reproduced ? "something else than " : "first of all ") + wanted +
            " was done about it";
  return out;
}

Result<ReplayReport> replay_guard(const RemediationPolicy& policy, const XidCatalogue& catalogue,
                                  const Refutation& story) {
  const auto dot = story.about.find('.');
  const std::string name = story.about.substr(0, dot);
  const auto found = policy.states.find(name);
  if (found == policy.states.end()) {
    return make_error(Code::invalid, "the policy has no state " + name);
  }
  RemediationPolicy without = policy;
  if (dot != std::string::npos) {
    const auto number = parse_integer(story.about.substr(dot + 1));
    auto& next = without.states.at(name).next;
    if (!number || *number < 0 || *number >= static_cast<std::int64_t>(next.size())) {
      return make_error(Code::invalid, "no edge " + story.about);
    }
    next.erase(next.begin() + static_cast<std::ptrdiff_t>(*number));
  }
  ReplayReport out;
  out.is_reproduced = true;
  int lives = 0;
  for (const auto& fault : TRY(kinds_of_faults(policy, catalogue))) {
    for (const Manner manner : manners) {
      const Lived how{fault.name, fault.by, manner};
      out.lived = TRY(live(policy, catalogue, how));
      ++lives;
      const bool entered = std::find(out.lived.begin(), out.lived.end(), name) != out.lived.end();
      const bool missed = dot == std::string::npos
                              ? entered
                              : TRY(live(without, catalogue, how)) != out.lived;
      if (!missed) continue;
      out.is_reproduced = false;
      out.end = fault.name + (dot == std::string::npos ? " came to " : " needs ") + story.about;
      return out;
    }
  }
  out.end = "in " + std::to_string(lives) + " lives " +
            (dot == std::string::npos ? "none came to " + name
                                      : "none went another way without edge " + story.about);
  return out;
}

}  // namespace

Result<std::vector<std::string>> live(const RemediationPolicy& policy,
                                      const XidCatalogue& catalogue, const Lived& how) {
  LifePlan plan;
  plan.fault = how.fault;
  plan.hardware = how.by == Witnessed::hardware;
  plan.answer = [how](const std::string& action) { return end_in(how.manner, action); };
  Life life(policy, catalogue, std::move(plan));
  TRY_VOID(life.begin());
  life.wait(patience);
  return life.lived();
}

Result<ReplayReport> replay_threshold(const RemediationPolicy& policy,
                                      const XidCatalogue& catalogue, const Refutation& story) {
  if (!story.reading) {
    return make_error(Code::unsupported, "threshold: no value can be read at all");
  }
  const auto& reading = *story.reading;
  LifePlan plan;
  const auto faults = TRY(kinds_of_faults(policy, catalogue));
  plan.fault = faults.front().name;
  plan.answer = [](const std::string& action) { return end_in(Manner::all_succeeds, action); };
  Verdict& verdict = plan.verdict.emplace();
  verdict.check = reading.check;
  verdict.state = reading.fails() ? VerdictState::fail : VerdictState::ok;
  const std::string value =
      std::to_string(reading.measured) + " " + reading.threshold.unit + " were measured";
  verdict.reason = value;
  Life life(policy, catalogue, std::move(plan));
  TRY_VOID(life.begin());
  life.wait(patience);
  ReplayReport out;
  out.lived = life.lived();
  const Incident* now = life.incident();
  const bool returned = now && now->state == IncidentState::resolved;
  out.is_reproduced = returned != reading.is_sound;
  out.end = std::string(reading.is_sound ? "a sound" : "a broken") + " node " +
            (returned ? "returned" : "did not return") + ": " + value;
  return out;
}

Result<ReplayReport> replay_catalogue(const RemediationPolicy& policy,
                                      const XidCatalogue& catalogue, const Refutation& story) {
  if (!story.about.empty()) return replay_guard(policy, catalogue, story);
  if (story.story.empty()) return make_error(Code::invalid, "catalogue: the story names no fault");
  return replay_fault(policy, catalogue, story);
}

}  // namespace tundish::sim
