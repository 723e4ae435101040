#include "codec/limit_names.hpp"

#include <gtest/gtest.h>

#include "codec/limits.hpp"
#include "codec/yaml_place.hpp"

namespace tundish {
namespace {

const std::vector<KnownLimit> known = {{"ecc_rate", "corrected", LimitUnit::per_minute},
                                       {"ecc_rate", "corrected_day", LimitUnit::per_day}};

Error refusal(const std::string& check, const std::string& name, const std::string& unit) {
  const std::string text = "edition: \"2026-08\"\nlimits:\n  - check: " + check +
                           "\n    name: " + name + "\n    value: 5\n    unit: " + unit +
                           "\n    side: above\n    verdict: fail\n    source: x\n";
  const auto rows = load_thresholds(text, "t.yaml", {});
  EXPECT_TRUE(rows) << rows.error().message();
  if (!rows) return rows.error();
  EXPECT_TRUE(check_limit_names(text, "t.yaml", *rows, {}));
  const auto checked = check_limit_names(text, "t.yaml", *rows, known);
  return checked ? Error{} : checked.error();
}

TEST(LimitNames, a_row_that_nobody_asks_for_is_refused_by_its_line) {
  EXPECT_EQ(refusal("ecc_rate", "corrected", "per_minute").what, "");
  const Error check = refusal("ecc_rat", "corrected", "per_minute");
  EXPECT_EQ(check.what, "t.yaml:3: no check with limits is called ecc_rat");
  EXPECT_EQ(check.remedy, "did you mean ecc_rate?");
  const Error name = refusal("ecc_rate", "corected_day", "per_day");
  EXPECT_EQ(name.what, "t.yaml:4: check ecc_rate has no limit called corected_day");
  EXPECT_EQ(name.remedy, "did you mean corrected_day?");
  const Error unit = refusal("ecc_rate", "corrected", "mbyte_per_s");
  EXPECT_EQ(unit.what, "t.yaml:6: ecc_rate.corrected is not measured in mbyte_per_s");
  EXPECT_EQ(unit.remedy, "its unit is per_minute");
}

TEST(YamlPlace, a_path_leads_to_its_line) {
  const std::string text = "name: x\nstates:\n  a:\n    next:\n      - {go: b}\n      - {go: c}\n";
  EXPECT_EQ(yaml_place(text, "p.yaml", {"states", "a", "next", "1", "go"}), "p.yaml:6: ");
  EXPECT_EQ(yaml_place(text, "p.yaml", {"states", "a", "doc"}), "p.yaml:3: ");
  EXPECT_EQ(yaml_place(text, "p.yaml", {}), "p.yaml:1: ");
  EXPECT_EQ(yaml_place("a: [", "p.yaml", {"a"}), "p.yaml: ");
}

}  // namespace
}  // namespace tundish
