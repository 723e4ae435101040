#include <fstream>

#include "edge/cli/cli_fixture_test.hpp"

namespace tundish::edge::cli {
namespace {

const char* const checks =
    R"([{"name":"ecc_rate","doc":"rare","source":"NVML","cost":"none","kind":"passive",)"
    R"("watches":"gpu_memory","locality":"device_local","every":60000000,"looks":1,)"
    R"("gates":false,"limits":[{"check":"ecc_rate","name":"corrected","value":600,)"
    R"("unit":"per_minute","side":"above","verdict":"warn","source":"NVSentinel #1748",)"
    R"("why":"far above healthy boards"}]}])";

std::string ran_with(const std::string& state) {
  return R"({"node":"gpu1","verdicts":[{"check":"ecc","state":"ok","reason":"good"},)"
         R"({"check":"disk_space","state":")" + state + R"(","reason":"why","evidence":"e"}]})";
}

TEST_F(CliTest, ChecksAreListedAndExplained) {
  api.on("GET /v1/checks", checks);
  const std::string list = run({"check", "list"}).out;
  EXPECT_TRUE(has(list, "ecc_rate   passive   gpu_memory")) << list;
  const Ran show = run({"check", "show", "ecc_rate"});
  EXPECT_EQ(show.code, 0) << show.err;
  EXPECT_TRUE(has(show.out, "limit     corrected above 600 per_minute: warn")) << show.out;
  EXPECT_TRUE(has(show.out, "from NVSentinel #1748")) << show.out;
  const Ran none = run({"check", "show", "eec"});
  EXPECT_EQ(none.code, 3);
  EXPECT_TRUE(has(none.err, "tundish check list")) << none.err;
}

TEST_F(CliTest, TheExitCodeOfARunIsItsWorstVerdict) {
  for (const auto& [state, code] : {std::pair("ok", 0), std::pair("warn", 0), std::pair("fail", 3),
                                    std::pair("unknown", 4)}) {
    api.on("POST /v1/checks/run", ran_with(state));
    const Ran ran = run({"check", "run", "gpu1", "--check", "ecc", "--check", "disk_space"});
    EXPECT_EQ(ran.code, code) << state << ran.out << ran.err;
    EXPECT_TRUE(has(ran.out, "why (e)")) << ran.out;
  }
  EXPECT_TRUE(has(api.asked("POST /v1/checks/run").at(0).body, R"(["ecc","disk_space"])"));
  EXPECT_TRUE(has(run({"check", "run", "gpu1", "-o", "json"}).out, "\"verdicts\""));
}

TEST_F(CliTest, ARunHasAHeaderASumAndSaysNothingTwice) {
  api.on("POST /v1/checks/run",
         R"({"node":"gpu1","verdicts":[{"check":"ecc","state":"ok","reason":"good"},)"
         R"j({"check":"dram_ecc","state":"unknown","reason":"no memory controller (EDAC)",)j"
         R"j("evidence":"no memory controller (EDAC)"}]})j");
  const Ran ran = run({"check", "run", "gpu1"});
  EXPECT_TRUE(has(ran.out, "CHECK     SAYS     DEVICE")) << ran.out;
  EXPECT_TRUE(has(ran.out, "1 unknown, 1 ok\n")) << ran.out;
  const auto first = ran.out.find("no memory controller");
  EXPECT_EQ(ran.out.find("no memory controller", first + 1), std::string::npos) << ran.out;
}

TEST_F(CliTest, NoVerdictIsNoPass) {
  api.on("POST /v1/checks/run", R"({"node":"gpu1","verdicts":[]})");
  EXPECT_EQ(run({"check", "run", "gpu1"}).code, 4);
}

TEST_F(CliTest, ANodeIsGuessedOnlyWhereThereIsOne) {
  api.on("GET /v1/nodes", R"([{"id":"node-1","meta":{"name":"a"}},{"id":"node-2"}])");
  const Ran ran = run({"check", "run"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(has(ran.err, "which of 2 nodes")) << ran.err;
}

TEST_F(CliTest, TheShippedCatalogueHasNothingToComplainOf) {
  const Ran ran = run({"check", "lint", std::string(TUNDISH_SOURCE_DIR) + "/catalog"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(run({"check", "lint", "/nowhere"}).code, 3);
}

TEST_F(CliTest, ALimitThatNoCheckAsksForIsNoCleanBill) {
  const Folder folder;
  const std::string shipped = std::string(TUNDISH_SOURCE_DIR) + "/catalog/";
  for (const std::string name : {"xid.yaml", "sxid.yaml", "nameplates.yaml", "thresholds.yaml"}) {
    std::ifstream in(shipped + name);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (const auto at = text.find("check: ecc_rate"); at != std::string::npos) {
      text.replace(at, 15, "check: ecc_rat");
    }
    folder.write(name, text);
  }
  std::ostringstream out, err;
  std::istringstream in;
  Context context({out, err, in}, variables);
  context.known_limits = {{"ecc_life", "uncorrected", LimitUnit::count},
                          {"ecc_rate", "corrected", LimitUnit::per_minute}};
  context.catalog_dir = folder / "";
  EXPECT_EQ(run_program({"check", "lint"}, context), 3) << "without a folder the shipped one";
  EXPECT_TRUE(has(err.str(), "no check with limits is called ecc_rat")) << err.str();
  EXPECT_TRUE(has(err.str(), "did you mean ecc_rate?")) << err.str();
  EXPECT_TRUE(has(err.str(), "thresholds.yaml:")) << err.str();
}

TEST_F(CliTest, ACatalogueUpdateShowsWhatItWouldChange) {
  const std::string folder = std::string(TUNDISH_SOURCE_DIR) + "/catalog";
  std::ifstream file(folder + "/xid.yaml");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // 95 gets the action of 79 in the new edition.
  const std::size_t row = text.find("- code: 95\n");
  ASSERT_NE(row, std::string::npos);
  const std::size_t action = text.find("action: reset", row);
  ASSERT_NE(action, std::string::npos);
  text.replace(action, 13, "action: reboot");
  const std::string updated = home / "new.yaml";
  std::ofstream(updated) << text;
  api.on("GET /v1/incidents",
         R"([{"id":"incident-5","opened_at":"2099-01-01T00:00:00Z","witnesses":[{"kind":"event",)"
         R"("event":{"kind":"xid","code":95,"device":"0000:3b:00"}}],"meta":{"name":""}},)"
         R"({"id":"incident-1","opened_at":"2020-01-01T00:00:00Z","witnesses":[{"kind":"event",)"
         R"("event":{"kind":"xid","code":95}}]}])");
  const Ran ran = run({"check", "catalogue", "diff", updated, "--catalog", folder});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "95")) << ran.out;
  EXPECT_TRUE(has(ran.out, "reboot")) << ran.out;
  EXPECT_TRUE(has(ran.out, "incident-5")) << ran.out;
  EXPECT_FALSE(has(ran.out, "incident-1")) << ran.out << "older than 90 days";
  std::ofstream(updated) << "edition: x\nentries: [{code: 0}]\n";
  EXPECT_EQ(run({"check", "catalogue", "diff", updated, "--catalog", folder}).code, 3);
}

}  // namespace
}  // namespace tundish::edge::cli
