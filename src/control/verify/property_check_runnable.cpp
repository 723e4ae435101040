#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

bool depends_on_act(const PolicyState& state) {
  for (const auto& edge : state.next) {
    for (const auto& term : edge.when) {
      if (term.find("checks_") != std::string::npos || term.find("action_") != std::string::npos) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::optional<Broken> find_unrunnable_check(const Space& space, const VerifyInput&) {
  for (const int config : distinct_positions(space)) {
    const Config& at = space.configs()[static_cast<std::size_t>(config)];
    const PolicyState& state = space.state_of(at);
    if (state.action != "run_checks" || !depends_on_act(state)) continue;
    const CheckPlan plan = space.plan_at(at, at.fault, at.hardware);
    if (plan.waits.empty() && plan.skipped.empty()) continue;
    Broken out;
    out.config = config;
    const std::string name = space.names()[at.state];
    StoryStep wait;
    wait.state = wait.go = name;
    wait.fault = space.faults()[at.fault].name;
    if (!plan.waits.empty()) {
      out.sticks_in = name;
      wait.event = "its way out needs a check, but " + plan.waits;
      out.verdict = "the check that would let it out of " + name + " never runs there";
    } else {
      wait.event = "the check is left out, because " + plan.why_skipped;
      out.verdict = "a check is left out of " + name + " exactly when it is needed";
    }
    out.after.push_back(wait);
    return out;
  }
  return std::nullopt;
}

}  // namespace tundish::control::verify
