// Sizes: what does not fit on a few screens is not read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "tree.hpp"

namespace tundish::tidy {
namespace {

constexpr std::size_t file_limit = 600;
constexpr std::size_t header_limit = 300;
constexpr std::size_t function_limit = 60;
constexpr std::size_t column_limit = 100;
/// Scripts hold whole command lines, which break badly.
constexpr std::size_t script_column_limit = 120;

bool is_written(const std::string& path) {
  if (is_sample(path)) return false;
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const char* end : {".cpp", ".hpp", ".py", ".sh", ".cmake", ".html", ".ts"}) {
    if (ends_with(name, end)) return true;
  }
  return name == "dev" || name == "CMakeLists.txt";
}

/// Columns as people see them: bytes that continue a UTF-8 character do not count.
std::size_t columns_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::size_t limit_of(const std::string& path) {
  for (const char* end : {".py", ".sh", "dev"}) {
    if (ends_with(path, end)) return script_column_limit;
  }
  return column_limit;
}

Findings check_sizes(const TreeFile& file) {
  Findings out;
  if (!is_written(file.path)) return out;
  const auto lines = split_lines(file.text);
  const std::size_t limit = ends_with(file.path, ".hpp") ? header_limit : file_limit;
  if (lines.size() > limit) {
    out.push_back({file.path, limit + 1,
                   "file of " + std::to_string(lines.size()) + " lines, limit " +
                       std::to_string(limit),
                   "move one of its subjects into a file of its own"});
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (columns_of(lines[i]) <= limit_of(file.path)) continue;
    out.push_back({file.path, i + 1, "line of " + std::to_string(columns_of(lines[i])) + " columns",
                   "break it before column " + std::to_string(limit_of(file.path))});
  }
  return out;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto words = words_of(text);
  return std::any_of(words.begin(), words.end(), [&](const Word& w) { return w.text == word; });
}

/// Reads braces only, for nothing here parses C++. A brace whose head (the code since the last `;`
/// or brace) has a parameter list and stands in a namespace or type opens a function.
class FunctionFinder {
 public:
  FunctionFinder(const TreeFile& file, Findings& out)
      : file_(file), code_(code_only(file.text)), out_(out) {}

  void run() {
    for (std::size_t at = 0; at < code_.size(); ++at) {
      if (code_[at] == '{') open(at);
      else if (code_[at] == '}') close(at);
      else if (code_[at] == ';') head_ = at + 1;
    }
    if (open_.empty() && !overclosed_) return;
    out_.push_back({file_.path, open_.empty() ? 1 : line_at(code_, open_.back().at),
                    "braces do not balance, so functions cannot be measured",
                    "close them in the same branch of the preprocessor"});
  }

 private:
  enum class Kind { scope, function, data, init, other };
  struct Brace {
    Kind kind;
    std::size_t at;
    std::size_t head;
  };

  Kind kind_of(std::string_view head) const {
    const bool inside = std::any_of(open_.begin(), open_.end(), [](const Brace& b) {
      return b.kind == Kind::function || b.kind == Kind::data;
    });
    const bool constant = has_word(head, "constexpr") ||
                          (has_word(head, "static") && has_word(head, "const"));
    if (constant && is_initializer(head)) return Kind::data;
    if (inside) return Kind::other;
    if (has_word(head, "namespace") || head.empty()) return Kind::scope;
    const std::size_t list = head.find('(');
    if (list == std::string_view::npos) {
      const bool type = has_word(head, "struct") || has_word(head, "class");
      return type || has_word(head, "union") ? Kind::scope : Kind::other;
    }
    if (is_initializer(head)) return Kind::other;
    // A(int b) : b_{ ...: a member, not the body.
    const bool members = head.find(" : ", head.find(')')) != std::string_view::npos;
    return members && is_word_char(head.back()) ? Kind::init : Kind::function;
  }

  /// `a = {` and `a[] = {`; the `=` of `operator==` and of a default argument do not end the head.
  static bool is_initializer(std::string_view head) { return !head.empty() && head.back() == '='; }

