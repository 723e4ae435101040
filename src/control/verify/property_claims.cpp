#include "control/verify/properties.hpp"

namespace tundish::control::verify {

// A person's claim changes no answer of policy_step, so it may be there from the beginning of any
// way to the return: whether it is respected shows at the return alone.
std::optional<Broken> find_foreign_release(const Space& space, const VerifyInput&) {
  const bool slot = space.policy().claims == ClaimKeeping::slot;
  for (std::size_t i = 0; i < space.configs().size(); ++i) {
    const PolicyState& state = space.state_of(space.configs()[i]);
    if (state.action != "return_node") continue;
    if (!slot && state.releases == Releases::own) continue;
    Broken out;
    out.config = static_cast<int>(i);
    StoryStep person;
    person.event = "a person drains the node and claims it";
    out.before.push_back(person);
    if (slot) {
      StoryStep lost;
      lost.event = "the incident writes its claim over the person's";
      out.before.push_back(lost);
    }
    out.verdict = slot ? "the node is free though the person's reason was never taken back: it was "
                         "written over"
                       : "the policy releases the person's claim with its own";
    return out;
  }
  return std::nullopt;
}

}  // namespace tundish::control::verify
