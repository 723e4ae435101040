// The default policy with one guard weakened: refuted, or shown to do the same, or on the list
// below with the reason why it may be.
#include <cstdlib>
#include <map>
#include <random>

#include "control/verify/equivalent.hpp"
#include "control/verify/mutants_for_test.hpp"
#include "control/verify/policies_for_test.hpp"

namespace tundish::control::verify {
namespace {

/// Weaker in no property: they are slower, or look more or less often before they go on.
const std::map<std::string, std::string>& survivors() {
  static const std::map<std::string, std::string> list = {
      {"choose.0 -> revalidate: edge dropped", "the last look is the same check"},
      {"choose.3 -> rma: nobody told", "it ends with the vendor all the same"},
      {"choose.8 -> power_cycle: edge dropped", "the last look comes one repair earlier"},
      {"last_wait.0 -> rma: edge dropped", "the look ten minutes later sees the witness's fault"},
      {"unseen.0 -> choose: edge dropped", "the look ten minutes later sees the witness's fault"},
      {"power_cycle.2 -> revalidate: without rebooted", "looks before the next repair"},
      {"reboot.2 -> revalidate: without rebooted", "looks before the next repair"},
      {"look_again.0 -> choose: edge dropped", "the look 20 s later sees the witness's fault"},
      {"look_again.1 -> revalidate: deadline dropped", "it looks again at once, five times in all"},
      {"revalidate: budget plus one", "one more look"},
      {"wipe.2 -> wipe: edge dropped", "the power goes after one failed wipe"},
      {"wipe.3 -> power_cycle: edge dropped", "the vendor gets it without a try by the power"},
      {"wipe.6 -> wipe: edge dropped", "a person is told at the first silence"},
      {"wipe: budget plus one", "one more try"},
      {"touched when drained", "its states say `isolated` themselves, and that is proved"}};
  return list;
}

struct Judged {
  bool refuted = false, same = false;
  std::string difference;
};

Judged judge(const RemediationPolicy& policy, const Mutant& mutant) {
  Judged out;
  const auto found = verify({mutant.policy, shipped_faults(), {}});
  EXPECT_TRUE(found) << mutant.what;
  out.refuted = found && !found->is_proved();
  if (out.refuted) return out;
  const auto difference = find_difference({policy, shipped_faults(), {}}, mutant.policy);
  EXPECT_TRUE(difference) << mutant.what;
  out.same = difference && !*difference;
  if (difference && *difference) out.difference = **difference;
  return out;
}

TEST(mutation, a_weakened_guard_is_refuted_or_does_the_same) {
  const RemediationPolicy policy = shipped_policy();
  auto mutants = mutants_of(policy);
  ASSERT_GT(mutants.size(), 120u);
  std::shuffle(mutants.begin(), mutants.end(), std::mt19937(7));
  const bool all = std::getenv("TUNDISH_SLOW") != nullptr;
  const std::size_t count = all ? mutants.size() : 25;
  std::size_t refuted = 0, same = 0, survived = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Judged judged = judge(policy, mutants[i]);
    refuted += judged.refuted ? 1 : 0;
    same += judged.same ? 1 : 0;
    if (judged.refuted || judged.same) {
      EXPECT_FALSE(survivors().contains(mutants[i].what)) << "no survivor: " << mutants[i].what;
      continue;
    }
    ++survived;
    EXPECT_TRUE(survivors().contains(mutants[i].what))
        << mutants[i].what << " goes unseen: " << judged.difference;
  }
  EXPECT_GT(refuted * 10, count * 7);
  if (all) {
    EXPECT_EQ(survived, survivors().size());
    EXPECT_EQ(refuted + same + survived, mutants.size());
  }
}

}  // namespace
}  // namespace tundish::control::verify
