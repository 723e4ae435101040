#include "codec/foreign_verdicts.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

using S = VerdictState;
using Parse = std::vector<Verdict> (*)(std::string_view);

const Verdict* about(const std::vector<Verdict>& verdicts, std::string_view device) {
  for (const auto& verdict : verdicts) {
    if (verdict.device.find(device) != std::string::npos) return &verdict;
  }
  return nullptr;
}

TEST(ForeignVerdicts, DcgmHealth) {
  const auto bad = parse_dcgm_health(
      R"({"body":{"GPU":{"children":{"0":{"children":{"PCIe system":{"value":"Warning"}}},)"
      R"("1":{"children":{"Memory system":{"value":"Failure"}}}}},)"
      R"("Overall Health":{"value":"Failure"}}})");
  ASSERT_NE(about(bad, "PCIe"), nullptr);
  EXPECT_EQ(about(bad, "PCIe")->state, S::warn);
  EXPECT_EQ(about(bad, "1/Memory")->state, S::fail);
  const auto good = parse_dcgm_health(R"({"body":{"Overall Health":{"value":"Healthy"}}})");
  ASSERT_EQ(good.size(), 1U);
  EXPECT_EQ(good[0].state, S::ok);
  // Without the overall line nobody says that it is healthy (DCGM #284).
  EXPECT_EQ(parse_dcgm_health(R"({"body":{}})")[0].state, S::unknown);
}

// dcgmi test --inject puts a value into the cache; recovery 5 is taken for healthy by DCGM 4.6.
TEST(ForeignVerdicts, DcgmFieldsShowWhatWasInjected) {
  const auto seen = parse_dcgm_fields(
      "#Entity   XIDER  GPURA\nID\nGPU 0     0      0\n"
      "GPU 1     79     5\nGPU 2     N/A    N/A\n");
  ASSERT_NE(about(seen, "GPU 1 xid"), nullptr);
  EXPECT_EQ(about(seen, "GPU 1 recovery")->state, S::fail);
  EXPECT_EQ(about(seen, "GPU 2")->state, S::unknown);
  EXPECT_EQ(about(seen, "GPU 0"), nullptr);
  EXPECT_EQ(parse_dcgm_fields("#Entity XIDER GPURA\nGPU 0 0 0\n")[0].state, S::ok);
  EXPECT_EQ(parse_dcgm_fields("Error: unable")[0].state, S::unknown);
}

// NHC #161, #95: a scheduler's command that hangs is no fault of the node.
TEST(ForeignVerdicts, NhcIsReadByItsLastRun) {
  const std::string passed =
      "20261101 12:00:00 Node Health Check starting.\nERROR:  nhc:  Health check failed:  "
      "check_fs_mount:  /scratch not mounted\n20261101 12:05:00 Node Health Check starting.\n"
      "Node Health Check completed successfully (0s).\n";
  EXPECT_EQ(parse_nhc_log(passed)[0].state, S::ok);
  const auto failed = parse_nhc_log(
      "Node Health Check starting.\nERROR:  nhc:  Health check failed:  check_fs_mount:  /scratch "
      "not mounted\n");
  EXPECT_EQ(failed[0].state, S::fail);
  EXPECT_EQ(failed[0].device, "check_fs_mount");
  EXPECT_EQ(parse_nhc_log("Node Health Check starting.\nERROR: nhc: Script timed out while "
                          "executing\n")[0]
                .state,
            S::unknown);
  EXPECT_EQ(parse_nhc_log("Node Health Check starting.\n")[0].state, S::unknown);
  EXPECT_EQ(parse_nhc_log("")[0].state, S::unknown);
}

TEST(ForeignVerdicts, GpudStates) {
  const auto seen = parse_gpud_states(
      R"([{"component":"xid","states":[{"name":"error_xid","health":"Unhealthy","reason":"79"}]},)"
      R"({"component":"cpu","states":[{"health":"Healthy"}]},)"
      R"({"component":"os","states":[{"health":"Initializing"}]},)"
      R"({"component":"disk","states":[{"health":"Degraded","error":"slow"}]}])");
  EXPECT_EQ(about(seen, "xid/error_xid")->state, S::fail);
  EXPECT_EQ(about(seen, "os")->state, S::unknown);
  EXPECT_EQ(about(seen, "disk")->state, S::warn);
  EXPECT_EQ(about(seen, "cpu"), nullptr);
  EXPECT_EQ(parse_gpud_states("[]")[0].state, S::unknown);
}

TEST(ForeignVerdicts, NodeConditions) {
  const auto seen = parse_node_conditions(
      R"({"status":{"conditions":[{"type":"Ready","status":"True"},)"
      R"({"type":"GpuXidError","status":"True","reason":"79"},)"
      R"({"type":"KernelDeadlock","status":"Unknown"},{"type":"DiskPressure",)"
      R"("status":"False"}]}})");
  EXPECT_EQ(about(seen, "GpuXidError")->state, S::fail);
  EXPECT_EQ(about(seen, "KernelDeadlock")->state, S::unknown);
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(parse_node_conditions(R"([{"type":"Ready","status":"False"}])")[0].state, S::fail);
}

// soperator: status ERROR and every exception exit 0. Here it is unknown.
TEST(ForeignVerdicts, SoperatorErrorsDoNotPass) {
  const auto seen = parse_soperator_results(
      R"([{"name":"gpu","status":"PASS"},{"check":"raid","status":"ERROR","details":"trace"},)"
      R"({"name":"ib","status":"FAIL"}])");
  EXPECT_EQ(about(seen, "raid")->state, S::unknown);
  EXPECT_EQ(about(seen, "ib")->state, S::fail);
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(parse_soperator_results(R"([{"name":"gpu","status":"PASS"}])")[0].state, S::ok);
}

TEST(ForeignVerdicts, GarbageIsUnknownAndBounded) {
  const std::string bell =
      "[{\"component\":\"a\\u0007b\",\"states\":[{\"health\":\"Unhealthy\","
      "\"reason\":\"" +
      std::string(100000, 'x') + "\"}]}]";
  const auto seen = parse_gpud_states(bell);
  EXPECT_LT(seen[0].reason.size(), 1000U);
  EXPECT_EQ(seen[0].device.find('\a'), std::string::npos);
  for (const Parse parse : {parse_dcgm_health, parse_dcgm_fields, parse_nhc_log, parse_gpud_states,
                            parse_node_conditions, parse_soperator_results}) {
    for (const std::string& text : {std::string(), std::string("\xff\xfe{"), std::string("null"),
                                    std::string(5 << 20, '['), std::string("{\"body\":3}")}) {
      const auto verdicts = parse(text);
      ASSERT_FALSE(verdicts.empty());
      EXPECT_EQ(verdicts[0].state, S::unknown);
    }
  }
}

}  // namespace
}  // namespace tundish
