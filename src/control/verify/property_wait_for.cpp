#include <algorithm>

#include "base/text.hpp"
#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

bool has_timed_way(const PolicyState& state) {
  return std::any_of(state.next.begin(), state.next.end(),
                     [](const PolicyEdge& edge) { return edge.when.empty() && edge.after_s > 0; });
}

std::optional<Broken> circle_among_checks(const Space& space) {
  const auto circle = circle_of_checks(space.policy());
  if (circle.empty()) return std::nullopt;
  for (const int config : distinct_positions(space)) {
    const Config& at = space.configs()[static_cast<std::size_t>(config)];
    const PolicyState& state = space.state_of(at);
    if (state.action != "run_checks" || has_timed_way(state)) continue;
    const auto checks = checks_of(space.policy(), state);
    const auto inside = std::find_if(checks.begin(), checks.end(), [&](const auto& check) {
      return std::find(circle.begin(), circle.end(), check) != circle.end();
    });
    if (inside == checks.end()) continue;
    Broken out;
    out.config = config;
    out.sticks_in = space.names()[at.state];
    out.verdict =
        "these checks wait for each other: " + join(circle, " after ") + " after " + circle.front();
    return out;
  }
  return std::nullopt;
}

/// Waits for the node to be drained, and only a later state asks for that.
std::optional<Broken> circle_among_states(const Space& space) {
  std::string asks;
  for (std::size_t i = 0; i < space.names().size(); ++i) {
    if (space.state(static_cast<int>(i)).action == "evacuate") asks = space.names()[i];
  }
  for (std::size_t i = 0; i < space.configs().size(); ++i) {
    const Config& at = space.configs()[i];
    if (space.state_of(at).final || at.asked || !at.held_by_tenant) continue;
    const auto edges = space.edges_of(i);
    if (std::any_of(edges.begin(), edges.end(), [](const Edge& e) { return is_way_on(*e.move); })) {
      continue;
    }
    for (const auto& edge : space.state_of(at).next) {
      for (const auto& term : edge.when) {
        if (term != "drained" && term != "isolated" && term != "permitted") continue;
        Broken out;
        out.config = static_cast<int>(i);
        out.sticks_in = space.names()[at.state];
        out.verdict = out.sticks_in + " waits for `" + term + "`, which only " +
                      (asks.empty() ? "a state that evacuates" : asks) +
                      " asks for, and that one comes behind it";
        return out;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Broken> find_circular_wait(const Space& space, const VerifyInput&) {
  if (auto broken = circle_among_checks(space)) return broken;
  return circle_among_states(space);
}

}  // namespace tundish::control::verify
