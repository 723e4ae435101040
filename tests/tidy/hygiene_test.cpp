// What must not be left lying about.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <set>

#include "tree.hpp"

namespace tundish::tidy {
namespace {

constexpr std::size_t size_limit = 200'000;  // bytes; more is data, and data has its own place

/// Written in pieces, so that this file keeps its own rule.
const std::set<std::string> unfinished_words = {"FIX" "ME", "TO" "DO", "X" "XX"};
const std::vector<std::string> private_roots = {"/wo" "rk/", "/ro" "ot/"};
const std::vector<std::string> workplace_words = {".lib" "rary", "sub" "agent", "help" "er-"};

bool is_binary(const TreeFile& file) { return file.text.find('\0') != std::string::npos; }

Findings check_bytes(const TreeFile& file) {
  Findings out;
  if (file.text.size() > size_limit && !in_folder(file.path, "tests/data")) {
    out.push_back({file.path, 1, "file of " + std::to_string(file.text.size()) + " bytes",
                   "shrink it, make it, or put it below tests/data"});
  }
  if (is_sample(file.path)) return out;
  if (is_binary(file)) {
    out.push_back({file.path, 1, "binary file", "build it, or put a recording below tests/data"});
    return out;
  }
  const auto lines = split_lines(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const char last = lines[i].back();
    if (lines[i].find('\t') != std::string::npos) {
      out.push_back({file.path, i + 1, "tab", "use spaces, or \\t in a text"});
    }
    if (last == '\r') out.push_back({file.path, i + 1, "CRLF", "end lines with LF alone"});
    if (last == ' ') out.push_back({file.path, i + 1, "trailing blank", "cut it"});
  }
  if (!file.text.empty() && file.text.back() != '\n') {
    out.push_back({file.path, lines.size(), "no end of line at the end", "add one"});
  }
  return out;
}

/// An absolute path begins behind anything but a path's own characters.
bool begins_path(const std::string& line, std::size_t at) {
  return at == 0 || (!is_word_char(line[at - 1]) &&
                     std::string_view("./-})$*").find(line[at - 1]) == std::string_view::npos);
}

Findings check_leftovers(const TreeFile& file) {
  Findings out;
  if (is_binary(file)) return out;
  const auto lines = split_lines(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const auto& word : words_of(lines[i])) {
      if (!unfinished_words.contains(word.text)) continue;
      out.push_back({file.path, i + 1, word.text + " marks something unfinished",
                     "finish it, or write an issue"});
    }
    for (const auto& root : private_roots) {
      const std::size_t at = lines[i].find(root);
      if (at == std::string::npos || !begins_path(lines[i], at)) continue;
      out.push_back({file.path, i + 1, "path of one machine: " + root,
                     "use a path from the repository's root"});
    }
    for (const auto& word : workplace_words) {
      if (lines[i].find(word) == std::string::npos) continue;
      out.push_back({file.path, i + 1, word + " speaks of how the code was written",
                     "say what the code is"});
    }
  }
  return out;
}

Findings check_guard(const TreeFile& file) {
  if (!ends_with(file.path, ".hpp") || !in_folder(file.path, "src")) return {};
  if (file.text.starts_with("#pragma once\n")) return {};
  return {{file.path, 1, "header does not start with #pragma once", "make it the first line"}};
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// "docs" and "../src/a.md" give "src/a.md".
std::string join(const std::string& folder, const std::string& link) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : (link.starts_with('/') ? link : folder + "/" + link) + "/") {
    if (c != '/') {
      part += c;
      continue;
    }
    if (part == ".." && !parts.empty()) parts.pop_back();
    else if (!part.empty() && part != ".") parts.push_back(part);
    part.clear();
  }
  std::string out;
  for (const auto& p : parts) out += (out.empty() ? "" : "/") + p;
  return out;
}

bool is_outside(const std::string& link) {
  return link.empty() || link[0] == '#' || link.find(':') != std::string::npos;
}

Findings check_links(const std::vector<TreeFile>& files) {
  std::set<std::string> known = {""};
  for (const auto& file : files) {
    for (std::string path = file.path; !path.empty(); path = folder_of(path)) known.insert(path);
  }
  Findings out;
  for (const auto& file : files) {
    if (!ends_with(file.path, ".md")) continue;
    const auto lines = split_lines(file.text);
    bool fenced = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].starts_with("```")) fenced = !fenced;
      for (std::size_t at = 0; !fenced && (at = lines[i].find("](", at)) != std::string::npos;) {
        at += 2;
        std::string link = lines[i].substr(at, lines[i].find_first_of(") ", at) - at);
        if (is_outside(link)) continue;
        link = link.substr(0, link.find('#'));
        if (known.contains(join(folder_of(file.path), link))) continue;
        out.push_back({file.path, i + 1, "link to " + link + ", which does not exist",
                       "correct it or add the file"});
      }
    }
  }
  return out;
}

struct Month {
  int year;
  int month;
};

/// Sources checked more than a year before `now`, or never.
Findings list_old_sources(const TreeFile& file, Month now) {
  Findings out;
  const std::string mark = "Source" ":";
  for (std::size_t at = 0; (at = file.text.find(mark, at)) != std::string::npos;) {
    const bool inside = at > 0 && is_word_char(file.text[at - 1]);
    at += mark.size();
    if (inside || file.text.substr(at, 1) == ":") continue;  // a name of C++, not a comment's mark
    // The comment goes on for a few lines; its date is the next one.
    const std::string comment = file.text.substr(at, 400);
    const std::size_t date = comment.find("checked 20");
    if (date == std::string::npos || date + 15 > comment.size()) {
      out.push_back({file.path, line_at(file.text, at), "source without a date", "check it"});
      continue;
    }
    const int year = std::atoi(comment.substr(date + 8, 4).c_str());
    const int month = std::atoi(comment.substr(date + 13, 2).c_str());
    if ((now.year - year) * 12 + now.month - month <= 12) continue;
    out.push_back({file.path, line_at(file.text, at), "source is older than a year", "check it"});
  }
  return out;
}

