#include <algorithm>

#include "control/permit/blast.hpp"
#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

std::uint16_t brake_bit() {
  const auto& names = free_facts();
  return static_cast<std::uint16_t>(
      1u << (std::find(names.begin(), names.end(), "brake") - names.begin()));
}

/// With the brake off it goes on to something that takes no capacity away; with it on, it does not.
bool is_held_back(const Space& space, const Config& at, Space::Question q) {
  if ((q.facts & brake_bit()) == 0) return false;
  const PolicyStep on = space.ask(at, q);
  q.facts = static_cast<std::uint16_t>(q.facts & ~brake_bit());
  const PolicyStep off = space.ask(at, q);
  if (!off.go || on.go == off.go) return false;
  return !removes_capacity(space.policy().states.at(*off.go).action);
}

}  // namespace

std::optional<Broken> find_braked_recovery(const Space& space, const VerifyInput&) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < space.configs().size(); ++i) {
    const Config& at = space.configs()[i];
    const std::string& action = space.state_of(at).action;
    const std::string& name = space.names()[at.state];
    if (!seen.insert(name).second) continue;
    if (action.empty() || removes_capacity(action)) continue;
    if (space.policy().limits.brake_stops.empty()) continue;
    if (!is_stopped_by_brake(space.policy(), action)) continue;
    Broken out;
    out.config = static_cast<int>(i);
    out.sticks_in = name;
    out.verdict = "the brake stops " + action +
                  ", which takes no capacity away: while it is on, "
                  "a node that is well again stays out";
    return out;
  }
  for (const int config : distinct_positions(space)) {
    const Config& at = space.configs()[static_cast<std::size_t>(config)];
    if ((space.facts_read(at.state) & brake_bit()) == 0) continue;
    const auto held = find_question(
        space, at, [&](const Space::Question& q) { return is_held_back(space, at, q); });
    if (!held) continue;
    Broken out;
    out.config = config;
    out.sticks_in = space.names()[at.state];
    out.after.push_back(tell_wait(space, at, *held));
    out.verdict = "only the brake keeps it in " + out.sticks_in +
                  ", though the way on takes no capacity away";
    return out;
  }
  return std::nullopt;
}

}  // namespace tundish::control::verify
