// Who may include what. The tables are the house's plan: a change here is a change of design.
#include <gtest/gtest.h>

#include <algorithm>

#include "tree.hpp"

namespace tundish::tidy {
namespace {

struct Room {
  std::string name;                   ///< first folder below src
  std::vector<std::string> includes;  ///< beginnings of project headers beside its own room
};
/// Always downwards; the three rows of the logic level do not see each other.
const std::vector<Room> rooms = {
    {"base", {}},
    {"model", {"base/"}},
    {"ports", {"base/", "model/"}},
    {"codec", {"base/", "model/"}},
    {"control", {"base/", "model/", "ports/"}},
    {"assay", {"base/", "model/", "ports/"}},
    {"families", {"base/", "model/", "ports/", "codec/"}},  // and its own family's folder only
    {"sim",
     {"base/", "model/", "ports/", "codec/", "control/", "assay/", "families/"}},
    {"runtime", {"base/", "model/", "ports/", "codec/"}},
    {"lab",
     {"base/", "model/", "ports/", "codec/", "runtime/net/", "runtime/process/",
      "runtime/agent/cuda_abi.hpp", "runtime/agent/nvml_abi.hpp"}},
    {"edge",
     {"base/", "model/", "ports/", "codec/", "control/", "assay/", "runtime/net/"}},
    {"apps", {""}},
};

struct Library {
  std::string header;               ///< beginning of the header's name
  std::vector<std::string> places;  ///< beginnings of paths that may include it
  std::string ending = "";          ///< of such a path: ".cpp" keeps the library out of headers
};
const std::vector<Library> libraries = {
    {"boost/", {"src/runtime/net/", "src/edge/gateway/"}},
    {"openssl/", {"src/runtime/net/"}},
    {"nlohmann/", {"src/codec/", "src/families/"}, ".cpp"},
    {"yaml-cpp/", {"src/codec/", "src/families/"}, ".cpp"},
    {"SQLiteCpp/", {"src/runtime/store_sqlite/"}},
    {"sqlite3.h", {"src/runtime/store_sqlite/"}},
    {"CLI/", {"src/edge/cli/"}},
    {"sodium.h", {"src/runtime/"}},
    {"fuse", {"src/lab/"}},
    {"tl/", {"src/base/"}},
    {"gtest/", {"tests/"}},
    {"gmock/", {"tests/"}},
    {"benchmark/", {"bench/"}},
};
/// The operating system: every other header in <> that ends in .h.
const std::vector<std::string> system_places = {"src/runtime/", "src/lab/", "src/edge/",
                                                "src/apps/"};

struct Include {
  std::string header;
  bool quoted = false;
  std::size_t line = 0;
};

std::vector<Include> includes_of(const TreeFile& file) {
  std::vector<Include> out;
  const auto lines = split_lines(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t hash = skip_blanks(lines[i], 0);
    if (hash >= lines[i].size() || lines[i][hash] != '#') continue;
    const std::size_t word = skip_blanks(lines[i], hash + 1);
    if (!std::string_view(lines[i]).substr(word).starts_with("include")) continue;
    const std::size_t open = lines[i].find_first_of("<\"", word);
    if (open == std::string::npos) continue;
    const std::size_t close = lines[i].find_first_of(">\"", open + 1);
    out.push_back({lines[i].substr(open + 1, close - open - 1), lines[i][open] == '"', i + 1});
  }
  return out;
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const auto& begin) { return text.starts_with(begin); });
}

/// "families/checks/" for src/families/checks/ecc.cpp.
std::string own_folder(const std::string& path, const std::string& room) {
  if (room != "families") return room + "/";
  return path.substr(4, path.find('/', std::string("src/families/").size()) - 3);
}

bool may_include_project(const std::string& path, const std::string& header) {
  const std::string room = room_of(path);
  if (header.starts_with(own_folder(path, room))) return true;
  const auto found = std::find_if(rooms.begin(), rooms.end(),
                                  [&](const Room& r) { return r.name == room; });
  return found != rooms.end() && starts_with_any(header, found->includes);
}

bool may_include_library(const std::string& path, const std::string& header) {
  for (const auto& library : libraries) {
    if (!header.starts_with(library.header)) continue;
    return starts_with_any(path, library.places) && ends_with(path, library.ending);
  }
  if (ends_with(header, ".h")) return starts_with_any(path, system_places);
  return header.find_first_of("./") == std::string::npos;  // the standard library
}

Findings check_includes(const TreeFile& file) {
  Findings out;
  if (!is_code(file.path) || !in_folder(file.path, "src") || is_test(file.path)) return out;
  for (const auto& include : includes_of(file)) {
    if (include.quoted && !may_include_project(file.path, include.header)) {
      out.push_back({file.path, include.line,
                     "room " + room_of(file.path) + " may not include " + include.header,
                     "ask through a port, or move the code (design: the rooms)"});
    }
    if (!include.quoted && !may_include_library(file.path, include.header)) {
      out.push_back({file.path, include.line, include.header + " may not be included here",
                     "use the room that wraps it, or extend the table in tests/tidy"});
    }
  }
  return out;
}

std::size_t count(const std::string& path, const std::string& text) {
  return check_includes({path, text}).size();
}

TEST(Includes, planted_upward_and_sideways) {
  EXPECT_EQ(count("src/base/id.hpp", "#include \"model/node.hpp\"\n"), 1U);
  EXPECT_EQ(count("src/control/view.cpp", "#include \"codec/json.hpp\"\n"), 1U);
  EXPECT_EQ(count("src/control/view.cpp", "#include \"model/node.hpp\"\n"), 0U);
  EXPECT_EQ(count("src/families/checks/ecc.cpp", "#include \"families/faults/fault.hpp\"\n"), 1U);
  EXPECT_EQ(count("src/families/checks/ecc.cpp", "#include \"families/checks/check.hpp\"\n"), 0U);
  EXPECT_EQ(count("src/lab/lab.cpp", "#include \"runtime/agent/probe.hpp\"\n"), 1U);
  EXPECT_EQ(count("src/lab/lab.cpp", "  #  include \"runtime/agent/nvml_abi.hpp\"\n"), 0U);
  EXPECT_EQ(count("src/newroom/a.cpp", "#include \"base/id.hpp\"\n"), 1U);
}

TEST(Includes, planted_libraries) {
  EXPECT_EQ(count("src/edge/api/api.cpp", "#include <boost/asio.hpp>\n"), 1U);
  EXPECT_EQ(count("src/runtime/net/loop.cpp", "#include <boost/asio.hpp>\n"), 0U);
  EXPECT_EQ(count("src/codec/json.hpp", "#include <nlohmann/json.hpp>\n"), 1U);
  EXPECT_EQ(count("src/codec/json.cpp", "#include <nlohmann/json.hpp>\n"), 0U);
  EXPECT_EQ(count("src/control/view.cpp", "#include <unistd.h>\n"), 1U);
  EXPECT_EQ(count("src/apps/tundish/main.cpp", "#include <never/heard_of.hpp>\n"), 1U);
  EXPECT_EQ(count("src/control/view.cpp", "#include <map>\n"), 0U);
}

TEST(Includes, of_the_tree) { expect_clean(check_includes); }

}  // namespace
}  // namespace tundish::tidy
