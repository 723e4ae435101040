#pragma once
// What every rule on the tree itself needs: the files, their code without comments, and findings.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tundish::tidy {

struct TreeFile {
  std::string path;  ///< from the root of the repository
  std::string text;
};

struct Finding {
  std::string path;
  std::size_t line = 0;  ///< counted from 1
  std::string what;
  std::string remedy;
};

using Findings = std::vector<Finding>;
/// A rule on one file; one on the whole tree takes all files.
using FileRule = std::function<Findings(const TreeFile&)>;
using TreeRule = std::function<Findings(const std::vector<TreeFile>&)>;

/// Files that git tracks and new ones that it does not ignore; read once.
const std::vector<TreeFile>& tree();

/// Fails the running test at each finding's own file and line.
void report(const Findings& findings);
void expect_clean(const FileRule& rule);

std::vector<std::string> split_lines(std::string_view text);
/// Line of a position, counted from 1.
std::size_t line_at(std::string_view text, std::size_t position);

/// The code with comments, texts and preprocessor lines blanked; positions and lines stay.
std::string code_only(std::string_view text);

struct Word {
  std::string text;
  std::size_t at;
};
/// Identifiers and keywords, in order.
std::vector<Word> words_of(std::string_view code);
bool is_word_char(char c);
std::size_t skip_blanks(std::string_view text, std::size_t at);

/// Folder below src: "control" for src/control/view.cpp; empty outside src.
std::string room_of(const std::string& path);
bool in_folder(const std::string& path, std::string_view folder);
bool ends_with(std::string_view text, std::string_view end);
bool is_code(const std::string& path);    ///< C++ source or header
bool is_test(const std::string& path);    ///< test or what only tests include
bool is_sample(const std::string& path);  ///< kept as it was recorded: no rule of form applies

}  // namespace tundish::tidy
