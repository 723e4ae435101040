// Deciding is pure, and only the runner acts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tree.hpp"

namespace tundish::tidy {
namespace {

const std::vector<std::string> pure_rooms = {"control", "assay", "model"};
/// A replay of the simulator must give the same bytes: no clock, file, environment, thread, chance.
const std::set<std::string> impure_words = {"chrono",
                                            "system_clock",
                                            "steady_clock",
                                            "clock_gettime",
                                            "gettimeofday",
                                            "fstream",
                                            "ifstream",
                                            "ofstream",
                                            "getenv",
                                            "rand",
                                            "srand",
                                            "thread",
                                            "jthread",
                                            "random_device",
                                            "async",
                                            "sleep_for",
                                            "fopen",
                                            "mutex",
                                            "condition_variable"};

bool is_impure(const std::string& word) {
  return impure_words.contains(word) || word.starts_with("unordered_") ||
         ends_with(word, "_distribution");
}

Findings check_purity(const TreeFile& file) {
  Findings out;
  const bool pure =
      std::find(pure_rooms.begin(), pure_rooms.end(), room_of(file.path)) != pure_rooms.end();
  if (!pure || !is_code(file.path) || is_test(file.path)) return out;
  const std::string code = code_only(file.text);
  for (const auto& word : words_of(code)) {
    if (!is_impure(word.text)) continue;
    out.push_back({file.path, line_at(code, word.at),
                   word.text + " in a pure room makes a replay differ",
                   "take time and chance from a port, ordered containers, evidence from the view"});
  }
  return out;
}

/// A heuristic, for nothing here resolves types: a call `x.start(`, `x.attach(` or `x.apply(`,
/// where x is one of the usual names of a driver (with or without the `_` of a member) or is
/// declared in the same file as a reference or pointer to a driver's port. A driver behind another
/// name in another file is not seen; the review sees that.
const std::set<std::string> driver_types = {"Agents", "Bmc", "SwitchDriver", "FabricManager",
                                            "Engine", "FaultInjector"};
const std::set<std::string> driver_names = {"agents", "bmc",     "bmcs",          "switches",
                                            "engine", "engines", "switch_driver", "injector"};
const std::set<std::string> acting_calls = {"start", "attach", "apply"};

bool may_call_drivers(const std::string& path) {
  if (!in_folder(path, "src") || is_test(path)) return true;
  if (in_folder(path, "src/control/runner") || in_folder(path, "src/sim")) return true;
  // A family's driver passes the runner's call on over another port.
  return in_folder(path, "src/families") && path.substr(path.rfind('/') + 1).starts_with("driver");
}

std::string without_underscore(std::string name) {
  if (ends_with(name, "_")) name.pop_back();
  return name;
}

std::set<std::string> names_of_drivers(const std::string& code, const std::vector<Word>& words) {
  std::set<std::string> out = driver_names;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!driver_types.contains(words[i].text)) continue;
    const std::size_t end = words[i].at + words[i].text.size();
    const std::string between = code.substr(end, words[i + 1].at - end);
    if (between.find_first_not_of(" \n*&>") == std::string::npos &&
        between.find_first_of("*&>") != std::string::npos) {
      out.insert(without_underscore(words[i + 1].text));
    }
  }
  return out;
}

Findings check_drivers(const TreeFile& file) {
  Findings out;
  if (!is_code(file.path) || may_call_drivers(file.path)) return out;
  const std::string code = code_only(file.text);
  const auto words = words_of(code);
  const auto names = names_of_drivers(code, words);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::size_t end = words[i].at + words[i].text.size();
    std::string between = code.substr(end, words[i + 1].at - end);
    std::erase_if(between, [](char c) { return c == ' ' || c == '\n'; });
    const std::size_t after = skip_blanks(code, words[i + 1].at + words[i + 1].text.size());
    if ((between != "." && between != "->") || after >= code.size() || code[after] != '(') continue;
    if (!acting_calls.contains(words[i + 1].text)) continue;
    if (!names.contains(without_underscore(words[i].text))) continue;
    out.push_back({file.path, line_at(code, words[i].at),
                   words[i].text + between + words[i + 1].text + " acts without a permit",
                   "return an action; only src/control/runner calls drivers"});
  }
  return out;
}

std::size_t impure(const std::string& path, const std::string& text) {
  return check_purity({path, text}).size();
}
std::size_t acting(const std::string& path, const std::string& text) {
  return check_drivers({path, text}).size();
}

TEST(Purity, planted_words) {
  EXPECT_EQ(impure("src/control/view.cpp", "std::unordered_map<int, int> a;\n"), 1U);
  EXPECT_EQ(impure("src/model/node.hpp", "auto t = std::chrono::system_clock::now();\n"), 2U);
  EXPECT_EQ(impure("src/assay/curve.cpp", "int a = std::rand();\n"), 1U);
  EXPECT_EQ(impure("src/model/ops/a.cpp", "std::getenv(x);\n"), 1U);
  EXPECT_EQ(impure("src/control/view.cpp", "int strand;  // rand\n"), 0U);
  EXPECT_EQ(impure("src/control/view_test.cpp", "std::ifstream in;\n"), 0U);
  EXPECT_EQ(impure("src/runtime/agent/agent.cpp", "std::thread a;\n"), 0U);
}

TEST(Drivers, planted_calls) {
  EXPECT_EQ(acting("src/control/fault/policy.cpp", "drivers_.agents.start(a);\n"), 1U);
  EXPECT_EQ(acting("src/edge/api/nodes.cpp", "b.bmc->start(a);\n"), 1U);
  EXPECT_EQ(acting("src/edge/api/faults.cpp", "b.parts.injector->start(a);\n"), 1U);
  EXPECT_EQ(acting("src/edge/api/faults.cpp", "void f(FaultInjector* x) { x->start(a); }\n"), 1U);
  EXPECT_EQ(acting("src/edge/api/nodes.cpp", "void f(SwitchDriver& x) { x.attach(a); }\n"), 1U);
  EXPECT_EQ(acting("src/control/cluster/a.cpp", "engine_\n    .apply(a)"), 1U);
  EXPECT_EQ(acting("src/control/runner/runner.cpp", "drivers_.agents.start(a);\n"), 0U);
  EXPECT_EQ(acting("src/families/engines/driver.cpp", "agents_.start(a);\n"), 0U);
  EXPECT_EQ(acting("src/families/engines/slurm.cpp", "agents_.start(a);\n"), 1U);
  EXPECT_EQ(acting("src/apps/tundishd/daemon.cpp", "manager.start();\n"), 0U);
  EXPECT_EQ(acting("src/control/cluster/a.cpp", "engine.plan(a);\n"), 0U);
}

TEST(Purity, of_the_tree) { expect_clean(check_purity); }
TEST(Drivers, of_the_tree) { expect_clean(check_drivers); }

}  // namespace
}  // namespace tundish::tidy
