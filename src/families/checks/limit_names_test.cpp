// What a check asks for by name is what thresholds.yaml may hold, and the other way round: a row
// that nobody reads is a limit that cannot fire.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "codec/limits.hpp"
#include "families/checks/check.hpp"
#include "families/checks/limit_parts/limit_names.hpp"

namespace tundish::checks {
namespace {

const std::string root = TUNDISH_SOURCE_DIR;

std::string text_of(const std::string& file) {
  std::ifstream in(root + "/" + file);
  EXPECT_TRUE(in) << file;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// Where a check reads its limits, when that is not its own file.
const std::map<std::string, std::string> elsewhere = {
    {"dcgm_diag", "runtime/agent/active_tools.cpp"},
    {"nccl_local", "families/checks/active_parts/nccl.cpp"},
    {"nccl_pair", "families/checks/active_parts/nccl.cpp"}};

std::string file_of(const std::string& check) {
  const auto other = elsewhere.find(check);
  return "src/" + (other == elsewhere.end() ? "families/checks/" + check + ".cpp" : other->second);
}

/// Checks that ask by the name of the counter, or of the PCIe generation, that they see.
const std::set<std::string> by_what_is_seen = {"ib_counters", "pcie_replay", "nvlink_errors",
                                               "pcie_aer"};

bool is_known(const std::string& check, const std::string& name) {
  for (const auto& known : known_limits()) {
    if (known.check == check && known.name == name) return true;
  }
  return false;
}

TEST(LimitNames, every_limit_is_of_a_check_and_is_asked_for) {
  for (const auto& known : known_limits()) {
    EXPECT_NE(find_check(known.check), nullptr) << known.check;
    if (by_what_is_seen.contains(known.check)) continue;
    std::string text = text_of(file_of(known.check));
    if (known.check == "pressure") text += text_of("src/families/checks/family.cpp");
    EXPECT_NE(text.find('"' + known.name + '"'), std::string::npos)
        << known.check << " does not ask for " << known.name;
  }
}

TEST(LimitNames, every_limit_that_a_check_asks_for_is_known) {
  const std::regex asked(R"re(found\.(?:measure|is_recent|floor|compare)\(\s*"([a-z0-9_]+)")re");
  int seen = 0;
  for (const Check* check : all_checks()) {
    const std::string name(check->name);
    const std::string text = text_of(file_of(name));
    for (std::sregex_iterator at(text.begin(), text.end(), asked), end; at != end; ++at, ++seen) {
      EXPECT_TRUE(is_known(name, (*at)[1])) << name << " asks for " << (*at)[1];
    }
  }
  EXPECT_GT(seen, 30) << "the pattern finds nothing any more";
}

TEST(LimitNames, the_shipped_rows_are_all_asked_for_and_every_limit_has_one) {
  const std::string plates_text = text_of("catalog/nameplates.yaml");
  const std::string text = text_of("catalog/thresholds.yaml");
  const auto plates = load_nameplates(plates_text, "nameplates.yaml");
  ASSERT_TRUE(plates);
  const auto rows = load_thresholds(text, "thresholds.yaml", *plates);
  ASSERT_TRUE(rows);
  const auto checked = check_limit_names(text, "thresholds.yaml", *rows, known_limits());
  EXPECT_TRUE(checked) << checked.error().message();
  for (const auto& known : known_limits()) {
    const bool there = std::any_of(rows->limits.begin(), rows->limits.end(), [&](const Limit& row) {
      return row.check == known.check && row.name == known.name;
    });
    EXPECT_TRUE(there) << known.check << "." << known.name << " has no row";
  }
}

}  // namespace
}  // namespace tundish::checks
