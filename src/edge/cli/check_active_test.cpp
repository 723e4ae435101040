// Active checks on the command line: what a run prints, its exit code, and what people see while it
// goes on.
#include <chrono>

#include "edge/cli/cli_fixture_test.hpp"

namespace tundish::edge::cli {
namespace {

const char* const checks =
    R"([{"name":"ecc","doc":"no error","kind":"passive"},)"
    R"({"name":"gpu_burn","doc":"no wrong sum","cost":"a minute","kind":"active",)"
    R"("tier":"heavy","watches":"gpu"}])";

std::string begun(const std::string& step = "runs") {
  return R"({"id":"run-7","nodes":["gpu1"],"checks":["gpu_burn"],"asked_by":"root","step":")" +
         step + R"(","since":"2026-11-30T12:00:00Z","verdicts":[]})";
}

std::string ended(const std::string& state, const std::string& reason,
                  const std::string& next = "") {
  return R"({"id":"run-7","nodes":["gpu1"],"checks":["gpu_burn"],"asked_by":"root",)"
         R"("since":"2026-11-30T12:00:00Z","ended_at":"2026-11-30T12:01:00Z","step":"",)"
         R"("verdicts":[{"check":"gpu_burn","state":")" +
         state + R"(","device":"0000:3b:00","reason":")" + reason + R"("}],"next":[)" +
         (next.empty() ? "" : "\"" + next + "\"") + "]}";
}

class ActiveCli : public CliTest {
 protected:
  ActiveCli() {
    api.on("POST /v1/checks/runs", begun());
    api.on("POST /v1/checks/pairs", begun());
  }
  void tells(const std::string& body) { api.on("GET /v1/checks/runs/run-7", body); }
  Ran run_burn(std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"check", "run", "gpu1", "--active", "--check", "gpu_burn"};
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  }
};

TEST_F(ActiveCli, TheListShowsActiveOnesWithTheirTierAndCost) {
  api.on("GET /v1/checks", checks);
  const Ran ran = run({"check", "list", "--active"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "gpu_burn   heavy   gpu       a minute")) << ran.out;
  EXPECT_FALSE(has(ran.out, "ecc")) << ran.out;
}

TEST_F(ActiveCli, TheExitCodeIsTheWorstVerdict) {
  tells(ended("ok", "right"));
  EXPECT_EQ(run_burn().code, 0);
  tells(ended("warn", "warm"));
  EXPECT_EQ(run_burn().code, 0);
  tells(ended("fail", "wrong sums"));
  EXPECT_EQ(run_burn().code, 3);
  tells(ended("unknown", "no answer"));
  EXPECT_EQ(run_burn().code, 4);
  EXPECT_TRUE(has(api.asked("POST /v1/checks/runs").at(0).body, R"("checks":["gpu_burn"])"));
}

TEST_F(ActiveCli, WhoeverFindsAFaultIsToldWhatHappensNext) {
  tells(ended("fail", "wrong sums", "incident-5 is open on gpu1"));
  const Ran ran = run_burn();
  EXPECT_TRUE(has(ran.out, "gpu_burn  fail   0000:3b:00  wrong sums")) << ran.out;
  EXPECT_TRUE(has(ran.out, "\nincident-5 is open on gpu1\n")) << ran.out;
}

TEST_F(ActiveCli, AMissingToolIsUnknownAndItsPackageIsNamed) {
  tells(ended("unknown", "gpu_burn is not installed; it comes with gpu-burn"));
  const Ran ran = run_burn();
  EXPECT_EQ(ran.code, 4);
  EXPECT_TRUE(has(ran.out, "is not installed; it comes with gpu-burn")) << ran.out;
}

TEST_F(ActiveCli, JsonIsTheObjectOfTheApi) {
  tells(ended("fail", "wrong sums", "incident-5 is open on gpu1"));
  const Ran ran = run_burn({"-o", "json"});
  EXPECT_EQ(ran.code, 3);
  const auto parsed = JsonValue::parse(ran.out);
  ASSERT_TRUE(parsed) << ran.out;
  EXPECT_EQ(parsed->at("id").as_text(), "run-7");
  EXPECT_EQ(parsed->at("next").at(0).as_text(), "incident-5 is open on gpu1");
  EXPECT_EQ(parsed->at("ended_at").as_text(), "2026-11-30T12:01:00Z") << "UTC in JSON";
}

