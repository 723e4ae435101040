#include "tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tundish::tidy {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> list_from_git() {
  const std::string command =
      "git -C '" TUNDISH_SOURCE_DIR "' ls-files -co --exclude-standard -z 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string all;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    all.append(buffer, got);
  }
  if (pclose(pipe) != 0) return {};
  std::vector<std::string> out;
  std::istringstream paths(all);
  for (std::string path; std::getline(paths, path, '\0');) out.push_back(path);
  return out;
}

/// For a copy without git: everything but the build folder and hidden version control.
std::vector<std::string> list_from_folders() {
  const fs::path root = TUNDISH_SOURCE_DIR;
  std::vector<std::string> out;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::end(it); ++it) {
    const std::string path = it->path().lexically_relative(root).string();
    if (path == "build" || path == ".git") it.disable_recursion_pending();
    else if (it->is_regular_file()) out.push_back(path);
  }
  return out;
}

std::vector<TreeFile> read_tree() {
  auto paths = list_from_git();
  if (paths.empty()) paths = list_from_folders();
  std::sort(paths.begin(), paths.end());
  std::vector<TreeFile> out;
  for (const auto& path : paths) {
    const fs::path full = fs::path(TUNDISH_SOURCE_DIR) / path;
    if (!fs::is_regular_file(full)) continue;  // removed but not yet in git
    std::ifstream in(full, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    out.push_back({path, text.str()});
  }
  return out;
}

/// The ' of 1'000 parts digits; that of 'a' and U'a' opens a character.
bool parts_digits(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && (is_word_char(text[begin - 1]) || text[begin - 1] == '\'')) --begin;
  return begin < at && std::isdigit(static_cast<unsigned char>(text[begin])) != 0;
}

/// Blanks a text and steps over it; `at` stands on the opening quote.
std::size_t blank_text(std::string_view text, std::size_t at, std::string& out) {
  const char quote = text[at];
  std::size_t end = at + 1;
  if (quote == '"' && at > 0 && text[at - 1] == 'R') {
    const std::size_t open = text.find('(', at);
    const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
    end = std::min(text.find(close, open), text.size() - close.size()) + close.size() - 1;
  } else {
    while (end < text.size() && text[end] != quote && text[end] != '\n') {
      end += text[end] == '\\' ? 2 : 1;
    }
  }
  end = std::min(end, text.size() - 1);
  for (std::size_t i = at + 1; i < end; ++i) {
    if (text[i] != '\n') out[i] = ' ';
  }
  return end + 1;
}

std::size_t blank_until(std::string_view text, std::size_t from, std::size_t to, std::string& out) {
  to = std::min(to, text.size());
  for (std::size_t i = from; i < to; ++i) {
    if (text[i] != '\n') out[i] = ' ';
  }
  return to;
}

/// End of a preprocessor line, with the lines that it continues on.
std::size_t directive_end(std::string_view text, std::size_t at) {
  std::size_t end = text.find('\n', at);
  while (end != std::string_view::npos && end > 0 && text[end - 1] == '\\') {
    end = text.find('\n', end + 1);
  }
  return std::min(end, text.size());
}

}  // namespace

const std::vector<TreeFile>& tree() {
  static const std::vector<TreeFile> files = read_tree();
  return files;
}

void report(const Findings& findings) {
  for (const auto& finding : findings) {
    ADD_FAILURE_AT(finding.path.c_str(), static_cast<int>(finding.line))
        << finding.what << "; " << finding.remedy;
  }
}

void expect_clean(const FileRule& rule) {
  for (const auto& file : tree()) report(rule(file));
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::size_t line_at(std::string_view text, std::size_t position) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size()));
  return static_cast<std::size_t>(std::count(text.begin(), end, '\n')) + 1;
}

std::string code_only(std::string_view text) {
  std::string out(text);
  bool line_begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) {
      at = blank_until(text, at, text.find('\n', at), out);
    } else if (rest.starts_with("/*")) {
      at = blank_until(text, at, std::min(text.find("*/", at), text.size() - 2) + 2, out);
    } else if (c == '#' && line_begins) {
      at = blank_until(text, at, directive_end(text, at), out);
    } else if (c == '"' || (c == '\'' && !parts_digits(text, at))) {
      at = blank_text(text, at, out);
      line_begins = false;
    } else {
      line_begins = c == '\n' || (line_begins && std::isspace(static_cast<unsigned char>(c)) != 0);
      ++at;
    }
  }
  return out;
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<Word> words_of(std::string_view code) {
  std::vector<Word> out;
  for (std::size_t at = 0; at < code.size();) {
    if (!is_word_char(code[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < code.size() && is_word_char(code[end])) ++end;
    if (std::isdigit(static_cast<unsigned char>(code[at])) == 0) {
      out.push_back({std::string(code.substr(at, end - at)), at});
    }
    at = end;
  }
  return out;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

std::string room_of(const std::string& path) {
  if (!in_folder(path, "src")) return {};
  const std::string rest = path.substr(4);
  return rest.substr(0, rest.find('/'));
}

bool in_folder(const std::string& path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

bool ends_with(std::string_view text, std::string_view end) { return text.ends_with(end); }

bool is_code(const std::string& path) { return ends_with(path, ".cpp") || ends_with(path, ".hpp"); }

bool is_test(const std::string& path) {
  return in_folder(path, "tests") || ends_with(path, "_test.cpp") || ends_with(path, "_test.hpp");
}

bool is_sample(const std::string& path) {
  return in_folder(path, "tests/data") || in_folder(path, "tests/fuzz/corpus") ||
         in_folder(path, "tests/golden") || in_folder(path, "examples/broken");
}

TEST(Tree, has_the_files_that_everybody_needs) {
  const auto has = [](const char* path) {
    return std::any_of(tree().begin(), tree().end(), [&](const auto& f) { return f.path == path; });
  };
  EXPECT_TRUE(has("CMakeLists.txt"));
  EXPECT_TRUE(has("src/base/result.hpp"));
  EXPECT_TRUE(has("tests/tidy/tree_test.cpp"));
}

TEST(Tree, code_only_keeps_positions) {
  const std::string text =
      "#include <a>\nint a = 1'000;  // {\nauto b = \"}\\\"{\"; /* {\n */ char c = U'{';\n"
      "auto d = R\"x({)\" {)x\";\n";
  const std::string code = code_only(text);
  EXPECT_EQ(code.size(), text.size());
  EXPECT_EQ(code.find('{'), std::string::npos);
  EXPECT_EQ(code.find("include"), std::string::npos);
  EXPECT_EQ(code.find("1'000"), text.find("1'000"));
  EXPECT_EQ(code.find("char c"), text.find("char c"));
  EXPECT_EQ(line_at(code, code.find("auto d")), 5U);
}

TEST(Tree, words_and_rooms) {
  const auto words = words_of("a.start(b_2, 3x)");
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[2].text, "b_2");
  EXPECT_EQ(words[2].at, 8U);
  EXPECT_EQ(room_of("src/control/fault/policy.cpp"), "control");
  EXPECT_EQ(room_of("tests/tidy/tree.hpp"), "");
}

}  // namespace tundish::tidy
