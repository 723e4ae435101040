#pragma once
// The eleven properties, one file each. Each says in one sentence what holds of every policy that
// is loaded, and finds the shortest way to break it.
#include <optional>
#include <vector>

#include "control/verify/space.hpp"

namespace tundish::control::verify {

/// What breaks a property, before it is told as a story.
struct Broken {
  int config = -1;               ///< where the way ends; -1: `after` is the whole story
  std::vector<StoryStep> after;  ///< steps behind it: a circle, a wait
  bool hardware_witness = true;  ///< of a whole story
  std::string verdict;
  std::string sticks_in;  ///< state that is not left; empty: it ends badly
  std::string about;      ///< state, or STATE.NUMBER of its edge, that the files alone speak of
  std::optional<ThresholdReading> reading;
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
