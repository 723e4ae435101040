#include "families/storage/export_script.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace tundish::families {
namespace {

constexpr const char* key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEtest";
constexpr const char* host = "hostkey ssh-ed25519 AAAAhost stor1\n";

struct ScriptedExec final : Exec {
  void start(ExecRequest request, Duration, Done done) override {
    asked.push_back(request.input);
    done(answer);
  }
  std::vector<std::string> asked;
  Result<ExecOutput> answer = ExecOutput{};
};

class ExportScript : public ::testing::Test {
 protected:
  Result<> apply(const StorageChange& change) {
    Result<> out = make_error(Code::internal, "no answer");
    storage_.apply(ref_, change, seconds(5), [&](Result<> done) { out = std::move(done); });
    return out;
  }
  void answer(int rc, const std::string& out, const std::string& err = "") {
    exec_.answer = ExecOutput{rc, out, err};
  }

  ScriptedExec exec_;
  ExportScriptStorage storage_{exec_};
  StorageRef ref_{"access", "ssh://root@10.88.5.1"};
};

TEST_F(ExportScript, TakesAwayBeforeItGives) {
  answer(0, std::string("gone 100.64.0.5\nexport acme 100.64.0.6\n") + host);
  EXPECT_TRUE(apply({"acme", key, {"100.64.0.5"}, {"100.64.0.6"}}));
  const std::string& script = exec_.asked.at(0);
  const auto revoke = script.find("storage-export revoke acme 100.64.0.5");
  const auto create = script.find("storage-export create acme");
  const auto grant = script.find("storage-export grant acme 100.64.0.6");
  ASSERT_NE(revoke, std::string::npos);
  EXPECT_LT(revoke, create);
  EXPECT_LT(create, grant);
  EXPECT_NE(script.find("storage-export sessions"), std::string::npos) << "it is read back";
}

TEST_F(ExportScript, BelievesWhatIsShownAndNotWhatIsSaid) {
  const StorageChange leave{"acme", "", {"100.64.0.5"}, {}};
  answer(0, std::string("gone 100.64.0.5\nexport acme 100.64.0.5\n") + host);
  EXPECT_EQ(apply(leave).error().code, Code::conflict);
  answer(0, std::string("gone 100.64.0.5\nexport acme\nsession - 100.64.0.5 40000 7\n") + host);
  EXPECT_NE(apply(leave).error().message().find("still has a session"), std::string::npos);
  answer(0, std::string("export bolt 100.64.0.6\nexport acme\n") + host);
  EXPECT_EQ(apply({"acme", "", {}, {"100.64.0.6"}}).error().code, Code::conflict);
}

TEST_F(ExportScript, NothingThatTheShellWouldReadReachesIt) {
  for (const StorageChange& bad :
       {StorageChange{"acme; id", "", {}, {}}, StorageChange{"", "", {}, {}},
        StorageChange{"acme", "ssh-ed25519 A' ; id '", {}, {}},
        StorageChange{"acme", "", {"$(id)"}, {}}, StorageChange{"acme", "", {}, {"1.2.3"}}}) {
    EXPECT_EQ(apply(bad).error().code, Code::invalid);
  }
  EXPECT_TRUE(exec_.asked.empty());
}

TEST_F(ExportScript, SaysWhatTheServerRefuses) {
  answer(75, "", "storage-export: 100.64.0.5 is granted to bolt; revoke it there first\n");
  const auto done = apply({"acme", "", {}, {"100.64.0.5"}});
  EXPECT_EQ(done.error().code, Code::conflict);
  EXPECT_NE(done.error().message().find("granted to bolt"), std::string::npos);
  exec_.answer = make_error(Code::timeout, "no answer in 5 s");
  EXPECT_EQ(apply({"acme", "", {}, {}}).error().code, Code::timeout) << "it may have happened";
}

TEST(ParseExports, ReadsAllAndSortsIt) {
  const auto seen = parse_exports(
      "export bolt\nexport acme 100.64.0.9 100.64.0.5\nsession acme 100.64.0.9 40001 12,13\n"
      "session - 100.64.0.7 40002 -\nsession acme 100.64.0.9 40003 14\n"
      "hostkey ssh-ed25519 AAAA stor1\n");
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->exports.size(), 2U);
  EXPECT_EQ(seen->exports[0].name, "acme");
  EXPECT_EQ(seen->exports[0].addresses, (std::vector<std::string>{"100.64.0.5", "100.64.0.9"}));
  ASSERT_EQ(seen->sessions.size(), 2U);
  EXPECT_EQ(seen->sessions[0].name, "") << "nobody's any more";
  EXPECT_EQ(seen->identity_key, "ssh-ed25519 AAAA");
}

TEST(ParseExports, TellsWhichKeysOpenAnExportAndWhenThatIsNotTold) {
  const auto told = parse_exports(
      std::string("export acme 100.64.0.9\nexport bolt\n") + host +
      "key acme ssh-rsa BBBB\nkey acme ssh-ed25519 AAAA\nkeys told\n");
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->shows_keys);
  EXPECT_EQ(told->exports[0].keys, (std::vector<std::string>{"ssh-ed25519 AAAA", "ssh-rsa BBBB"}));
  EXPECT_TRUE(told->exports[1].keys.empty());
  const auto silent = parse_exports(std::string("export acme 100.64.0.9\n") + host);
  ASSERT_TRUE(silent);
  EXPECT_FALSE(silent->shows_keys) << "the server's program does not know the verb";
  EXPECT_FALSE(parse_exports(std::string("key acme\n") + host));
}

TEST(ParseExports, RefusesWhatItCannotRead) {
  EXPECT_FALSE(parse_exports("")) << "no key";
  for (const std::string line : {"export", "export acme 10.0.0.300", "session acme", "grant acme",
                                 "session acme x 1 2", "export Acme 10.0.0.1"}) {
    EXPECT_FALSE(parse_exports(line + "\n" + host)) << line;
  }
}

}  // namespace
}  // namespace tundish::families
