// A drill's file, its stopwatch, and times as people type them.
#include <filesystem>

#include "codec/yaml.hpp"
#include "edge/cli/cli_fixture_test.hpp"
#include "edge/cli/drill_plan.hpp"
#include "edge/cli/when.hpp"

namespace tundish::edge::cli {
namespace {

constexpr Instant injected{seconds(1000).us};

DrillStep step_of() {
  DrillStep step;
  step.name = "lose a GPU";
  step.fault = "off_bus";
  step.node.name = "n1";
  step.expect.fault = "fallen off bus";
  step.expect.action = "reboot";
  step.expect.ends = "resolved";
  step.bands.detected_ms = 100;
  step.bands.returned_ms = 60000;
  return step;
}

void enter(Incident& incident, const std::string& what, std::int64_t after_ms) {
  TimelineEntry entry;
  entry.what = what;
  entry.at = entry.until = injected + milliseconds(after_ms);
  incident.timeline.push_back(entry);
}

Incident good_incident() {
  Incident incident;
  incident.id = IncidentId("incident-1");
  incident.drill = true;
  incident.fault = "fallen off bus";
  incident.detected_at = injected + milliseconds(5);
  incident.state = IncidentState::resolved;
  incident.resolved_at = injected + milliseconds(3000);
  enter(incident, "claimed", 6);
  enter(incident, "isolate", 700);
  enter(incident, "reboot", 800);
  return incident;
}

TEST(Drill, all_that_was_expected_passes) {
  const auto judged = judge_step(step_of(), injected, good_incident(), DrillTime::left);
  EXPECT_TRUE(judged.done);
  EXPECT_EQ(judged.result.outcome, DrillOutcome::passed) << judged.result.why;
  EXPECT_EQ(judged.result.laps[0].took_ms, 5);
  EXPECT_EQ(judged.result.laps[2].took_ms, 700);
  EXPECT_EQ(judged.result.laps[3].took_ms, -1);
}

TEST(Drill, each_thing_that_is_missing_fails_it) {
  const auto why = [](Incident incident, const DrillStep& step) {
    const auto judged = judge_step(step, injected, incident, DrillTime::over);
    EXPECT_TRUE(judged.done);
    EXPECT_EQ(judged.result.outcome, DrillOutcome::failed);
    return judged.result.why;
  };
  Incident late = good_incident();
  late.detected_at = injected + milliseconds(101);
  EXPECT_EQ(why(late, step_of()), "detected after 101 ms, at most 100 ms");
  Incident other = good_incident();
  other.fault = "xid 95";
  EXPECT_TRUE(has(why(other, step_of()), "it is called"));
  Incident lazy = good_incident();
  lazy.timeline.pop_back();
  EXPECT_EQ(why(lazy, step_of()), "no reboot was done");
  Incident open = good_incident();
  open.state = IncidentState::open;
  EXPECT_TRUE(has(why(open, step_of()), "not returned within 60000 ms"));
  Incident real = good_incident();
  real.drill = false;
  EXPECT_EQ(why(real, step_of()), "it is not marked as a drill");
  const auto none = judge_step(step_of(), injected, std::nullopt, DrillTime::over);
  EXPECT_EQ(none.result.outcome, DrillOutcome::failed);
  EXPECT_EQ(none.result.why, "no incident followed");
}

TEST(Drill, it_waits_while_something_is_to_come) {
  EXPECT_FALSE(judge_step(step_of(), injected, std::nullopt, DrillTime::left).done);
  Incident open = good_incident();
  open.state = IncidentState::open;
  open.resolved_at = {};
  EXPECT_FALSE(judge_step(step_of(), injected, open, DrillTime::left).done);
}

TEST(Drill, a_decoy_must_cost_nothing) {
  DrillStep decoy = step_of();
  decoy.expect = {};
  decoy.bands = {};
  decoy.expect.opens = "no";
  EXPECT_FALSE(judge_step(decoy, injected, std::nullopt, DrillTime::left).done);
  EXPECT_EQ(judge_step(decoy, injected, std::nullopt, DrillTime::over).result.outcome,
            DrillOutcome::passed);
  const auto bitten = judge_step(decoy, injected, good_incident(), DrillTime::left);
  EXPECT_TRUE(bitten.done);
  EXPECT_EQ(bitten.result.outcome, DrillOutcome::failed);
}

TEST(Drill, the_worst_step_is_the_drill) {
  const auto all = [](std::vector<DrillOutcome> outcomes) {
    std::vector<DrillResult> steps;
    for (const auto outcome : outcomes) steps.emplace_back().outcome = outcome;
    return outcome_of(steps);
  };
  using enum DrillOutcome;
  EXPECT_EQ(all({passed, passed}), passed);
  EXPECT_EQ(all({passed, unknown}), unknown);
  EXPECT_EQ(all({unknown, failed}), failed);
  EXPECT_EQ(all({}), unknown);
}

TEST(Drill, plans_that_make_no_sense_are_refused) {
  DrillPlan plan;
  EXPECT_FALSE(check_drill(plan));
  plan.steps = {step_of()};
  EXPECT_TRUE(check_drill(plan));
  const auto refused = [&](const std::function<void(DrillStep&)>& change) {
    DrillPlan changed = plan;
    change(changed.steps[0]);
    return !check_drill(changed);
  };
  EXPECT_TRUE(refused([](DrillStep& step) { step.fault.clear(); }));
  EXPECT_TRUE(refused([](DrillStep& step) { step.node.name.clear(); }));
  EXPECT_TRUE(refused([](DrillStep& step) { step.node.cluster = "train"; }));
  EXPECT_TRUE(refused([](DrillStep& step) { step.expect.opens = "maybe"; }));
  EXPECT_TRUE(refused([](DrillStep& step) { step.expect.ends = "happy"; }));
  EXPECT_TRUE(refused([](DrillStep& step) { step.bands.returned_ms = 999999999; }));
  EXPECT_TRUE(refused([](DrillStep& step) { step.bands.claimed_ms = -1; }));
  EXPECT_TRUE(refused([](DrillStep& step) { step.wait_s = 0; }));
  EXPECT_TRUE(refused([](DrillStep& step) { step.expect.opens = "no"; }));
}

TEST(Drill, the_examples_are_plans) {
  int files = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(TUNDISH_SOURCE_DIR) + "/examples/drills")) {
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    DrillPlan plan;
    const auto parsed = parse_yaml(text, plan, file.path().string());
    ASSERT_TRUE(parsed) << parsed.error().message();
    const auto checked = check_drill(plan);
    EXPECT_TRUE(checked) << file.path() << checked.error().message();
    ++files;
  }
  EXPECT_GE(files, 3);
}

