#include "codec/limits.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "codec/kernel_log/catalogue.hpp"
#include "codec/limits_lint.hpp"

namespace tundish {
namespace {

std::string read(const std::string& name) {
  std::ifstream file(std::string(TUNDISH_SOURCE_DIR) + "/catalog/" + name);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

Nameplates shipped_plates() {
  auto plates = load_nameplates(read("nameplates.yaml"), "nameplates.yaml");
  EXPECT_TRUE(plates) << plates.error().message();
  return plates ? *plates : Nameplates{};
}

Thresholds shipped_limits() {
  auto limits = load_thresholds(read("thresholds.yaml"), "thresholds.yaml", shipped_plates());
  EXPECT_TRUE(limits) << limits.error().message();
  return limits ? *limits : Thresholds{};
}

std::string row(const std::string& more, const std::string& value = "1") {
  return "  - check: memory_bandwidth\n    name: hbm\n    value: " + value +
         "\n    unit: mbyte_per_s\n    side: below\n    verdict: fail\n    source: \"x\"\n" + more;
}

Result<Thresholds> load(const std::string& rows) {
  return load_thresholds("edition: \"2026-08\"\nlimits:\n" + rows, "t.yaml", shipped_plates());
}

std::string why(const std::string& rows) {
  const auto loaded = load(rows);
  return loaded ? "taken" : loaded.error().what;
}

TEST(Limits, TheShippedFilesAreTakenAndHaveNothingToComplainOf) {
  for (const auto& finding : lint_limits(shipped_limits(), shipped_plates(), {})) {
    ADD_FAILURE() << finding.object << ": " << finding.problem;
  }
}

TEST(Limits, BadInputIsRefusedByLine) {
  const std::string good = row("    gpu_model: h100_sxm\n");
  EXPECT_EQ(why(good), "taken");
  EXPECT_EQ(why(good + row("    gpu_model: h999\n")).substr(0, 10), "t.yaml:18:");
  EXPECT_NE(why(row("    gpu_model: h999\n")).find("no nameplate is called h999"),
            std::string::npos);
  EXPECT_NE(why("  - check: a\n    unit: parsec\n").find("t.yaml:4:"), std::string::npos);
  EXPECT_NE(why(row("    colour: red\n")).find("t.yaml:10:"), std::string::npos);
  EXPECT_EQ(why(row("", "-1")).substr(0, 9), "t.yaml:5:");
  EXPECT_EQ(why(row("    since_driver: new\n")).substr(0, 10), "t.yaml:10:");
  EXPECT_EQ(why(row("    since_driver: \"575\"\n    until_driver: \"550\"\n")).substr(0, 10),
            "t.yaml:11:");
  EXPECT_NE(why(good + good).find("twice; first in line 3"), std::string::npos);
  EXPECT_NE(
      load_thresholds("edition: soon\nlimits: []\n", "t.yaml", {}).error().what.find("t.yaml"),
      std::string::npos);
}

TEST(Limits, NameplatesAreRefusedByLine) {
  const std::string head = "edition: \"2026-08\"\nmodels:\n";
  const std::string one = "  - model: a\n    product_names: [GPU A]\n    source: \"x\"\n";
  EXPECT_TRUE(load_nameplates(head + one, "n.yaml"));
  EXPECT_EQ(load_nameplates(head + one + one, "n.yaml").error().what.substr(0, 9), "n.yaml:6:");
  const std::string twin = "  - model: b\n    product_names: [GPU A]\n    source: \"x\"\n";
  EXPECT_EQ(load_nameplates(head + one + twin, "n.yaml").error().what.substr(0, 9), "n.yaml:7:");
}

TEST(Limits, ARowForTheModelOrDriverBeatsTheOneForAll) {
  const auto limits = load(row("", "10") + row("    gpu_model: h100_sxm\n", "20") +
                           row("    since_driver: \"570\"\n    until_driver: \"575\"\n", "30"));
  ASSERT_TRUE(limits) << limits.error().what;
  const auto value = [&](const char* model, const char* driver) {
    const auto chosen = limits_for(*limits, model, driver);
    return chosen.size() == 1 ? chosen[0].value : -1;
  };
  EXPECT_EQ(value("", ""), 10);
  EXPECT_EQ(value("h100_sxm", ""), 20);
  EXPECT_EQ(value("b200", "570.124.06"), 30);
  EXPECT_EQ(value("b200", "575.51"), 30);
  EXPECT_EQ(value("b200", "580.1"), 10);
  EXPECT_EQ(value("b200", "nonsense"), 10);
}

// NVIDIA/DCGM 4.6.0, diag-skus.yaml, device 2335: 2333 where its sibling has 2,212,500.
TEST(LimitsLint, ThePublishedSlipOfTheH200IsFound) {
  const auto limits = load(row("    gpu_model: h200_sxm\n", "2333"));
  ASSERT_TRUE(limits);
  const auto found = lint_limits(*limits, shipped_plates(), {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].problem.find("cannot fail"), std::string::npos);
}

// Further ones of the same file: A100-40 20b0 and DCGM's stress limit of GB200.
TEST(LimitsLint, TheOtherSlipsOfThatFileAreFound) {
  const auto a100 = load(row("    gpu_model: a100_sxm_40gb\n", "137500"));
  EXPECT_EQ(lint_limits(*a100, shipped_plates(), {}).size(), 1U);
  auto gb200 = *load(row("    gpu_model: gb200\n", "15225"));
  gb200.limits[0].unit = LimitUnit::gflops;
  EXPECT_EQ(lint_limits(gb200, shipped_plates(), {}).size(), 1U);
  const auto above = load(row("    gpu_model: h100_sxm\n", "3350001"));
  EXPECT_NE(lint_limits(*above, shipped_plates(), {})[0].problem.find("always fails"),
            std::string::npos);
}

// Azure/azurehpc-health-checks: element 3 of a query with three columns.
TEST(LimitsLint, AColumnThatTheQueryLacksIsFound) {
  auto limits = *load(row("", "512"));
  limits.limits[0].check = "row_remap";
  limits.limits[0].unit = LimitUnit::count;
  limits.limits[0].side = LimitBound::above;
  limits.limits[0].columns = {"gpu_bus_id", "remapped_rows.uncorrectable",
                              "remapped_rows.correctable"};
  limits.limits[0].column = 3;
  const auto found = lint_limits(limits, shipped_plates(), {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].problem.find("element 3 of a query with 3 columns"), std::string::npos);
  limits.limits[0].column = 1;
  EXPECT_TRUE(lint_limits(limits, shipped_plates(), {}).empty());
}

TEST(LimitsLint, AFileWithoutLimitsIsFound) {
  const auto found = lint_limits({}, shipped_plates(), {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].problem.find("no check that measures can"), std::string::npos);
}

TEST(LimitsLint, SharesAndPairsThatCannotFire) {
  auto limits = *load(row("", "100"));
  auto& one = limits.limits[0];
  one.unit = LimitUnit::percent;
  one.side = LimitBound::above;
  EXPECT_EQ(lint_limits(limits, {}, {}).size(), 1U);
  one.value = 0;
  one.side = LimitBound::below;
  EXPECT_EQ(lint_limits(limits, {}, {}).size(), 1U);
  one.side = LimitBound::at_least;
  EXPECT_EQ(lint_limits(limits, {}, {}).size(), 1U);
  one.value = 90;
  Limit warn = one;
  warn.verdict = VerdictState::warn;
  warn.value = 95;
  limits.limits.push_back(warn);
  EXPECT_EQ(lint_limits(limits, {}, {}).size(), 1U);
}

TEST(LimitsLint, AMistypedCheckIsFound) {
  const auto limits = load(row(""));
  EXPECT_EQ(lint_limits(*limits, {}, {"memory_bandwith"}).size(), 1U);
  EXPECT_TRUE(lint_limits(*limits, {}, {"memory_bandwidth"}).empty());
}

// NVSentinel #1888: policy buckets drifted from the mapper. Both ways: every code has a row, and
// every row an action or a word that it has none.
TEST(LimitsLint, TheCatalogueOfCodesIsTotal) {
  const std::string xid = read("xid.yaml");
  const std::string sxid = read("sxid.yaml");
  auto catalogue = load_xid_catalogue({xid, "xid.yaml"}, {sxid, "sxid.yaml"});
  ASSERT_TRUE(catalogue) << catalogue.error().what;
  for (const auto& finding : lint_catalogue(*catalogue)) {
    ADD_FAILURE() << finding.object << ": " << finding.problem;
  }
  std::erase_if(catalogue->xid.entries, [](const XidEntry& entry) { return entry.code == 95; });
  ASSERT_EQ(lint_catalogue(*catalogue).size(), 1U);
  EXPECT_EQ(lint_catalogue(*catalogue)[0].object, "xid 95");
}

}  // namespace
}  // namespace tundish
