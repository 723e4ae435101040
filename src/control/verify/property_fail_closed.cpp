#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

std::string fault_of_end(const Space& space, const Config& at) {
  const PolicyState& state = space.state_of(at);
  if (state.action == "return_node" && !at.proved) {
    return "the node returns, and since the last witness no check has measured that it is sound";
  }
  if (state.action == "return_node" && space.uses_wipe() && !at.wiped) {
    return "the node returns, and nobody knows that it was wiped";
  }
  if (state.action == "open_rma" && !at.hardware) {
    return "the vendor gets a node of which neither hardware nor a check has ever said a word";
  }
  const auto& faults = space.faults();
  if (state.action == "open_rma" && !at.bad && faults[at.fault].severity < 3) {
    return "the vendor gets a node that nobody has seen broken since its last repair";
  }
  const bool known = space.policy().limits.touch == "drained" ? at.drained : at.isolated;
  if (is_disruptive_action(state.action) && !known) {
    return "the node is touched though it was not known to be " + space.policy().limits.touch;
  }
  if (is_disruptive_action(state.action) && !at.sick) {
    return "the node is repaired once more though nobody has seen it broken since the last repair";
  }
  if ((state.node == "drained" && !at.drained) || (state.node == "isolated" && !at.isolated)) {
    return "the policy takes the node for " + state.node + ", and nobody knows that it is";
  }
  return "";
}

/// A restart that nobody saw leads where one leads after which the node was heard again.
std::optional<Space::Question> find_blind_restart(const Space& space, const Config& at) {
  const std::string& action = space.state_of(at).action;
  if (action != "reboot" && action != "power_cycle") return std::nullopt;
  return find_question(space, at, [&](const Space::Question& q) {
    if (q.act == ActSeen::failed || q.after_s > 0 || q.witness) return false;
    if (has_fact(q.facts, "rebooted") && has_fact(q.facts, "agent_back")) return false;
    const auto go = space.ask(at, q).go;
    return go && space.policy().states.at(*go).action == "run_checks";
  });
}

/// Where the policy goes when the checks pass is no place for any other answer, nor for none.
std::optional<Space::Question> find_open_verdict(const Space& space, const Config& at) {
  return find_question(space, at, [&](const Space::Question& q) {
    if (q.act == ActSeen::done) return false;
    Space::Question passed = q, open = q;
    passed.act = ActSeen::done;
    passed.after_s = open.after_s = 0;
    passed.hardware = open.hardware = at.hardware || q.witness;
    open.act = ActSeen::running;
    const auto good = space.ask(at, passed).go;
    if (!good || space.ask(at, open).go == good) return false;  // not for the verdict's sake
    return space.ask(at, q).go == good;
  });
}

}  // namespace

std::optional<Broken> find_open_failure(const Space& space, const VerifyInput&) {
  for (std::size_t i = 0; i < space.configs().size(); ++i) {
    const std::string verdict = fault_of_end(space, space.configs()[i]);
    if (verdict.empty()) continue;
    Broken out;
    out.config = static_cast<int>(i);
    out.verdict = verdict;
    return out;
  }
  for (const int config : distinct_positions(space)) {
    const Config& at = space.configs()[static_cast<std::size_t>(config)];
    if (const auto blind = find_blind_restart(space, at)) {
      Broken out;
      out.config = config;
      StoryStep step = tell_wait(space, at, *blind);
      step.go = *space.ask(at, *blind).go;
      out.after.push_back(step);
      out.verdict = step.go + " judges a node of which nobody knows that it restarted and is back";
      return out;
    }
    if (space.state_of(at).action != "run_checks") continue;
    if (const auto open = find_open_verdict(space, at)) {
      Broken out;
      out.config = config;
      StoryStep step = tell_wait(space, at, *open);
      step.go = *space.ask(at, *open).go;
      out.after.push_back(step);
      out.verdict = step.state + " leads to " + step.go + " when the checks pass, and also now";
      return out;
    }
  }
  return std::nullopt;
}

}  // namespace tundish::control::verify