TEST_F(CliTest, a_drill_is_refused_by_line_before_anything_breaks) {
  const std::string file =
      home.write("d.yaml", "name: d\nsteps:\n  - name: s\n    fault: xid\n    nod: {name: a}\n");
  const Ran ran = run({"drill", "run", file, "--yes"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(has(ran.err, "d.yaml:5")) << ran.err;
  EXPECT_TRUE(api.asked("POST /v1/faults").empty());
  EXPECT_EQ(run({"drill", "run", home / "none.yaml", "--yes"}).code, 3);
}

TEST_F(CliTest, a_drill_runs_judges_and_exits) {
  const std::string file = home.write(
      "d.yaml",
      "name: d\nsteps:\n  - name: s\n    fault: off_bus\n    node: {name: gpu1}\n    wait_s: 2\n"
      "    bands: {detected_ms: 1000}\n");
  api.on("GET /v1/faults", R"([{"name":"off_bus"},{"name":"xid"}])");
  api.on("GET /v1/claims", "[]");
  api.on("GET /v1/nodes", R"([{"id":"node-1","meta":{"name":"gpu1"}}])");
  api.on("POST /v1/faults", R"({"node":"gpu1","line":"x","at":"2026-01-01T00:00:00Z"})");
  api.on("GET /v1/nodes/gpu1", R"({"id":"node-1","meta":{"name":"gpu1"}})");
  api.on("GET /v1/incidents",
         R"([{"id":"incident-2","node":"node-1","drill":true,"fault":"fallen off bus",)"
         R"("opened_at":"2026-01-01T00:00:00.010Z","detected_at":"2026-01-01T00:00:00.005Z"}])");
  const Ran good = run({"drill", "run", file, "--yes"});
  EXPECT_EQ(good.code, 0) << good.out << good.err;
  EXPECT_TRUE(has(good.out, "drill d: passed")) << good.out;
  const Ran json = run({"drill", "run", file, "--yes", "-o", "json"});
  EXPECT_TRUE(has(json.out, "\"outcome\": \"passed\"")) << json.out;
  api.on("GET /v1/incidents", "[]");
  EXPECT_EQ(run({"drill", "run", file, "--yes"}).code, 3);
  api.on("POST /v1/faults", R"({"code":"unsupported","message":"no lab"})", 501);
  const Ran unknown = run({"drill", "run", file, "--yes"});
  EXPECT_EQ(unknown.code, 4);
  EXPECT_TRUE(has(unknown.out, "no lab"));
  EXPECT_EQ(run({"drill", "run", file}).code, 130) << "nobody said yes";
}

TEST_F(CliTest, a_drill_that_no_step_could_do_is_refused_before_the_first) {
  api.on("GET /v1/faults",
         R"([{"name":"off_bus"},{"name":"xid"},{"name":"ib","unavailable":"no"}])");
  api.on("GET /v1/nodes", R"([{"id":"node-1","meta":{"name":"gpu1"}}])");
  api.on("GET /v1/clusters", R"([{"id":"cluster-1","meta":{"name":"train"}}])");
  const auto refusal = [&](const std::string& second) {
    const std::string file =
        home.write("d.yaml",
                   "name: d\nsteps:\n  - name: first\n    fault: off_bus\n    node: {name: gpu1}\n"
                   "  - name: second\n" + second);
    const Ran ran = run({"drill", "run", file, "--yes"});
    EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
    EXPECT_TRUE(api.asked("POST /v1/faults").empty()) << "the first step broke something";
    return ran.err;
  };
  const std::string kind = refusal("    fault: off_bs\n    node: {name: gpu1}\n");
  EXPECT_TRUE(has(kind, "step second: no fault is called off_bs")) << kind;
  EXPECT_TRUE(has(kind, "did you mean off_bus?")) << kind;
  const std::string cluster = refusal("    fault: xid\n    node: {cluster: tran}\n");
  EXPECT_TRUE(has(cluster, "no cluster is called tran")) << cluster;
  EXPECT_TRUE(has(cluster, "did you mean train?")) << cluster;
  EXPECT_TRUE(has(refusal("    fault: xid\n    node: {name: gpu2}\n"), "did you mean gpu1?"));
  EXPECT_TRUE(has(refusal("    fault: ib\n    node: {name: gpu1}\n"), "fault ib: no"));
}

TEST_F(CliTest, a_drill_says_what_it_leaves_behind) {
  const std::string file = home.write(
      "d.yaml",
      "name: d\nsteps:\n  - name: s\n    fault: xid\n    node: {name: gpu1}\n    wait_s: 2\n"
      "    expect: {ends: rma}\n");
  api.on("GET /v1/faults", R"([{"name":"xid"}])");
  api.on("GET /v1/claims", "[]");
  api.on("GET /v1/nodes", R"([{"id":"node-1","meta":{"name":"gpu1"}}])");
  api.on("GET /v1/nodes/gpu1", R"({"id":"node-1","meta":{"name":"gpu1"}})");
  api.on("POST /v1/faults", R"({"node":"gpu1","line":"x","at":"2026-01-01T00:00:00Z"})");
  const std::string incident =
      R"({"id":"incident-2","node":"node-1","drill":true,"fault":"xid 64","state":"rma",)"
      R"("opened_at":"2026-01-01T00:00:00.010Z","detected_at":"2026-01-01T00:00:00.005Z",)"
      R"("resolved_at":"2026-01-01T00:00:00.500Z"})";
  api.on("GET /v1/incidents", "[" + incident + "]");
  api.on("GET /v1/incidents/incident-2", incident);
  const Ran ran = run({"drill", "run", file, "--yes"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.err, "node gpu1 is left out of service")) << ran.err;
  EXPECT_TRUE(has(ran.err, "tundish incident close incident-2")) << ran.err;
}

TEST_F(CliTest, a_drill_takes_no_node_that_is_out_of_service_already) {
  api.on("GET /v1/faults", R"([{"name":"xid"}])");
  const auto node = [](const std::string& number) {
    return R"({"id":"node-)" + number + R"(","spec":{"role":"gpu"},"status":{"phase":"ready"},)" +
           R"("meta":{"name":"n0)" + number + R"("}})";
  };
  api.on("GET /v1/nodes", "[" + node("1") + "," + node("2") + "]");
  api.on("GET /v1/nodes/n01", node("1"));
  api.on("GET /v1/nodes/n02", node("2"));
  api.on("GET /v1/allocations", "[]");
  api.on("GET /v1/clusters", "[]");
  const auto claims = [&](const std::string& state_of_second) {
    api.on("GET /v1/claims",
           R"([{"id":"claim-1","node":"node-1","holder":"incident","reason":"xid 64",)"
           R"("incident":"incident-7","state":"active"},{"id":"claim-2","node":"node-2",)"
           R"("holder":"person:ann","reason":"drain","state":")" + state_of_second + R"("}])");
  };
  api.on("POST /v1/faults", [](const net::ServerRequest&) {
    return HttpResponse{200, {{"x-dry-run", "true"}}, R"({"node":"n","line":"x"})"};
  });
  const auto drill = [&](const std::string& wanted) {
    const std::string file = home.write(
        "d.yaml", "name: d\nsteps:\n  - name: s\n    fault: xid\n    node: " + wanted + "\n");
    return run({"drill", "run", file, "--yes", "--dry-run"});
  };
  claims("released");
  const Ran second = drill("{role: free, index: 0}");
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(has(second.err, "would break node n02")) << second.err;
  const Ran named = drill("{name: n01}");
  EXPECT_EQ(named.code, 3) << named.err;
  EXPECT_TRUE(has(named.err, "node n01 is claimed by incident-7: xid 64")) << named.err;
  EXPECT_TRUE(has(named.err, "tundish node explain n01")) << named.err;
  claims("active");
  const std::size_t asked = api.asked("POST /v1/faults").size();
  const Ran none = drill("{role: free, index: 0}");
  EXPECT_EQ(none.code, 3) << none.err;
  EXPECT_TRUE(has(none.err, "left out: n01 is claimed by incident-7: xid 64, n02 is claimed by "
                            "person:ann: drain"))
      << none.err;
  EXPECT_EQ(api.asked("POST /v1/faults").size(), asked) << "something broke";
}

TEST(When, times_as_people_type_them) {
  setenv("TZ", "UTC-2", 1);
  tzset();
  const Instant now{seconds(1'800'000'000).us};
  EXPECT_EQ(*parse_when("now", now), now);
  EXPECT_EQ(*parse_when("+2h", now), now + hours(2));
  EXPECT_EQ(*parse_when("2026-12-01T21:00:00Z", now), *parse_when("2026-12-01 23:00", now));
  EXPECT_EQ(*parse_when("2026-12-01T23:00:30", now),
            *parse_when("2026-12-01 23:00", now) + seconds(30));
  for (const char* bad : {"", "soon", "+", "+2x", "2026-13-01 10:00", "2026-12-01", "23:00",
                          "2026-12-01 25:00", "2026-12-01 23:00 x"}) {
    EXPECT_FALSE(parse_when(bad, now)) << bad;
  }
}

TEST_F(CliTest, a_maintenance_needs_a_reason_and_an_end) {
  EXPECT_EQ(run({"maintenance", "create", "--scope", "node:a", "--for", "2h"}).code, 2);
  EXPECT_EQ(run({"maintenance", "create", "--scope", "node:a", "--reason", "fans"}).code, 2);
  EXPECT_EQ(run({"maintenance", "create", "--scope", "node:a", "--reason", "f", "--for", "2h",
                 "--end", "+3h"})
                .code,
            2);
  api.on("POST /v1/maintenances",
         R"({"id":"maintenance-1","scope":"node:a","nodes":[{"node":"node-1"}],)"
         R"("begin":"2026-12-01T20:00:00Z","end":"2026-12-01T22:00:00Z"})",
         201);
  const Ran made =
      run({"maintenance", "create", "--scope", "node:a", "--reason", "fans", "--for", "2h"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(has(made.out, "maintenance-1 on node:a: 1 node, 2026-12-01 22:00:00"));
}

TEST_F(CliTest, a_rehearsed_maintenance_says_which_nodes_it_would_cover) {
  api.on("GET /v1/nodes", R"([{"id":"node-1","meta":{"name":"n01"}}])");
  api.on("POST /v1/maintenances", [](const net::ServerRequest&) {
    return HttpResponse{201, {{"x-dry-run", "true"}},
                        R"({"id":"maintenance-1","scope":"rack:r1","nodes":[{"node":"node-1"}],)"
                        R"("begin":"2026-12-01T20:00:00Z","end":"2026-12-01T22:00:00Z"})"};
  });
  const Ran ran = run({"maintenance", "create", "--scope", "rack:r1", "--reason", "fans", "--for",
                       "2h", "--dry-run"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.err, "1 node, 2026-12-01 22:00:00")) << ran.err;
  EXPECT_TRUE(has(ran.err, "nodes: n01")) << ran.err;
  EXPECT_FALSE(has(ran.err, "{")) << ran.err;
}

TEST_F(CliTest, the_end_of_a_maintenance_names_nodes_and_is_no_success_with_a_faulty_one) {
  api.on("GET /v1/nodes",
         R"([{"id":"node-80","meta":{"name":"n01"}},{"id":"node-84","meta":{"name":"n02"}}])");
  const auto window = [](const std::string& state, const std::string& second) {
    return R"({"id":"maintenance-1","scope":"rack:r1","state":")" + state +
           R"(","nodes":[{"node":"node-80","state":"proved"},{"node":"node-84","state":")" +
           second + R"("}]})";
  };
  api.on("POST /v1/maintenances/maintenance-1/end", window("revalidating", "empty"));
  int asked = 0;
  api.on("GET /v1/maintenances/maintenance-1", [&](const net::ServerRequest&) {
    const bool first = asked++ == 0;
    return HttpResponse{200, {},
                        first ? window("revalidating", "empty") : window("ended", "faulty")};
  });
  const Ran ran = run({"maintenance", "end", "maintenance-1", "--wait"});
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.err, "1 of 2 nodes proved: n02 empty")) << ran.err;
  EXPECT_FALSE(has(ran.err, "node-84")) << ran.err;
}

}  // namespace
}  // namespace tundish::edge::cli