  void open(std::size_t at) {
    const std::size_t begin = skip_blanks(code_, head_);
    std::size_t end = at;
    while (end > begin && std::isspace(static_cast<unsigned char>(code_[end - 1])) != 0) --end;
    const Kind kind = kind_of(std::string_view(code_).substr(begin, end - begin));
    open_.push_back({kind, at, head_});
    head_ = at + 1;
    if (kind == Kind::function) data_lines_ = 0;
  }

  void close(std::size_t at) {
    if (open_.empty()) {
      overclosed_ = true;
      return;
    }
    const Brace brace = open_.back();
    open_.pop_back();
    head_ = brace.kind == Kind::init ? brace.head : at + 1;
    const std::size_t first = line_at(code_, brace.at);
    const std::size_t lines = line_at(code_, at) - first + 1;
    if (brace.kind == Kind::data) data_lines_ += lines - 1;
    if (brace.kind != Kind::function || lines <= function_limit + data_lines_) return;
    out_.push_back({file_.path, first,
                    "function of " + std::to_string(lines - data_lines_) + " lines",
                    "split it by subject; tables that are static const do not count"});
  }

  const TreeFile& file_;
  std::string code_;
  Findings& out_;
  std::vector<Brace> open_;
  std::size_t head_ = 0;
  std::size_t data_lines_ = 0;
  bool overclosed_ = false;
};

Findings check_functions(const TreeFile& file) {
  Findings out;
  if (is_code(file.path) && is_written(file.path)) FunctionFinder(file, out).run();
  return out;
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::size_t long_functions(const std::string& text) {
  return check_functions({"src/base/a.cpp", text}).size();
}

TEST(Shape, planted_sizes) {
  EXPECT_EQ(check_sizes({"src/base/a.cpp", repeat("a\n", file_limit)}).size(), 0U);
  EXPECT_EQ(check_sizes({"src/base/a.cpp", repeat("a\n", file_limit + 1)}).size(), 1U);
  EXPECT_EQ(check_sizes({"src/base/a.hpp", repeat("a\n", header_limit + 1)}).size(), 1U);
  EXPECT_EQ(check_sizes({"dev", repeat("a", script_column_limit + 1)}).size(), 1U);
  EXPECT_EQ(check_sizes({"src/base/a.cpp", repeat("ü", column_limit)}).size(), 0U);
  EXPECT_EQ(check_sizes({"tests/data/slurm/a.txt", repeat("a", 999)}).size(), 0U);
}

TEST(Shape, planted_functions) {
  const std::string body = repeat("  a();\n", function_limit - 1);
  EXPECT_EQ(long_functions("void f() {\n" + body + "}\n"), 1U);
  EXPECT_EQ(long_functions("void f() {\n" + body.substr(7) + "}\n"), 0U);
  EXPECT_EQ(long_functions("struct B {\n  int f() const {\n" + body + "  }\n};\n"), 1U);
  EXPECT_EQ(long_functions("void f() {\n  {\n}\n"), 1U) << "unbalanced";
  EXPECT_EQ(long_functions("A::A(int b) : b_{b}, c_{1} {\n" + body + "}\n"), 1U);
  EXPECT_EQ(long_functions("void f() {\n  if (a) {\n" + body + "  }\n}\n"), 1U) << "told once";
  EXPECT_EQ(long_functions("namespace a {\n" + repeat("void f() {\n}\n", 99) + "}\n"), 0U);
}

TEST(Shape, tables_are_no_functions) {
  const std::string rows = repeat("  {1, f(2)},\n", 99);
  EXPECT_EQ(long_functions("const Row rows[] = {\n" + rows + "};\n"), 0U);
  EXPECT_EQ(long_functions("void f() {\n  static const Row rows[] = {\n" + rows + "};\n}\n"), 0U);
  EXPECT_EQ(long_functions("void f() {\n  const Row rows[] = {\n" + rows + "};\n}\n"), 1U);
}

TEST(Shape, sizes_of_the_tree) { expect_clean(check_sizes); }
TEST(Shape, functions_of_the_tree) { expect_clean(check_functions); }

}  // namespace
}  // namespace tundish::tidy
