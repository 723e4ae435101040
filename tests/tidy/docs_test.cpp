// Tables of reports name tests; a name that no test has is a promise that nobody keeps.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tree.hpp"

namespace tundish::tidy {
namespace {

struct TestName {
  std::string name;  ///< Suite.test
  std::string binary;
};

/// "test_control" for what is built from below src/control.
std::string binary_of(const std::string& path) {
  const std::string below = in_folder(path, "src") ? "src/" : "tests/";
  if (!path.starts_with(below)) return "";
  const std::size_t end = path.find('/', below.size());
  return "test_" + path.substr(below.size(), end - below.size());
}

bool begins_test(const std::string& word) {
  return word == "TEST" || word == "TEST_F" || word == "TEST_P" || word == "TYPED_TEST";
}

std::vector<TestName> tests_of(const TreeFile& file) {
  std::vector<TestName> out;
  if (!ends_with(file.path, "_test.cpp") && !is_test(file.path)) return out;
  const auto words = words_of(code_only(file.text));
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (!begins_test(words[i].text)) continue;
    out.push_back({words[i + 1].text + "." + words[i + 2].text, binary_of(file.path)});
  }
  return out;
}

/// Suite.test, Suite.test_* or Suite.*, as a table names it.
bool is_name_char(char c) { return is_word_char(c) || c == '.' || c == '*'; }

/// The names of one line, with the binary that was named before them, if any.
std::vector<TestName> names_in(const std::string& line) {
  std::vector<TestName> out;
  std::string binary;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && is_name_char(line[end])) ++end;
    std::string word = line.substr(at, end - at);
    const bool in_path = end < line.size() && (line[end] == '/' || line[end] == '-');
    const bool of_path = at > 0 && (line[at - 1] == '/' || line[at - 1] == '-');
    while (word.ends_with('.')) word.pop_back();
    if (word.starts_with("test_")) binary = word;
    const std::size_t dot = word.find('.');
    const bool one_dot = dot != std::string::npos && word.find('.', dot + 1) == std::string::npos;
    if (one_dot && dot > 0 && !in_path && !of_path) out.push_back({word, binary});
    at = end + 1;
  }
  return out;
}

/// The last cell of a table's row, where the tests stand; empty: no row.
std::string last_cell(const std::string& line) {
  if (!line.starts_with("| ") || !line.ends_with(" |")) return "";
  const std::size_t end = line.rfind('|');
  const std::size_t begin = line.rfind('|', end - 1);
  return line.substr(begin + 1, end - begin - 1);
}

bool is_there(const std::map<std::string, std::set<std::string>>& tests, const TestName& wanted) {
  const auto fits = [&](const std::set<std::string>& binaries) {
    return wanted.binary.empty() || binaries.contains(wanted.binary);
  };
  const std::size_t star = wanted.name.find('*');
  if (star == std::string::npos) {
    const auto found = tests.find(wanted.name);
    return found != tests.end() && fits(found->second);
  }
  const std::string beginning = wanted.name.substr(0, star);
  for (auto it = tests.lower_bound(beginning);
       it != tests.end() && it->first.starts_with(beginning); ++it) {
    if (fits(it->second)) return true;
  }
  return false;
}

/// Words with a dot that are no tests: names of files.
bool is_file_name(const std::string& word) {
  for (const char* end : {".cpp", ".hpp", ".sh", ".yaml", ".md", ".py"}) {
    if (ends_with(word, end)) return true;
  }
  return false;
}

Findings check_named_tests(const std::vector<TreeFile>& files) {
  std::map<std::string, std::set<std::string>> tests;
  std::set<std::string> paths;
  for (const auto& file : files) {
    paths.insert(file.path);
    for (const auto& test : tests_of(file)) tests[test.name].insert(test.binary);
  }
  Findings out;
  for (const auto& file : files) {
    if (!in_folder(file.path, "docs") || !ends_with(file.path, "-issues.md")) continue;
    const auto lines = split_lines(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (const auto& name : names_in(last_cell(lines[i]))) {
        if (is_file_name(name.name) || is_there(tests, name)) continue;
        const std::string where = name.binary.empty() ? "" : " of " + name.binary;
        out.push_back({file.path, i + 1, "no test " + name.name + where,
                       "name the test that holds the report in place"});
      }
    }
  }
  return out;
}

TEST(Docs, planted_names_of_tests) {
  const TreeFile code{"src/control/a_test.cpp", "TEST(Suite, holds) {}\nTEST_F(Other, it) {}\n"};
  const auto count = [&](const std::string& cell) {
    return check_named_tests({code, {"docs/x-issues.md", "| a | b.c | " + cell + " |\n"}}).size();
  };
  EXPECT_EQ(count("`test_control` Suite.holds, Other.it"), 0U);
  EXPECT_EQ(count("`Suite.holds`, `tests/lab/a.sh`"), 0U);
  EXPECT_EQ(count("`test_control` Suite.* and Other.i*; `src/runtime/agent/sys_files.cpp`"), 0U);
  EXPECT_EQ(count("`test_control` Suite.gone"), 1U);
  EXPECT_EQ(count("`test_control` Gone.*"), 1U);
  EXPECT_EQ(count("`test_edge` Suite.holds"), 1U);
  EXPECT_EQ(count("Suite.hold"), 1U);
}

TEST(Docs, tests_that_tables_name_exist) { report(check_named_tests(tree())); }

}  // namespace
}  // namespace tundish::tidy
