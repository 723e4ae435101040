// What a person reads while something breaks: which incident, which file, which nodes, how long.
#include "edge/cli/cli_fixture_test.hpp"

namespace tundish::edge::cli {
namespace {

const char* const told = R"({"node":"n09","at":"2026-01-01T00:00:00Z","line":""})";

TEST_F(CliTest, AFaultOfAPartIsWaitedForToo) {
  api.on("POST /v1/faults", told);
  api.on("GET /v1/nodes/n09", R"({"id":"node-9","meta":{"name":"n09"}})");
  const auto waited = [&](const std::string& incident) {
    api.on("GET /v1/incidents", "[" + incident + "]");
    return run({"fault", "inject", "--node", "n09", "--kind", "disk_error", "--part", "nvme0n1",
                "--wait", "--timeout", "1s"});
  };
  const std::string since = R"("opened_at":"2026-01-01T00:00:07Z","meta":{"name":"incident-563"})";
  const Ran part = waited(R"({"id":"incident-563","subject_kind":"node","subject":"n09",)" + since +
                          "}");
  EXPECT_EQ(part.code, 0) << part.err;
  EXPECT_TRUE(has(part.err, "incident incident-563 is open")) << part.err;
  EXPECT_TRUE(has(part.out, "n09  disk_error of nvme0n1 (it leaves no line")) << part.out;
  EXPECT_EQ(waited(R"({"id":"incident-563","affected":["node-9"],)" + since + "}").code, 0);
  EXPECT_EQ(waited(R"({"id":"incident-563","node":"node-9",)" + since + "}").code, 0);
  const Ran other = waited(R"({"id":"incident-563","subject_kind":"node","subject":"n08",)" +
                           since + "}");
  EXPECT_EQ(other.code, 4) << "another node's";
}

TEST_F(CliTest, ABundleThatCannotBeWrittenIsNotMade) {
  const std::string call = "POST /v1/incidents/incident-498/bundle";
  api.on(call, R"({"name":"e.json","sha256":"d66688","text":"evidence\n"})");
  const std::string file = home / "rma.json";
  const Ran good = run({"incident", "show", "incident-498", "--bundle", file});
  EXPECT_EQ(good.code, 0) << good.err;
  std::ifstream in(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "evidence\n");
  ASSERT_EQ(api.asked(call).size(), 1U);
  for (const std::string& bad : {std::string("/nonexist/x"), home / ""}) {
    const Ran ran = run({"incident", "show", "incident-498", "--bundle", bad});
    EXPECT_EQ(ran.code, 3) << bad;
    EXPECT_TRUE(has(ran.err, "nothing was recorded")) << ran.err;
  }
  EXPECT_EQ(api.asked(call).size(), 1U) << "the record of the RMA stays as it was";
  const Ran rehearsed =
      run({"incident", "show", "incident-498", "--bundle", home / "dry.json", "--dry-run"});
  EXPECT_FALSE(std::filesystem::exists(home / "dry.json")) << rehearsed.err;
}

TEST_F(CliTest, AnOrderWaitsForNodesThatAreOnTheirWay) {
  int asked = 0;
  api.on("POST /v1/clusters", [&](const net::ServerRequest&) {
    if (asked++ == 0) {
      return HttpResponse{409, {},
                          R"({"code":"exhausted","message":"0 free; not ready yet: 8 expected",)"
                          R"("retry_after_ms":5000})"};
    }
    return HttpResponse{201, {}, R"({"id":"cluster-9","meta":{"name":"c"}})"};
  });
  api.on("GET /v1/clusters/cluster-9",
         R"({"id":"cluster-9","spec":{"nodes":1},"status":{"phase":"active",)"
         R"("allocation":"allocation-3"},"meta":{"name":"c"}})");
  api.on("GET /v1/allocations/allocation-3",
         R"({"id":"allocation-3","status":{"nodes":[)"
         R"({"node":"n","role":"member","joined":true}]}})");
  EXPECT_EQ(run({"cluster", "create", "c", "--nodes", "1"}).code, 3) << "without --wait";
  asked = 0;
  const Ran ran = run({"cluster", "create", "c", "--nodes", "1", "--wait"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.err, "not ready yet: 8 expected")) << ran.err;
  api.on("POST /v1/clusters", R"({"code":"exhausted","message":"quota"})", 409);
  EXPECT_EQ(run({"cluster", "create", "c", "--nodes", "1", "--wait"}).code, 3) << "a real shortage";
}

TEST_F(CliTest, ADryRunSaysWhatWasGivenAndNoJson) {
  api.on("POST /v1/holds", [](const net::ServerRequest&) {
    return HttpResponse{201, {{"x-dry-run", "true"}}, "{}"};
  });
  const Ran ran = run({"hold", "set", "--scope", "rack:r01", "--reason", "fans", "--dry-run"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.err, "would POST /v1/holds: scope rack:r01, reason fans\n")) << ran.err;
}

TEST_F(CliTest, ExplainIsInLocalTimeAndSaysNothingTwice) {
  api.on("GET /v1/nodes/n02/explain",
         R"({"node":"n02","phase":"ready","placeable":"no: it is claimed","why":"claim-1 of x",)"
         R"("claims":["claim-1 of x"],"shows":["ecc_rate warn: rare"],)"
         R"("past":["incident-4 xid 79"],)"
         R"("next":"maintenance-5 should end at 2026-11-30T20:00:00.000Z; a person ends it"})");
  const Ran ran = run({"node", "explain", "n02"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "should end at 2026-11-30 22:00:00; a person")) << ran.out;
  EXPECT_TRUE(has(ran.out, "shows         ecc_rate warn: rare")) << ran.out;
  EXPECT_TRUE(has(ran.out, "had           incident-4 xid 79")) << ran.out;
  const auto first = ran.out.find("claim-1 of x");
  EXPECT_EQ(ran.out.find("claim-1 of x", first + 1), std::string::npos) << ran.out;
}

TEST(LocalTimes, only_whole_times_are_changed) {
  setenv("TZ", "UTC-2", 1);
  tzset();
  EXPECT_EQ(with_local_times("at 2026-11-30T20:00:00.123Z and 2026-11-30T21:00:00Z."),
            "at 2026-11-30 22:00:00 and 2026-11-30 23:00:00.");
  for (const char* same : {"", "T", "TZ", "no time", "2026-11-30Tuesday Z", "T2026-11-30T"}) {
    EXPECT_EQ(with_local_times(same), same);
  }
}

TEST_F(CliTest, ANoticeListSaysThatNobodyIsTold) {
  api.on("GET /v1/notices", "[]");
  api.on("GET /v1/status", R"({"notices":["nobody is told of pages and tickets: x"]})");
  EXPECT_TRUE(has(run({"notice", "list"}).err, "nobody is told of pages"));
  api.on("GET /v1/status", R"({"notices":["another"]})");
  EXPECT_EQ(run({"notice", "list"}).err, "");
}

TEST_F(CliTest, ALongWordIsNotRepeatedWhole) {
  const Ran ran = run({std::string(5000, 'x')});
  EXPECT_EQ(ran.code, 2);
  EXPECT_LT(ran.err.size(), 400U) << ran.err;
  EXPECT_TRUE(has(ran.err, "…")) << ran.err;
}

}  // namespace
}  // namespace tundish::edge::cli
