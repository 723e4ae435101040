// What people hand to the command line as a file: a folder, a device without an end, or other bytes
// than text is refused before anything is sent, and nothing of a file is changed on its way.
#include "edge/cli/catalogue_files.hpp"
#include "edge/cli/cli_fixture_test.hpp"

namespace tundish::edge::cli {
namespace {

TEST(SmallFile, is_read_whole_or_refused) {
  const Folder folder;
  EXPECT_EQ(read_bytes(folder.write("a", "12345"), 5).value(), "12345");
  EXPECT_EQ(read_bytes(folder.write("b", ""), 5).value(), "");
  EXPECT_EQ(read_bytes(folder.write("c", "123456"), 5).error().code, Code::invalid);
  EXPECT_EQ(read_bytes("/dev/zero", 5).error().code, Code::invalid);
  EXPECT_EQ(read_bytes(folder / "", 5).error().code, Code::not_found);
  EXPECT_EQ(read_bytes(folder / "none", 5).error().code, Code::not_found);
  const auto other = read_small_file(folder.write("d", "one\ntw\xff\n"));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().what.find("d:2: not UTF-8"), std::string::npos) << other.error().what;
}

TEST_F(CliTest, what_is_no_text_is_refused_before_anything_is_sent) {
  const std::string folder = home / "";
  const std::string bytes = home.write("bytes", "name: d\xff\n");
  for (const std::string& file : {folder, bytes, std::string("/dev/zero")}) {
    for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
             {"drill", "run", file, "--yes"},
             {"policy", "load", file},
             {"policy", "try", file},
             {"secret", "create", "s", "--purpose", "x", "--file", file}}) {
      const Ran ran = run(args);
      EXPECT_EQ(ran.code, 3) << args[0] << " " << args[1] << " " << file;
      EXPECT_TRUE(has(ran.err, "remedy: ")) << ran.err;
    }
  }
  EXPECT_EQ(run({"secret", "create", "s", "--purpose", "x"}, "a\xff").code, 3);
  for (const char* call : {"POST /v1/faults", "POST /v1/policy/load", "POST /v1/policy/try",
                           "POST /v1/secrets"}) {
    EXPECT_TRUE(api.asked(call).empty()) << call;
  }
}

TEST_F(CliTest, no_letter_of_a_sheet_is_lost_on_the_way) {
  const std::string file = home.write("racks.csv", "name,site\nM\xfcller,K\xc3\xb6ln\n");
  api.on("POST /v1/inventory/import", R"({"problems":[],"changes":[],"applied":false})");
  const Ran ran = run({"inventory", "import", file, "--dry-run"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.err, "racks.csv:2: not UTF-8, read as Latin-1")) << ran.err;
  EXPECT_TRUE(has(api.asked("POST /v1/inventory/import").at(0).body,
                  "name,site\\nM\xc3\xbcller,K\xc3\xb6ln\\n"));
}

}  // namespace
}  // namespace tundish::edge::cli
