#pragma once
// The eleven properties, one file each. Each says in one sentence what holds of every policy that
// is loaded, and finds the shortest way to break it.
#include <optional>
#include <vector>

#include "control/verify/space.hpp"

namespace tundish::control::verify {

/// What breaks a property, before it is told as a story.
struct Broken {
  int config = -1;                ///< where the way ends; -1: no position is needed to see it
  std::vector<StoryStep> after;   ///< steps behind it: a circle, a wait
  std::vector<StoryStep> before;  ///< steps that came first, outside the policy
  std::string verdict;
  std::string sticks_in;  ///< state that is not left; empty: it ends badly
};

struct Property {
  std::string name;
  std::string statement;
  std::optional<Broken> (*find)(const Space& space, const VerifyInput& input);
};

const std::vector<Property>& properties();

std::optional<Broken> find_unrunnable_check(const Space& space, const VerifyInput& input);
std::optional<Broken> find_no_way_out(const Space& space, const VerifyInput& input);
std::optional<Broken> find_circular_wait(const Space& space, const VerifyInput& input);
std::optional<Broken> find_endless_wait(const Space& space, const VerifyInput& input);
std::optional<Broken> find_braked_recovery(const Space& space, const VerifyInput& input);
std::optional<Broken> find_open_failure(const Space& space, const VerifyInput& input);
std::optional<Broken> find_foreign_release(const Space& space, const VerifyInput& input);
std::optional<Broken> find_returned_budget(const Space& space, const VerifyInput& input);
std::optional<Broken> find_dead_threshold(const Space& space, const VerifyInput& input);
std::optional<Broken> find_unhandled_fault(const Space& space, const VerifyInput& input);
std::optional<Broken> find_endless_circle(const Space& space, const VerifyInput& input);

}  // namespace tundish::control::verify
