#include "control/verify/equivalent.hpp"

#include "control/verify/space.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

/// What the runtime and the search read beside edges; a difference there is one of its own.
std::string difference_of_rules(const RemediationPolicy& a, const RemediationPolicy& b) {
  if (a.initial != b.initial) return "they begin elsewhere";
  if (a.claims != b.claims) return "claims are kept differently";
  if (a.budgets.kept_in != b.budgets.kept_in || a.budgets.window_h != b.budgets.window_h ||
      a.budgets.disruptive_most != b.budgets.disruptive_most) {
    return "budgets are kept differently";
  }
  if (a.limits.touch != b.limits.touch || a.limits.brake_stops != b.limits.brake_stops) {
    return "limits differ";
  }
  if (a.states.size() != b.states.size()) return "they have different states";
  for (const auto& [name, state] : a.states) {
    const auto other = b.states.find(name);
    if (other == b.states.end()) return "only one has state " + name;
    const PolicyState& same = other->second;
    if (state.action != same.action || state.checks != same.checks || state.final != same.final ||
        state.node != same.node || state.releases != same.releases) {
      return "state " + name + " does something else";
    }
  }
  return "";
}

}  // namespace

Result<std::optional<std::string>> find_difference(const VerifyInput& input,
                                                   const RemediationPolicy& other) {
  TRY_VOID(check_policy(other));
  if (const auto rules = difference_of_rules(input.policy, other); !rules.empty()) return {rules};
  const Space one = TRY(Space::build(input));
  // Only its reading of guards is used: both are asked in the positions of the first one, which
  // are also those of the second one as long as every answer is the same.
  VerifyInput second{other, input.faults, input.thresholds};
  const Space two = TRY(Space::build(second));
  for (std::size_t i = 0; i < one.configs().size(); ++i) {
    const Config& at = one.configs()[i];
    if (one.state_of(at).final) continue;
    const auto found = find_question(one, two, at, [&](const Space::Question& q) {
      const PolicyStep a = one.ask(at, q), b = two.ask(at, q);
      return a.go != b.go || (a.go && a.escalate != b.escalate);
    });
    if (!found) continue;
    const StoryStep step = tell_wait(one, at, *found);
    return {"in " + step.state + ", " + step.event + ": " +
            one.ask(at, *found).go.value_or("stays") + " against " +
            two.ask(at, *found).go.value_or("stays")};
  }
  return {std::nullopt};
}

}  // namespace tundish::control::verify
