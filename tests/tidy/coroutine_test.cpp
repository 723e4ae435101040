// g++ 12.2 destroys a braced temporary or a capturing lambda twice when it stands in an expression
// with co_await. Coroutines therefore live in two rooms only, and there such values have names.
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "tree.hpp"

namespace tundish::tidy {
namespace {

const std::vector<std::string> coroutine_rooms = {"src/runtime/net", "src/edge/gateway"};

std::size_t last_before(std::string_view code, std::size_t at) {
  while (at > 0 && std::isspace(static_cast<unsigned char>(code[at - 1])) != 0) --at;
  return at;  // one behind the last character
}

/// `) {`, `else {`, `; {`: a block. `Foo{`, `= {`, `({`, `return {`: a value.
bool opens_block(std::string_view code, std::size_t brace) {
  const std::size_t end = last_before(code, brace);
  if (end == 0) return true;
  if (!is_word_char(code[end - 1])) {
    return std::string_view(");{}:").find(code[end - 1]) != std::string_view::npos;
  }
  std::size_t begin = end;
  while (begin > 0 && is_word_char(code[begin - 1])) --begin;
  static const std::set<std::string_view> words = {"else", "do", "try", "const", "noexcept",
                                                   "mutable"};
  return words.contains(code.substr(begin, end - begin));
}

bool is_capture(std::string_view code, std::size_t bracket) {
  const std::size_t end = last_before(code, bracket);
  const char before = end == 0 ? ';' : code[end - 1];
  if (is_word_char(before) || before == ']' || before == ')') return false;  // an index
  return code[skip_blanks(code, bracket + 1)] != ']';
}

/// From the statement's begin: blocks end it, values in braces do not.
std::size_t statement_begin(std::string_view code, std::size_t at) {
  while (at > 0) {
    const char c = code[at - 1];
    if (c == ';' || c == '}' || (c == '{' && opens_block(code, at - 1))) return at;
    --at;
  }
  return 0;
}

Findings check_coroutines(const TreeFile& file) {
  Findings out;
  if (!is_code(file.path) || is_test(file.path)) return out;
  const std::string code = code_only(file.text);
  bool allowed = false;
  for (const auto& room : coroutine_rooms) allowed = allowed || in_folder(file.path, room);
  for (const auto& word : words_of(code)) {
    if (word.text != "co_await") continue;
    const std::size_t line = line_at(code, word.at);
    if (!allowed) {
      out.push_back({file.path, line, "co_await outside runtime/net and the gateway",
                     "wait as a phase in the store, or with a callback"});
      continue;
    }
    for (std::size_t at = statement_begin(code, word.at); at < code.size(); ++at) {
      if (code[at] == ';' || (code[at] == '{' && opens_block(code, at))) break;
      if (code[at] != '{' && !(code[at] == '[' && is_capture(code, at))) continue;
      out.push_back({file.path, line, "braces or a capturing lambda in a co_await expression",
                     "name the value in a statement before"});
      break;
    }
  }
  return out;
}

std::size_t count(const std::string& path, const std::string& text) {
  return check_coroutines({path, text}).size();
}

TEST(Coroutines, planted_places_and_braces) {
  const std::string net = "src/runtime/net/a.cpp";
  EXPECT_EQ(count("src/control/view.cpp", "co_await f();\n"), 1U);
  EXPECT_EQ(count(net, "void g() { co_await f(); }\n"), 0U);
  EXPECT_EQ(count(net, "co_await f(Options{.a = 1});\n"), 1U);
  EXPECT_EQ(count(net, "auto a = Pair{1, co_await f()};\n"), 1U);
  EXPECT_EQ(count(net, "co_await f([x] { return x; });\n"), 1U);
  EXPECT_EQ(count(net, "co_await f(a[3]);\n"), 0U);
  EXPECT_EQ(count(net, "if (co_await f(a)) { g({1}); }\n"), 0U);
  EXPECT_EQ(count(net, "Options o{1};\nco_await f(o);\n"), 0U);
}

TEST(Coroutines, of_the_tree) { expect_clean(check_coroutines); }

}  // namespace
}  // namespace tundish::tidy
