#include <gtest/gtest.h>

#include "control/placement/policy_sim_for_test.hpp"

namespace tundish::control::placement {
namespace {

double mean_accepted(Policy policy, int arrivals) {
  double sum = 0;
  for (std::uint64_t seed : {1u, 2u, 3u}) {
    sum += PolicySimulation({.policy = policy, .load = 0.70, .arrivals = arrivals, .seed = seed})
               .accepted();
  }
  return sum / 3;
}

TEST(Policy, best_fit_accepts_99_percent_of_trays_at_load_070) {
  EXPECT_GE(mean_accepted(Policy::best_fit, 20000), 0.99);
}

// Shows that the load above is one where the policy matters.
TEST(Policy, most_free_first_loses_a_quarter_of_the_trays) {
  EXPECT_LT(mean_accepted(Policy::most_free, 5000), 0.75);
}

}  // namespace
}  // namespace tundish::control::placement
