// Every counterexample of a known-bad policy is lived through by the shipped controllers, and
// sticks where its story says.
#include "sim/replay.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/log.hpp"
#include "sim/catalogues.hpp"

namespace tundish::sim {
namespace {

void quiet(LogLevel, std::string_view, const std::vector<LogField>&) {}

std::vector<std::string> known_bad_files() {
  std::vector<std::string> out;
  const std::string folder = std::string(TUNDISH_SOURCE_DIR) + "/catalog/policies/known-bad";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string path = file.path().string();
    if (path.find(".fixed.") == std::string::npos) out.push_back(path);
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(replay, every_story_of_every_known_bad_policy_is_reproduced) {
  set_log_sink(quiet);
  const auto xids = load_xids(std::string(TUNDISH_SOURCE_DIR) + "/catalog");
  ASSERT_TRUE(xids);
  int lived = 0;
  for (const auto& file : known_bad_files()) {
    const auto policy = load_policy_file(file);
    ASSERT_TRUE(policy) << policy.error().message();
    const auto found = control::verify::verify({*policy, control::verify::faults_of(*xids), {}});
    ASSERT_TRUE(found) << file;
    for (const auto& story : found->refuted) {
      // These two speak of the files alone: nothing happens in them.
      if (story.property == "threshold" || story.property == "catalogue") continue;
      const auto report = replay(*policy, *xids, story);
      ASSERT_TRUE(report) << file << " " << story.property << ": " << report.error().message();
      EXPECT_TRUE(report->is_reproduced)
          << file << " " << story.property << ": " << report->end << " (" << story.verdict << ")";
      ++lived;
    }
  }
  EXPECT_GE(lived, 40);
}

}  // namespace
}  // namespace tundish::sim
