#pragma once
// Ways through the space in plain words.
#include <functional>
#include <optional>

#include "control/verify/space.hpp"

namespace tundish::control::verify {

/// Within a step: the next state is entered under a hold.
inline constexpr std::string_view hold_is_set = "a person sets a hold";

/// Within a step: the fault was seen again.
inline constexpr std::string_view witness_comes = "a new witness comes in";

/// What a person does beside the policy.
inline constexpr std::string_view node_is_claimed = "a person claims the node";
inline constexpr std::string_view claim_is_taken_back = "the person takes that claim back";

/// What is no step of the policy, in words; empty: it is one.
std::string_view told_of(MoveKind kind);

/// The way from a beginning to the position.
std::vector<StoryStep> story_to(const Space& space, int config);
/// The fault, and on which node.
StoryStep tell_beginning(const Space& space, const Config& start);
/// One move out of a position.
StoryStep tell_move(const Space& space, const Config& at, const Move& move);
/// A wait in a position that nothing ends.
StoryStep tell_wait(const Space& space, const Config& at, const Space::Question& question);
/// "reboot (the node is restarted through its BMC)"
std::string state_with_doc(const Space& space, int state);

/// Calls `test` with every question that can come up in a position, quiet ones first, until it
/// says true; that question, or nothing.
std::optional<Space::Question> find_question(
    const Space& space, const Config& at, const std::function<bool(const Space::Question&)>& test);

/// As above, with the facts and deadlines that either of two policies of the same states reads.
std::optional<Space::Question> find_question(
    const Space& space, const Space& also, const Config& at,
    const std::function<bool(const Space::Question&)>& test);

/// One position of each kind that leads on in its own way, nearest first, without final ones.
std::vector<int> distinct_positions(const Space& space);

/// Positions from which a target is reached over edges that `use` takes.
std::vector<bool> can_reach(const Space& space, const std::function<bool(const Config&)>& target,
                            const std::function<bool(const Move&)>& use);

}  // namespace tundish::control::verify
