#include <algorithm>
#include <deque>

#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

/// How far an action reaches: a restart also resets, a repair also restarts.
int reach_of(std::string_view action) {
  if (action == "reset_gpus") return 1;
  if (action == "reboot") return 2;
  if (action == "power_off") return 3;
  if (action == "power_cycle") return 3;
  return action == "open_rma" ? 4 : 0;
}

bool has_action(const Space& space, const std::string& action) {
  const auto& states = space.policy().states;
  return std::any_of(states.begin(), states.end(),
                     [&](const auto& state) { return state.second.action == action; });
}

bool is_judging(const PolicyState& state) {
  return state.action == "run_checks" || is_disruptive_action(state.action);
}

/// What is done first about a fault when nothing else happens meanwhile.
bool is_handled(const Space& space, int start, const std::string& wanted) {
  const bool exact = has_action(space, wanted);
  std::set<int> seen = {start};
  std::deque<int> todo = {start};
  while (!todo.empty()) {
    const auto at = static_cast<std::size_t>(todo.front());
    todo.pop_front();
    const PolicyState& state = space.state_of(space.configs()[at]);
    if (state.action == wanted) return true;
    if (!exact && reach_of(state.action) > reach_of(wanted)) return true;
    if (is_judging(state)) continue;  // something else comes before it
    for (const Edge& edge : space.edges_of(at)) {
      if (edge.move->kind != MoveKind::step || !(edge.move->works || edge.move->sticky)) continue;
      if (seen.insert(edge.to).second) todo.push_back(edge.to);
    }
  }
  return false;
}

std::optional<Broken> unhandled(const Space& space) {
  for (std::size_t i = 0; i < space.configs().size(); ++i) {
    const Config& at = space.configs()[i];
    if (space.parent(static_cast<int>(i)) >= 0) continue;
    const FaultClass& fault = space.faults()[at.fault];
    if (!at.hardware || !at.held_by_tenant || fault.by_person || fault.members.empty()) continue;
    const std::string wanted = first_action(fault.action);
    if (is_handled(space, static_cast<int>(i), wanted)) continue;
    Broken out;
    out.config = static_cast<int>(i);
    out.verdict = fault.name + " asks for " + fault.action + " (" +
                  std::to_string(fault.members.size()) + " codes like it), and " + wanted +
                  " is not what is done first about it";
    return out;
  }
  return std::nullopt;
}

/// Also when the first act failed, and whatever came after it: what is wet and was not seen to go
/// off gets no reset and no new start, which would put it under power again.
std::optional<Broken> restarted_wet(const Space& space) {
  for (std::size_t i = 0; i < space.configs().size(); ++i) {
    const Config& at = space.configs()[i];
    const FaultClass& fault = space.faults()[at.fault];
    if (fault.action != "power_off" || !at.hardware) continue;
    const std::string& action = space.state_of(at).action;
    if (action == "power_off" || !is_disruptive_action(action)) continue;
    Broken out;
    out.config = static_cast<int>(i);
    out.verdict = fault.name + " asks for power_off, and " + action + " puts it under power again";
    return out;
  }
  return std::nullopt;
}

/// A state that nothing leads to is a repair that is never tried.
std::optional<Broken> dead_state(const Space& space) {
  std::set<int> entered;
  for (const Config& at : space.configs()) entered.insert(at.state);
  for (std::size_t i = 0; i < space.names().size(); ++i) {
    if (entered.contains(static_cast<int>(i))) continue;
    Broken out;
    out.about = space.names()[i];
    out.verdict = "no fault ever leads to state " + space.names()[i];
    return out;
  }
  return std::nullopt;
}

/// The other way round: a guard that no known fault can ever satisfy.
std::optional<Broken> dead_guard(const Space& space) {
  std::set<std::string> known;
  for (const auto& fault : space.faults()) {
    known.insert(wish_fact(fault.action));
    for (const auto& member : fault.members) known.insert("fault:" + member);
  }
  for (const auto& [name, state] : space.policy().states) {
    for (std::size_t number = 0; number < state.next.size(); ++number) {
      const PolicyEdge& edge = state.next[number];
      for (const auto& term : edge.when) {
        const bool of_fault = term.starts_with("fault:") || term.starts_with("wants_");
        if (!of_fault) continue;
        const auto match = known.lower_bound(term);
        if (match != known.end() && match->starts_with(term)) continue;
        Broken out;
        out.about = name + "." + std::to_string(number);
        out.verdict = "the edge from " + name + " to " + edge.go + " waits for " + term +
                      ", which no known fault states";
        return out;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string first_action(const std::string& wish) {
  if (wish == "power_off") return "power_off";
  if (wish == "rma") return "open_rma";
  if (wish == "reboot") return "reboot";
  return wish == "reset" || wish == "fabric" ? "reset_gpus" : "run_checks";
}

std::optional<Broken> find_unhandled_fault(const Space& space, const VerifyInput&) {
  if (auto broken = unhandled(space)) return broken;
  if (auto broken = restarted_wet(space)) return broken;
  if (auto broken = dead_state(space)) return broken;
  return dead_guard(space);
}

}  // namespace tundish::control::verify