TEST_F(ActiveCli, WhatTakesLongerTellsHowFarItIsOnStandardError) {
  const auto start = std::chrono::steady_clock::now();
  api.on("GET /v1/checks/runs/run-7", [start](const net::ServerRequest&) {
    const bool over = std::chrono::steady_clock::now() - start > std::chrono::milliseconds(2700);
    return HttpResponse{200, {}, over ? ended("ok", "right") : begun("round 1: 2 pairs")};
  });
  const Ran ran = run_burn({"-o", "json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.err, "gpu_burn on gpu1: round 1: 2 pairs, 2 s")) << ran.err;
  EXPECT_TRUE(JsonValue::parse(ran.out)) << "nothing but JSON: " << ran.out;
}

TEST_F(ActiveCli, WhatIsQuickTellsNothingBetween) {
  tells(ended("ok", "right"));
  EXPECT_EQ(run_burn().err, "");
}

TEST_F(ActiveCli, WhoDoesNotWaitLongEnoughIsToldThatItGoesOn) {
  tells(begun());
  const Ran ran = run_burn({"--timeout", "1s"});
  EXPECT_EQ(ran.code, 4) << ran.err;
  EXPECT_TRUE(has(ran.err, "run-7 goes on; look at it with: tundish check runs")) << ran.err;
}

TEST_F(ActiveCli, ADryRunAsksTheApiAndWaitsForNothing) {
  api.on("POST /v1/checks/runs", [](const net::ServerRequest& request) {
    const std::string body = request.query.contains("dry_run") ? "{}" : "";
    return HttpResponse{200, {{"x-dry-run", "true"}}, body};
  });
  const Ran ran = run_burn({"--dry-run"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(api.asked("GET /v1/checks/runs/run-7").empty());
  const auto asked = api.asked("POST /v1/checks/runs");
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].query.at("dry_run"), "true");
}

TEST_F(ActiveCli, RefusalsOfTheApiAreToldWithTheirRemedy) {
  api.on("POST /v1/checks/runs",
         R"({"code":"denied","message":"gpu1 belongs to allocation train",)"
         R"("object":"node/gpu1","remedy":"drain it, or name a free node"})",
         403);
  const Ran ran = run_burn();
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(has(ran.err, "gpu1 belongs to allocation train")) << ran.err;
  EXPECT_TRUE(has(ran.err, "drain it, or name a free node")) << ran.err;
  EXPECT_EQ(ran.out, "");
}

TEST_F(ActiveCli, ATierIsOfActiveChecksOnly) {
  EXPECT_EQ(run({"check", "run", "gpu1", "--tier", "heavy"}).code, 2);
  EXPECT_EQ(run({"check", "run", "gpu1", "--active", "--tier", "middle"}).code, 2);
  tells(ended("ok", "right"));
  EXPECT_EQ(run({"check", "run", "gpu1", "--active", "--tier", "heavy"}).code, 0);
  EXPECT_TRUE(has(api.asked("POST /v1/checks/runs").at(0).body, R"("tier":"heavy")"));
}

TEST_F(ActiveCli, PairsNameTheirNodesAndCheck) {
  tells(ended("fail", "fails with gpu2, which is good with others", "incident-5 is open on gpu1"));
  const Ran ran = run({"check", "pairs", "gpu1", "gpu2", "--check", "nccl_pair", "--round", "2"});
  EXPECT_EQ(ran.code, 3) << ran.err;
  EXPECT_TRUE(has(ran.out, "which is good with others")) << ran.out;
  const std::string body = api.asked("POST /v1/checks/pairs").at(0).body;
  EXPECT_TRUE(has(body, R"("nodes":["gpu1","gpu2"])")) << body;
  EXPECT_TRUE(has(body, R"("check":"nccl_pair")")) << body;
  EXPECT_TRUE(has(body, R"("round":2)")) << body;
  EXPECT_EQ(run({"check", "pairs", "gpu1", "gpu2", "--check", "gpu_burn"}).code, 2);
  EXPECT_EQ(run({"check", "pairs"}).code, 2);
}

TEST_F(ActiveCli, RunsAreListedWithWhatTheyFound) {
  api.on("GET /v1/checks/runs", "[" + begun("round 1") + "," + ended("fail", "wrong sums") + "]");
  const Ran ran = run({"check", "runs"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "runs: round 1")) << ran.out;
  EXPECT_TRUE(has(ran.out, "fail")) << ran.out;
  EXPECT_TRUE(has(ran.out, "14:00")) << "local time: " << ran.out;
  EXPECT_EQ(JsonValue::parse(run({"check", "runs", "-o", "json"}).out)->size(), 2U);
}

TEST_F(ActiveCli, ARunIsStoppedByItsName) {
  api.on("POST /v1/checks/runs/run-7/stop",
         ended("unknown", "preempted: stopped by root"));
  const Ran ran = run({"check", "stop", "run-7"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "preempted: stopped by root")) << ran.out;
  api.on("POST /v1/checks/runs/run-7/stop", [](const net::ServerRequest&) {
    return HttpResponse{200, {{"x-dry-run", "true"}}, begun()};
  });
  EXPECT_EQ(run({"check", "stop", "run-7", "--dry-run"}).code, 0);
  EXPECT_EQ(api.asked("POST /v1/checks/runs/run-7/stop").at(1).query.at("dry_run"), "true");
}

}  // namespace
}  // namespace tundish::edge::cli