/// A check or fault that no test names could judge anything.
Findings check_items(const std::vector<TreeFile>& files) {
  Findings out;
  for (const auto& item : files) {
    for (const char* family : {"src/families/checks", "src/families/faults"}) {
      if (folder_of(item.path) != family || !ends_with(item.path, ".cpp")) continue;
      const std::string symbol =
          item.path.substr(item.path.rfind('/') + 1, item.path.size() - item.path.rfind('/') - 5);
      if (is_test(item.path) || symbol == "family" || symbol.starts_with("driver")) continue;
      const bool tested = std::any_of(files.begin(), files.end(), [&](const TreeFile& file) {
        const bool near = in_folder(file.path, family) && is_test(file.path);
        const bool far = in_folder(file.path, "tests") && !in_folder(file.path, "tests/tidy");
        return (near || far) && file.text.find('"' + symbol + '"') != std::string::npos;
      });
      if (tested) continue;
      out.push_back({item.path, 1, "no test names \"" + symbol + "\"",
                     "add rows to the family's test, or a " + symbol + "_test.cpp"});
    }
  }
  return out;
}

TEST(Hygiene, planted_bytes) {
  const auto count = [](const std::string& path, const std::string& text) {
    return check_bytes({path, text}).size();
  };
  EXPECT_EQ(count("dev", "a\tb\n"), 1U);
  EXPECT_EQ(count("dev", "a \n"), 1U);
  EXPECT_EQ(count("dev", "a\r\n"), 1U);
  EXPECT_EQ(count("dev", "a"), 1U);
  EXPECT_EQ(count("a.png", std::string("a\0b", 3)), 1U);
  EXPECT_EQ(count("src/a.cpp", std::string(size_limit, 'a') + "\n"), 1U);
  EXPECT_EQ(count("tests/data/a", std::string(size_limit, 'a') + " \t\r\n"), 0U);
}

TEST(Hygiene, planted_leftovers) {
  const auto count = [](const std::string& text) { return check_leftovers({"dev", text}).size(); };
  for (const auto& word : unfinished_words) EXPECT_EQ(count("// " + word + ": later\n"), 1U);
  for (const auto& root : private_roots) {
    EXPECT_EQ(count("cd " + root + "main\n"), 1U);
    EXPECT_EQ(count("cd ${lab}" + root + "main\n"), 0U);
  }
  for (const auto& word : workplace_words) EXPECT_EQ(count("see " + word + "3\n"), 1U);
  EXPECT_EQ(count("mktemp /tmp/a.XXXX" "XX\n"), 0U);
}

TEST(Hygiene, planted_guard) {
  EXPECT_EQ(check_guard({"src/base/a.hpp", "// a\n#pragma once\n"}).size(), 1U);
  EXPECT_EQ(check_guard({"src/base/a.hpp", "#pragma once\n"}).size(), 0U);
}

TEST(Hygiene, planted_links) {
  const std::string text =
      "[a](b.md) [c](../dev#x) [d](gone.md)\n[e](https://x.org) [f](../src)\n```\n[g](no)\n```\n";
  const auto found =
      check_links({{"docs/a.md", text}, {"docs/b.md", ""}, {"dev", ""}, {"src/a", ""}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, 1U);
}

TEST(Hygiene, planted_sources) {
  const std::string mark = "// Source" ": manual; ";
  const auto count = [&](const std::string& date) {
    return list_old_sources({"src/a.cpp", mark + date + "\n"}, {2026, 11}).size();
  };
  EXPECT_EQ(count("checked 2026-08"), 0U);
  EXPECT_EQ(count("checked 2025-11"), 0U);
  EXPECT_EQ(count("checked 2025-10"), 1U);
  EXPECT_EQ(count("never"), 1U);
  EXPECT_EQ(list_old_sources({"src/a.cpp", "TextSource" "::kmsg\n"}, {2026, 11}).size(), 0U);
}

TEST(Hygiene, planted_items) {
  const TreeFile item{"src/families/faults/smoke.cpp", ""};
  EXPECT_EQ(check_items({item}).size(), 1U);
  EXPECT_EQ(check_items({item, {"src/families/checks/checks_test.cpp", "\"smoke\""}}).size(), 1U);
  EXPECT_EQ(check_items({item, {"src/families/faults/smoke_test.cpp", "\"smoke\""}}).size(), 0U);
}

TEST(Hygiene, bytes_of_the_tree) { expect_clean(check_bytes); }
TEST(Hygiene, leftovers_of_the_tree) { expect_clean(check_leftovers); }
TEST(Hygiene, guards_of_the_tree) { expect_clean(check_guard); }
TEST(Hygiene, links_of_the_tree) { report(check_links(tree())); }
TEST(Hygiene, items_of_the_tree) { report(check_items(tree())); }

TEST(Hygiene, old_sources_are_listed) {
  const std::time_t seconds = std::time(nullptr);
  std::tm today{};
  gmtime_r(&seconds, &today);
  const Month now{today.tm_year + 1900, today.tm_mon + 1};
  for (const auto& file : tree()) {
    if (is_sample(file.path) || !in_folder(file.path, "src")) continue;
    for (const auto& old : list_old_sources(file, now)) {
      std::cout << old.path << ":" << old.line << ": " << old.what << "\n";
    }
  }
}

}  // namespace
}  // namespace tundish::tidy
