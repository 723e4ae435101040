// A figure of many parts together is low for many reasons, the set-up of the test among them. It is
// told with its number and accuses no device, so no node is taken out for it alone
// (control/runner/leases.cpp). The report: Azure/azurehpc-health-checks #142.
#include <fstream>
#include <sstream>

#include "families/checks/sample_for_test.hpp"

namespace tundish::checks {
namespace {

TEST(SharedFigure, a_slow_all_reduce_is_told_and_is_no_device_of_its_own) {
  const std::string folder = std::string(TUNDISH_SOURCE_DIR) + "/tests/fuzz/corpus/";
  std::ifstream file(folder + "tool_output_fuzz/nccl_ok");
  std::ostringstream text;
  text << file.rdbuf();
  std::string slow = text.str();
  for (const char* figure : {"478.66", "479.08"}) {
    ASSERT_NE(slow.find(figure), std::string::npos);
    slow.replace(slow.find(figure), 6, " 15.10");
  }
  ToolRun run;
  run.check = run.tool = "nccl_local";
  run.end = ToolEnd::done;
  run.exit_code = 0;
  run.out = slow;
  CheckSample sample = whole_node();
  sample.active = {run};
  const auto verdicts = run_check(*find_check("nccl_local"), sample);
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].state, VerdictState::fail);
  EXPECT_NE(verdicts[0].reason.find("15100 mbyte_per_s"), std::string::npos) << verdicts[0].reason;
  EXPECT_EQ(verdicts[0].locality, Locality::symptom);
  EXPECT_EQ(verdicts[0].device, "");
}

TEST(SharedFigure, what_measures_many_parts_together_is_never_device_local) {
  for (const char* name : {"nccl_local", "nccl_pair", "ib_write_bw"}) {
    EXPECT_EQ(find_check(name)->locality, Locality::symptom) << name;
  }
}

}  // namespace
}  // namespace tundish::checks
