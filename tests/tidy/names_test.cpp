// One word for each thing, one way to write it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tree.hpp"

namespace tundish::tidy {
namespace {

bool is_snake(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

Findings check_file_name(const TreeFile& file) {
  const std::string name = file.path.substr(file.path.rfind('/') + 1);
  const std::string stem = name.substr(0, name.find('.'));
  const bool ruled = is_code(file.path) || ends_with(name, ".py") || ends_with(name, ".sh");
  if (!ruled || is_snake(stem)) return {};
  return {{file.path, 1, "file name is not snake_case", "rename it after its type or function"}};
}

const std::set<std::string> glossary_rooms = {"model", "control", "edge", "sim"};
/// Words of the outside world, named as it names them.
const std::set<std::string> allowed_names = {
    "HostEntry",      "hosts",         "hosts_of",       // lines of /etc/hosts
    "HttpServer",     "server_",       "ServerRequest",  // the HTTP server of runtime/net
    "storage_server", "server_silent", "server_back",    // what serves files is no node of ours
    "server",                                            // of storage
    "host_key",                                          // ssh's word
    "HostRoute",                                         // a route to one address
};

/// "Not" column of docs/glossary.md.
std::set<std::string> banned_words(const std::string& glossary) {
  std::set<std::string> out;
  for (const auto& line : split_lines(glossary)) {
    if (!line.starts_with("| ")) continue;
    const std::size_t end = line.rfind('|');
    const std::size_t begin = line.rfind('|', end - 1);
    for (const auto& word : words_of(line.substr(begin, end - begin))) out.insert(word.text);
  }
  out.erase("Not");
  return out;
}

/// "node", "host" for node_host, NodeHost and node_host_; a plural's s is dropped.
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> out(1);
  for (const char c : name) {
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if ((upper || c == '_') && !out.back().empty()) out.emplace_back();
    if (c != '_') out.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (auto& part : out) {
    if (part.size() > 3 && part.back() == 's') part.pop_back();
  }
  return out;
}

Findings check_glossary(const TreeFile& file, const std::set<std::string>& banned) {
  Findings out;
  if (!is_code(file.path) || !glossary_rooms.contains(room_of(file.path))) return out;
  const std::string code = code_only(file.text);
  for (const auto& word : words_of(code)) {
    if (allowed_names.contains(word.text)) continue;
    for (const auto& part : parts_of(word.text)) {
      if (!banned.contains(part)) continue;
      out.push_back({file.path, line_at(code, word.at), word.text + " says " + part,
                     "use the word of docs/glossary.md"});
    }
  }
  return out;
}

TEST(Names, planted_file_names) {
  EXPECT_EQ(check_file_name({"src/base/ResultType.hpp", ""}).size(), 1U);
  EXPECT_EQ(check_file_name({"tests/lab/two-nodes.sh", ""}).size(), 1U);
  EXPECT_EQ(check_file_name({"src/base/result.hpp", ""}).size(), 0U);
  EXPECT_EQ(check_file_name({"README.md", ""}).size(), 0U);
}

TEST(Names, planted_synonyms) {
  const auto banned = banned_words(
      "| Word | Meaning | Not |\n|---|---|---|\n| node | a host | host, server |\n"
      "| rack | a | |\n");
  EXPECT_EQ(banned, (std::set<std::string>{"host", "server"}));
  const auto count = [&](const std::string& path, const std::string& text) {
    return check_glossary({path, text}, banned).size();
  };
  EXPECT_EQ(count("src/model/node.hpp", "int host_count = 0;\n"), 1U);
  EXPECT_EQ(count("src/sim/world.cpp", "struct FakeServer {};\nint servers_;\n"), 2U);
  EXPECT_EQ(count("src/model/node.hpp", "std::string ghost;  // host\n"), 0U);
  EXPECT_EQ(count("src/model/verbs.hpp", "std::vector<HostEntry> hosts;\n"), 0U);
  EXPECT_EQ(count("src/runtime/net/url.hpp", "std::string host;\n"), 0U);
}

TEST(Names, files_of_the_tree) { expect_clean(check_file_name); }

TEST(Names, glossary_of_the_tree) {
  const auto found = std::find_if(tree().begin(), tree().end(),
                                  [](const auto& file) { return file.path == "docs/glossary.md"; });
  ASSERT_NE(found, tree().end());
  const auto banned = banned_words(found->text);
  EXPECT_TRUE(banned.contains("host") && banned.contains("customer"));
  expect_clean([&](const TreeFile& file) { return check_glossary(file, banned); });
}

}  // namespace
}  // namespace tundish::tidy
