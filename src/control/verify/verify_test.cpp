// The default policy is proved, and stories are told in plain words.
#include "codec/limits.hpp"
#include "control/verify/equivalent.hpp"
#include "control/verify/policies_for_test.hpp"
#include "control/verify/properties.hpp"
#include "control/verify/threshold_rows.hpp"

namespace tundish::control::verify {
namespace {

Verification verified(const RemediationPolicy& policy, std::vector<ThresholdRow> rows = {}) {
  const auto found = verify({policy, shipped_faults(), std::move(rows)});
  EXPECT_TRUE(found) << (found ? "" : found.error().message());
  return found ? *found : Verification{};
}

const Refutation* find(const Verification& found, const std::string& property) {
  for (const auto& refutation : found.refuted) {
    if (refutation.property == property) return &refutation;
  }
  return nullptr;
}

TEST(verify, the_default_policy_is_proved) {
  const auto found = verified(shipped_policy());
  EXPECT_TRUE(found.is_proved()) << render(found);
  EXPECT_EQ(found.proved.size(), 11u);
  EXPECT_GT(found.states, 10000);
  EXPECT_GE(found.assumptions.size(), 5u);
  EXPECT_NE(render(found).find("proved: 11 properties"), std::string::npos);
}

TEST(verify, there_are_eleven_properties_with_a_sentence_each) {
  ASSERT_EQ(properties().size(), 11u);
  for (const auto& property : properties()) EXPECT_TRUE(property.statement.ends_with("."));
}

TEST(verify, a_story_is_the_shortest_one_and_can_be_read) {
  for (const auto& bad : known_bad()) {
    if (bad.name != "soperator-a") continue;
    const auto found = verified(bad.policy);
    const Refutation* story = find(found, "check_runnable");
    ASSERT_TRUE(story);
    ASSERT_EQ(story->story.size(), 3u);  // the fault, the drain, the check that cannot run
    EXPECT_EQ(story->sticks_in, "drained");
    const std::string text = render(found);
    EXPECT_NE(text.find("gpu_health_check on a node of a tenant -> drain"), std::string::npos);
    EXPECT_NE(text.find("gpu_health_check does not run on a node that is drained"),
              std::string::npos);
  }
}

TEST(verify, a_fault_of_the_catalogue_that_nothing_handles_is_named) {
  RemediationPolicy policy = shipped_policy();
  auto& edges = policy.states.at("choose").next;
  std::erase_if(edges, [](const PolicyEdge& edge) { return edge.go == "rma"; });
  const Refutation* story = nullptr;
  const auto found = verified(policy);
  ASSERT_TRUE(story = find(found, "catalogue")) << render(found);
  EXPECT_NE(story->verdict.find("asks for rma"), std::string::npos);
}

TEST(verify, what_is_wet_and_did_not_go_off_is_not_started_again) {
  RemediationPolicy policy = shipped_policy();
  std::erase_if(policy.states.at("choose").next, [](const PolicyEdge& edge) {
    return edge.go == "rma" && edge.when == std::vector<std::string>{"wants_power_off"};
  });
  const auto found = verified(policy);
  const Refutation* story = find(found, "catalogue");
  ASSERT_TRUE(story) << render(found);
  EXPECT_NE(story->verdict.find("leak asks for power_off"), std::string::npos) << story->verdict;
}

TEST(verify, a_guard_that_waits_for_an_unknown_fault_is_named) {
  RemediationPolicy policy = shipped_policy();
  auto& edges = policy.states.at("choose").next;
  edges.insert(edges.begin(), {{"fault:xid 9999"}, 0, "rma", Escalation::log});
  const auto found = verified(policy);
  ASSERT_TRUE(find(found, "catalogue"));
  EXPECT_NE(find(found, "catalogue")->verdict.find("fault:xid 9999"), std::string::npos);
}

TEST(verify, thresholds_are_cut_by_intervals) {
  const auto row = [](LimitSide side, std::int64_t limit) {
    return ThresholdRow{"hbm", "H200", {side, limit, 0, 4800, "GB/s"}};
  };
  const RemediationPolicy small = known_bad().front().fixed;
  for (const auto& good : {row(LimitSide::below, 2333), row(LimitSide::above, 100)}) {
    EXPECT_TRUE(verified(small, {good}).is_proved());
  }
  // Never undercut; a thousandth of what was meant; above the nameplate; never exceeded.
  for (const auto& bad : {row(LimitSide::below, 0), row(LimitSide::below, 2),
                          row(LimitSide::below, 4801), row(LimitSide::above, 4800)}) {
    EXPECT_EQ(refuted_names(verified(small, {bad})),
              std::vector<std::string>{"threshold"})
        << bad.threshold.limit;
  }
}

TEST(verify, the_limits_of_the_catalogue_are_looked_at) {
  const std::string plates_text = text_of("nameplates.yaml");
  const std::string limits_text = text_of("thresholds.yaml");
  const auto plates = load_nameplates(plates_text, "nameplates.yaml");
  ASSERT_TRUE(plates);
  auto limits = load_thresholds(limits_text, "thresholds.yaml", *plates);
  ASSERT_TRUE(limits);
  const auto rows = threshold_rows(*limits, *plates);
  ASSERT_EQ(rows.size(), limits->limits.size());
  const RemediationPolicy small = known_bad().front().fixed;
  const auto whole = verified(small, rows);
  EXPECT_TRUE(whole.is_proved()) << render(whole);
  EXPECT_EQ(whole.limits, static_cast<std::int64_t>(rows.size()));
  EXPECT_GT(whole.codes, 100);
  int rates = 0;
  for (auto& limit : limits->limits) {
    if (limit.name != "hbm" || limit.gpu_model.empty()) continue;
    const std::int64_t meant = limit.value;
    limit.value = meant / 1000;  // the published slip
    const auto slip = verified(small, threshold_rows(*limits, *plates));
    EXPECT_EQ(refuted_names(slip), std::vector<std::string>{"threshold"}) << limit.gpu_model;
    limit.value = meant;
    ++rates;
  }
  EXPECT_GE(rates, 5);
  Limit azure = limits->limits.front();  // element 3 of a query with 3 columns
  azure.side = LimitBound::above;
  azure.value = 512;
  azure.columns = {"a", "b", "c"};
  azure.column = 3;
  EXPECT_EQ(refuted_names(verified(small, threshold_rows({"", {azure}}, *plates))),
            std::vector<std::string>{"threshold"});
}

TEST(verify, people_are_in_the_search) {
  const RemediationPolicy policy = shipped_policy();
  const auto space = Space::build({policy, shipped_faults(), {}});
  ASSERT_TRUE(space);
  std::map<MoveKind, int> moves;
  int held_acts = 0;
  for (std::size_t i = 0; i < space->configs().size(); ++i) {
    const Config& at = space->configs()[i];
    held_acts += space->is_held(at) ? 1 : 0;
    for (const Edge& edge : space->edges_of(i)) {
      ++moves[edge.move->kind];
      // Nothing of an act is done under a hold.
      if (!space->is_held(at) || edge.move->kind != MoveKind::step) continue;
      EXPECT_NE(edge.move->act, ActSeen::done);
      EXPECT_NE(edge.move->act, ActSeen::failed);
    }
  }
  EXPECT_GT(held_acts, 100);
  for (const MoveKind kind : {MoveKind::taken_back, MoveKind::release, MoveKind::again}) {
    EXPECT_GT(moves[kind], 100) << static_cast<int>(kind);
  }
}

TEST(verify, a_repair_that_a_hold_kept_back_is_not_left) {
  RemediationPolicy policy = shipped_policy();
  auto& edges = policy.states.at("reboot").next;
  edges.insert(edges.begin(), {{"new_witness"}, 0, "choose", Escalation::log});
  const auto found = verified(policy);
  const Refutation* story = find(found, "deadline");
  ASSERT_TRUE(story) << render(found);
  EXPECT_NE(story->verdict.find("left under a hold"), std::string::npos) << story->verdict;
  EXPECT_NE(render(found).find("a person sets a hold -> reboot"), std::string::npos)
      << render(found);
}

TEST(verify, a_persons_claim_is_searched_beside_the_policy) {
  RemediationPolicy policy = known_bad().front().fixed;
  ASSERT_TRUE(verified(policy).is_proved());
  for (auto& [name, state] : policy.states) {
    if (state.action == "return_node") state.releases = Releases::every;
  }
  EXPECT_EQ(refuted_names(verified(policy)), std::vector<std::string>{"claims"});
  RemediationPolicy slot = known_bad().front().fixed;
  slot.claims = ClaimKeeping::slot;
  const auto found = verified(slot);
  ASSERT_EQ(refuted_names(found), std::vector<std::string>{"claims"});
  const auto& story = found.refuted[0].story;
  EXPECT_EQ(story.at(0).event, "a person drains the node and claims it");
  EXPECT_EQ(story.at(1).event, "the incident writes its claim over the person's");
  EXPECT_TRUE(story.at(2).state.empty());
}

TEST(verify, what_cannot_be_read_is_an_error_and_no_verdict) {
  RemediationPolicy policy = shipped_policy();
  policy.states.at("reset").next.front().when = {"moon_is_full"};
  const auto found = verify({policy, shipped_faults(), {}});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message().find("unknown fact moon_is_full"), std::string::npos);
  RemediationPolicy large = shipped_policy();
  large.states.at("reset").budget = 1000;
  EXPECT_FALSE(verify({large, shipped_faults(), {}}));
  EXPECT_FALSE(verify({shipped_policy(), {}, {}})) << "no fault is known: nothing can be proved";
}

TEST(verify, a_policy_is_bisimilar_to_itself_and_to_dead_differences_only) {
  const RemediationPolicy policy = shipped_policy();
  const VerifyInput input{policy, shipped_faults(), {}};
  const auto same = find_difference(input, policy);
  ASSERT_TRUE(same);
  EXPECT_FALSE(*same);
  RemediationPolicy dead = policy;  // behind an edge that always opens
  dead.states.at("choose").next.push_back({{}, 0, "rma", Escalation::log});
  const auto still = find_difference(input, dead);
  ASSERT_TRUE(still);
  EXPECT_FALSE(*still);
  RemediationPolicy other = policy;
  other.states.at("reset").next.front().go = "wipe";
  const auto differs = find_difference(input, other);
  ASSERT_TRUE(differs);
  ASSERT_TRUE(*differs);
  EXPECT_NE((*differs)->find("in reset"), std::string::npos);
}

}  // namespace
}  // namespace tundish::control::verify
