#include <algorithm>

#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

/// What is known of the node for good, and not of the act.
std::uint16_t node_facts() {
  std::uint16_t out = 0;
  for (std::size_t i = 0; i < free_facts().size(); ++i) {
    const std::string& name = free_facts()[i];
    const bool of_act = name == "rebooted" || name == "agent_back";
    if (!of_act) out |= static_cast<std::uint16_t>(1u << i);
  }
  return out;
}

/// The act is over and nothing more is to be known: for a restart, when the node is back or the
/// act has failed; for all others with any answer.
bool is_answered(const Space& space, const Config& at, const Space::Question& q) {
  const std::string& action = space.state_of(at).action;
  if (q.act == ActSeen::running || q.act == ActSeen::none) return false;
  const bool tells = action == "run_checks" || action == "reset_gpus" || action == "wipe";
  if (tells || action == "power_off") return true;
  if (action != "reboot" && action != "power_cycle") return false;
  return q.act == ActSeen::failed ||
         (q.act == ActSeen::done && q.facts == space.facts_read(at.state));
}

bool is_slow(const Space& space, const Config& at, const Space::Question& q) {
  return q.after_s == 0 && is_answered(space, at, q) && !space.ask(at, q).go;
}

/// Nothing has come of the act yet, no time has passed, and it is left all the same.
bool is_hasty(const Space& space, const Config& at, const Space::Question& q) {
  return q.act == ActSeen::running && q.after_s == 0 && !q.witness && q.facts == 0 &&
         at.held_by_tenant && space.ask(at, q).go.has_value();
}

/// Under a hold nothing was begun, and nothing of it is seen: it is spent all the same.
bool is_left_unbegun(const Space& space, const Config& at, const Space::Question& q) {
  const auto kept = static_cast<std::uint16_t>(q.facts & ~node_facts());
  return kept == 0 && space.ask(at, q).go.has_value();
}

std::optional<Broken> left_under_hold(const Space& space, int config) {
  const Config& at = space.configs()[static_cast<std::size_t>(config)];
  if (!is_disruptive_action(space.state_of(at).action)) return std::nullopt;
  const auto left = find_question(
      space, at, [&](const Space::Question& q) { return is_left_unbegun(space, at, q); });
  if (!left) return std::nullopt;
  Broken out;
  out.config = config;
  out.after.push_back(tell_wait(space, at, *left));
  out.after.back().go = *space.ask(at, *left).go;
  out.verdict = space.names()[at.state] +
                " is left under a hold before its act has begun: what was never tried is spent";
  return out;
}

}  // namespace

std::optional<Broken> find_endless_wait(const Space& space, const VerifyInput&) {
  for (const int config : distinct_positions(space)) {
    const Config& at = space.configs()[static_cast<std::size_t>(config)];
    if (space.is_held(at)) {  // a hold ends some day
      if (auto left = left_under_hold(space, config)) return left;
      continue;
    }
    const std::string& name = space.names()[at.state];
    const int last = space.deadlines(at.state).back();
    Broken out;
    out.config = config;
    const auto endless = find_question(space, at, [&](const Space::Question& q) {
      const bool stands_still = space.is_refused(at, q.hardware);
      return (stands_still || q.after_s == last) && !space.ask(at, q).go;
    });
    if (endless) {
      out.sticks_in = name;
      out.after.push_back(tell_wait(space, at, *endless));
      out.verdict = space.is_refused(at, endless->hardware)
                        ? "no hardware witness: the permit refuses the act for ever, and the "
                          "clock of " +
                              name + " stands still meanwhile"
                        : name + " waits without a deadline";
      return out;
    }
    const auto slow =
        find_question(space, at, [&](const Space::Question& q) { return is_slow(space, at, q); });
    if (slow) {
      out.sticks_in = name;
      out.after.push_back(tell_wait(space, at, *slow));
      out.verdict = "the answer is there, and " + name + " waits its deadline out";
      return out;
    }
    const auto hasty =
        find_question(space, at, [&](const Space::Question& q) { return is_hasty(space, at, q); });
    if (hasty) {
      out.after.push_back(tell_wait(space, at, *hasty));
      out.after.back().go = *space.ask(at, *hasty).go;
      out.verdict = name + " is left before its act can have come to anything";
      return out;
    }
  }
  return std::nullopt;
}

}  // namespace tundish::control::verify
