#include "control/fault/policy.hpp"

#include <gtest/gtest.h>

#include "control/fault/check_plan.hpp"
#include "control/fault/policy_problem.hpp"

namespace tundish::control {
namespace {

RemediationPolicy policy_of(std::vector<PolicyEdge> edges) {
  RemediationPolicy policy;
  policy.initial = "at";
  policy.states["at"].next = std::move(edges);
  policy.states["there"].action = "return_node";
  policy.states["there"].final = true;
  policy.states["at"].budget = 2;
  return policy;
}

PolicyStep step_of(const RemediationPolicy& policy, const std::set<std::string>& facts,
                   int entries = 1, int after_s = 0) {
  const Instant since{1'000'000};
  return policy_step(policy, {"at", since, {{"at", entries}}}, facts, since + seconds(after_s));
}

TEST(policy_step, terms_are_facts_beginnings_of_faults_and_budgets) {
  const auto go = [](const std::string& term, const std::set<std::string>& facts, int entries = 1) {
    return step_of(policy_of({{{term}, 0, "there", Escalation::log}}), facts, entries)
        .go.has_value();
  };
  EXPECT_TRUE(go("drained", {"drained"}));
  EXPECT_FALSE(go("drained", {}));
  EXPECT_TRUE(go("!drained", {}));
  EXPECT_TRUE(go("fault:[node_problem]", {"fault:[node_problem] gpu"}));
  EXPECT_FALSE(go("fault:[node_problem]", {"fault:nvme_raid_health"}));
  EXPECT_TRUE(go("budget:at", {}, 1));
  EXPECT_FALSE(go("budget:at", {}, 2));
}

TEST(policy_step, an_edge_tells_whom_it_escalates_to_and_waits_for_its_time) {
  const auto policy = policy_of({{{}, 60, "there", Escalation::page}});
  const auto early = step_of(policy, {}, 1, 59);
  EXPECT_FALSE(early.go);
  EXPECT_TRUE(early.wake_at.is_set());
  const auto due = step_of(policy, {}, 1, 60);
  EXPECT_EQ(due.go, "there");
  EXPECT_EQ(due.escalate, Escalation::page);
}

TEST(check_policy, turns_of_active_checks_are_within_reason) {
  const auto says = [](auto&& change) {
    RemediationPolicy policy = policy_of({{{}, 1, "there", Escalation::log}});
    change(policy.active);
    const auto found = find_problem(policy);
    if (!found) return std::string("taken");
    EXPECT_EQ(found->path.front(), "active");
    return found->path.back() + ": " + found->error.what + "; " + found->error.remedy;
  };
  EXPECT_EQ(says([](auto& a) { a.light_every_h = -3; }),
            "light_every_h: active: light_every_h is -3; say 0 to 8760");
  EXPECT_EQ(says([](auto& a) { a.heavy_every_h = 8761; }),
            "heavy_every_h: active: heavy_every_h is 8761; say 0 to 8760");
  EXPECT_EQ(says([](auto& a) { a.idle_percent = -1; }),
            "idle_percent: active: idle_percent is -1; say 0 to 100");
  EXPECT_EQ(says([](auto& a) { a.idle_percent = 100000; }),
            "idle_percent: active: idle_percent is 100000; say 0 to 100");
  EXPECT_EQ(says([](auto& a) { a.light_every_h = a.idle_percent = 0; }), "taken");
  EXPECT_EQ(says([](auto& a) { a.heavy_every_h = 8760; a.idle_percent = 100; }), "taken");
}

TEST(check_policy, names_are_known_and_ends_end) {
  EXPECT_TRUE(check_policy(policy_of({})));
  const auto refused = [](auto&& change) {
    RemediationPolicy policy = policy_of({{{}, 1, "there", Escalation::log}});
    change(policy);
    return !check_policy(policy).has_value();
  };
  EXPECT_TRUE(refused([](auto& p) { p.initial = "nowhere"; }));
  EXPECT_TRUE(refused([](auto& p) { p.states["at"].next[0].go = "nowhere"; }));
  EXPECT_TRUE(refused([](auto& p) { p.states["at"].next[0].when = {"budget:nowhere"}; }));
  EXPECT_TRUE(refused([](auto& p) { p.states["at"].next[0].after_s = -1; }));
  EXPECT_TRUE(refused([](auto& p) { p.states["at"].action = "dance"; }));
  EXPECT_TRUE(refused([](auto& p) { p.states["at"].node = "happy"; }));
  EXPECT_TRUE(refused([](auto& p) { p.states["at"].final = true; }));
  EXPECT_TRUE(refused([](auto& p) { p.states["there"].final = false; }));
  EXPECT_TRUE(refused([](auto& p) { p.checks["a"].runs_in = {"mars"}; }));
  EXPECT_TRUE(refused([](auto& p) { p.checks["a"].needs = {"luck"}; }));
  EXPECT_TRUE(refused([](auto& p) { p.checks["a"].after = {"b"}; }));
  EXPECT_TRUE(refused([](auto& p) { p.faults.push_back({"", "none", false, false}); }));
  EXPECT_TRUE(refused([](auto& p) { p.faults.push_back({"x", "pray", false, false}); }));
  EXPECT_TRUE(refused([](auto& p) { p.limits.touch = "asleep"; }));
  EXPECT_TRUE(refused([](auto& p) { p.limits.brake_stops = {"time"}; }));
  EXPECT_TRUE(refused([](auto& p) { p.limits.rack_per_hour = -1; }));
}

TEST(check_policy, a_mistake_has_its_place_and_the_word_that_was_meant) {
  RemediationPolicy policy = policy_of({{{"drained", "!permited"}, 1, "there", Escalation::log}});
  const auto fact = find_problem(policy);
  ASSERT_TRUE(fact);
  EXPECT_EQ(fact->path, (std::vector<std::string>{"states", "at", "next", "0", "when", "1"}));
  EXPECT_EQ(fact->error.what, "state at: unknown fact permited");
  EXPECT_EQ(fact->error.remedy, "did you mean permitted?");
  policy.states["at"].next = {{{}, 1, "ther", Escalation::log}};
  const auto state = find_problem(policy);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->path, (std::vector<std::string>{"states", "at", "next", "0", "go"}));
  EXPECT_EQ(state->error.remedy, "did you mean there?");
}

TEST(find_unknown_check, names_are_ones_that_agents_have) {
  const std::vector<KnownCheck> known = {{"ecc", CheckKind::passive},
                                         {"gpu_work", CheckKind::active}};
  const auto wrong = [&](auto&& change, OtherChecks others = OtherChecks::refused) {
    RemediationPolicy policy = policy_of({});
    change(policy);
    const auto found = find_unknown_check(policy, known, others);
    return found ? found->error.what + "; " + found->error.remedy : std::string();
  };
  EXPECT_EQ(wrong([](auto& p) { p.active.light = {"gpu_work"}; }), "");
  EXPECT_EQ(wrong([](auto& p) { p.active.light = {"gpu_work", "gpu_wrok"}; }),
            "no check is called gpu_wrok; did you mean gpu_work?");
  EXPECT_EQ(wrong([](auto& p) { p.active.heavy = {"nonsense"}; }),
            "no check is called nonsense; known: gpu_work");
  EXPECT_EQ(wrong([](auto& p) { p.states["at"].active = {"ecc"}; }),
            "ecc is no active check; known: gpu_work");
  EXPECT_EQ(wrong([](auto& p) { p.states["at"].checks = {"gpu_work"}; }),
            "gpu_work is an active check; name it under `active`");
  EXPECT_EQ(wrong([](auto& p) { p.states["at"].checks = {"ec"}; }),
            "no check is called ec; did you mean ecc?");
  const auto foreign = [](auto& p) {
    p.checks["smi_probe"] = {};
    p.states["at"].checks = {"smi_probe"};
  };
  EXPECT_EQ(wrong(foreign), "no check is called smi_probe; known: ecc");
  EXPECT_EQ(wrong(foreign, OtherChecks::taken), "");
  EXPECT_FALSE(find_unknown_check(policy_of({{}}), {}));
}

TEST(check_plan, a_check_runs_where_it_may_and_says_why_it_does_not) {
  RemediationPolicy policy = policy_of({});
  auto& state = policy.states["at"];
  state.action = "run_checks";
  state.node = "drained";
  policy.checks["burn"].runs_in = {"in_service"};
  EXPECT_NE(plan_checks(policy, state, {}).waits.find("does not run on a node that is drained"),
            std::string::npos);
  policy.checks["burn"].if_unmet = UnmetReading::skip;
  EXPECT_TRUE(plan_checks(policy, state, {}).is_empty());
  policy.checks["burn"].runs_in = {"in_service", "drained"};
  EXPECT_EQ(plan_checks(policy, state, {}).run, std::vector<std::string>{"burn"});
  policy.checks["burn"].needs = {"!device_lost"};
  EXPECT_EQ(plan_checks(policy, state, {"device_lost"}).skipped.size(), 1u);
}

TEST(check_plan, no_verdict_is_what_the_policy_says_and_unknown_by_default) {
  RemediationPolicy policy = policy_of({});
  auto& state = policy.states["at"];
  state.action = "run_checks";
  EXPECT_TRUE(act_facts(policy, state, StepOutcome::timeout).contains("checks_unknown"));
  policy.checks["a"].if_error = CheckReading::pass;
  EXPECT_TRUE(act_facts(policy, state, StepOutcome::timeout).contains("checks_passed"));
  policy.checks["b"].if_error = CheckReading::fail;
  EXPECT_TRUE(act_facts(policy, state, StepOutcome::timeout).contains("checks_failed"));
  EXPECT_TRUE(act_facts(policy, state, StepOutcome::running).empty());
  EXPECT_TRUE(act_facts(policy, state, StepOutcome::refused).empty());
}

TEST(check_plan, a_circle_is_told_in_its_order) {
  RemediationPolicy policy = policy_of({});
  policy.checks["a"].after = {"b"};
  policy.checks["b"].after = {"c"};
  policy.checks["c"] = {};
  EXPECT_TRUE(circle_of_checks(policy).empty());
  policy.checks["c"].after = {"a"};
  EXPECT_EQ(circle_of_checks(policy), (std::vector<std::string>{"a", "b", "c"}));
}

}  // namespace
}  // namespace tundish::control
