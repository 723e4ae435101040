// What went wrong in the remediation of others, played against ours with the shipped policy and
// catalogue: further faults during a repair, and several who claim one node. The reports:
// docs/health-issues.md.
#include <gtest/gtest.h>

#include "control/fault/leave.hpp"
#include "control/fault/reconcile_incident.hpp"
#include "control/health/health_site_for_test.hpp"
#include "control/verify/policies_for_test.hpp"

namespace tundish::control {
namespace {

/// The faults are on n5, which is no tenant's: nothing is waited for but the repairs.
class Reports : public health::HealthSite {
 protected:
  static constexpr int sick = 5;

  void SetUp() override {
    HealthSite::SetUp();
    policy_ = verify::shipped_policy();
    const std::string xid = verify::text_of("xid.yaml"), sxid = verify::text_of("sxid.yaml");
    catalogue_ = load_xid_catalogue({xid, "xid.yaml"}, {sxid, "sxid.yaml"}).value();
  }
  void fails(int code, const std::string& device = "0000:3b:00") {
    now_ = now_ + seconds(1);
    KernelEvent event;
    event.kind = KernelEventKind::xid;
    event.code = code;
    event.device = device;
    event.text = "NVRM: Xid (PCI:" + device + "): " + std::to_string(code);
    writes(sick, event);
  }
  const Incident& incident() { return reg_.all<Incident>().begin()->second; }
  /// As the manager: until the policy waits for an act, which is returned.
  Action step() {
    now_ = now_ + seconds(1);
    hear(sick);
    Outcome out;
    for (int round = 0; round < 20; ++round) {
      out = reconcile_incident(view(), incident());
      if (out.operations.empty()) break;
      for (const auto& operation : out.operations) must(operation);
    }
    return out.actions.empty() ? Action{} : out.actions.front();
  }
  /// Until the reset of the first fault is asked for.
  Action to_reset() {
    fails(95);
    (void)step();
    must(permit_claims(incident().id));
    return step();
  }
  void ends(const Action& action, StepOutcome outcome = StepOutcome::done) {
    now_ = now_ + seconds(1);
    must(finish_act(incident().id, action.key, outcome, "", {}));
  }
  void checked(const Action& action, VerdictState state) {
    now_ = now_ + seconds(1);
    Verdict verdict;
    verdict.check = "gpu_present";
    verdict.state = state;
    const auto outcome = state == VerdictState::ok ? StepOutcome::done : StepOutcome::failed;
    must(record_incident_verdicts(incident().id, action.key, {verdict}, outcome));
  }
  std::vector<std::string> devices_of(const Action& action) {
    const auto* verb = std::get_if<VerbAct>(&action.act);
    return verb ? verb->call.devices : std::vector<std::string>{};
  }
};

TEST_F(Reports, a_second_fault_during_the_first_repair_gets_its_own) {
  const Action reset = to_reset();
  ASSERT_EQ(reset.name, "reset_gpus");
  fails(79, "0000:5e:00");
  EXPECT_EQ(reg_.all<Incident>().size(), 1u);
  ends(reset);
  const Action checks = step();
  ASSERT_EQ(incident().policy_state, "revalidate") << "never back without a look at both";
  checked(checks, VerdictState::fail);
  EXPECT_EQ(step().name, "reboot") << "what the second one needs, though the first was reset";
  EXPECT_EQ(incident().witnesses.size(), 2u);
}

TEST_F(Reports, a_fault_during_the_proof_makes_it_no_proof) {
  const Action reset = to_reset();
  ends(reset);
  const Action checks = step();
  ASSERT_EQ(incident().policy_state, "revalidate");
  fails(95, "0000:5e:00");
  checked(checks, VerdictState::ok);
  EXPECT_EQ(step().name, "reboot") << "the reset is spent";
  EXPECT_EQ(claims(), 1);
}

TEST_F(Reports, a_fault_in_the_last_moment_is_not_returned_with_the_node) {
  ends(to_reset());
  checked(step(), VerdictState::ok);
  const Action wipe = step();
  ASSERT_EQ(wipe.name, "wipe");
  ends(wipe);
  for (const auto& operation : reconcile_incident(view(), incident()).operations) must(operation);
  ASSERT_EQ(incident().policy_state, "return");
  const auto decided = reconcile_incident(view(), incident()).operations;
  fails(79, "0000:5e:00");
  for (const auto& operation : decided) {
    Txn txn(reg_, now_, "test");
    EXPECT_FALSE(operation->perform(txn)) << "decided before, done after";
    txn.undo();
  }
  EXPECT_EQ(step().name, "reboot");
  EXPECT_EQ(incident().state, IncidentState::open);
  EXPECT_EQ(claims(), 1);
}

TEST_F(Reports, what_it_waits_for_is_the_reason_of_now) {
  const Action reset = to_reset();
  const std::string doc = current_act(incident())->detail;
  must(refuse_act(incident().id, reset.key, "hold node:n5: fans"));
  must(refuse_act(incident().id, reset.key, "maintenance-7 is under way"));
  EXPECT_EQ(current_act(incident())->detail, doc + "; refused: maintenance-7 is under way");
  const std::int64_t written = reg_.revision();
  must(refuse_act(incident().id, reset.key, "maintenance-7 is under way"));
  EXPECT_EQ(reg_.revision(), written) << "told twice is told once";
  must(propose_act(incident().id, reset.key, "site:s is at advise for reset"));
  EXPECT_EQ(current_act(incident())->outcome, StepOutcome::proposed) << "a hold that is over";
  EXPECT_EQ(current_act(incident())->detail, doc + "; proposed: site:s is at advise for reset");
  must(refuse_act(incident().id, reset.key, "a person denied it"));
  EXPECT_EQ(current_act(incident())->detail, doc + "; refused: a person denied it");
}

TEST_F(Reports, what_a_check_says_of_the_whole_node_resets_every_gpu) {
  ObservedHardware seen;
  seen.gpus = {{0, "GPU-a", "1", "GPU", "0000:3b:00"}, {1, "GPU-b", "2", "GPU", "0000:5e:00"}};
  must(record_hardware(node(sick), seen));
  Verdict ecc;
  ecc.check = "ecc";
  ecc.state = VerdictState::fail;
  ecc.reason = "GPU memory is faulty";
  must(open_probe_incident(node(sick), {ecc}));
  (void)step();
  must(permit_claims(incident().id));
  const Action reset = step();
  ASSERT_EQ(reset.name, "reset_gpus");
  EXPECT_EQ(devices_of(reset), (std::vector<std::string>{"0000:3b:00", "0000:5e:00"}));
}

TEST_F(Reports, who_is_called_is_told_what_went_wrong_last) {
  Action act = to_reset();
  for (const char* next : {"reboot", "reboot", "power_cycle", "run_active"}) {
    ends(act, StepOutcome::failed);
    act = step();
    ASSERT_EQ(act.name, next);
  }
  std::string told;
  for (const auto& entry : incident().timeline) {
    if (entry.what == "escalated: ticket") told = entry.detail;
  }
  const std::string wanted = "from choose to last_look; power_cycle: the node is powered off";
  EXPECT_TRUE(told.starts_with(wanted)) << told;
}

TEST_F(Reports, the_vendor_is_told_what_was_tried_and_the_step_is_one) {
  const auto told = [&] {
    std::vector<std::string> out;
    for (const auto& entry : incident().timeline) {
      if (entry.what == "rma") out.push_back(entry.detail);
    }
    return out.size() == 1 ? out.front() : std::to_string(out.size()) + " steps";
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  Action act = to_reset();
  for (int i = 0; i < 4; ++i) {
    ends(act, StepOutcome::failed);
    act = step();
  }
  ASSERT_EQ(incident().policy_state, "last_look");
  checked(act, VerdictState::fail);
  (void)step();
  ASSERT_EQ(incident().state, IncidentState::rma);
  EXPECT_TRUE(has(told(), "GPU 0000:3b:00 of serial ")) << told();
  EXPECT_TRUE(has(told(), ": repaired in vain by reset, reboot, power_cycle; the claim stays"))
      << told();
}

TEST_F(Reports, a_fault_that_no_repair_helps_against_says_so) {
  fails(64);
  (void)step();
  must(permit_claims(incident().id));
  (void)step();
  ASSERT_EQ(incident().state, IncidentState::rma);
  int steps = 0;
  for (const auto& entry : incident().timeline) {
    if (entry.what != "rma") continue;
    ++steps;
    EXPECT_NE(entry.detail.find("no repair of ours helps against xid 64"), std::string::npos)
        << entry.detail;
  }
  EXPECT_EQ(steps, 1);
}

TEST_F(Reports, without_one_the_node_is_returned) {
  ends(to_reset());
  checked(step(), VerdictState::ok);
  ends(step());
  (void)step();
  EXPECT_EQ(incident().state, IncidentState::resolved);
  EXPECT_EQ(claims(), 0);
}

TEST_F(Reports, a_storm_does_not_crowd_out_another_fault) {
  for (int i = 0; i < 200; ++i) fails(95);
  fails(95, "0000:5e:00");
  fails(62, "0000:9a:00");
  for (int i = 0; i < 200; ++i) fails(95);
  (void)step();
  must(permit_claims(incident().id));
  EXPECT_EQ(devices_of(step()),
            (std::vector<std::string>{"0000:3b:00", "0000:5e:00", "0000:9a:00"}));
  EXPECT_LE(incident().witnesses.size(), 50u);
  EXPECT_EQ(static_cast<std::int64_t>(incident().witnesses.size()) + incident().witnesses_dropped,
            402);
}

TEST_F(Reports, a_code_that_follows_hides_no_other_code) {
  for (const auto& codes : {std::vector<int>{62, 45, 45}, std::vector<int>{45, 45, 62}}) {
    const std::size_t before = reg_.all<Incident>().size();
    for (const int code : codes) fails(code);
    ASSERT_EQ(reg_.all<Incident>().size(), before + 1);
    ASSERT_TRUE(open());
    EXPECT_EQ(open()->fault, "xid 62");
    EXPECT_EQ(open()->action, "reset");
    EXPECT_TRUE(open()->device_lost);
    must(override_claims(node(sick), "next"));
  }
}

TEST_F(Reports, a_writer_ends_its_own_claim_and_nobody_elses) {
  must(take_claim(node(sick), "user:ann", "fan is loud"));
  must(take_claim(node(sick), "user:bob", "fan is loud"));
  must(take_claim(node(sick), "user:bob", "disk"));
  fails(95);
  EXPECT_EQ(claims(), 4);
  must(take_claim(node(sick), "user:bob", "disk"));
  EXPECT_EQ(claims(), 4) << "told twice is one";
  for (const auto& [id, claim] : reg_.all<Claim>()) {
    if (claim.holder != "user:bob" || claim.reason != "disk") continue;
    must(release_claim(id, ClaimState::released));
    break;
  }
  std::vector<std::string> left;
  for (const auto& id : reg_.claims_on(node(sick))) {
    left.push_back(reg_.find(id)->holder + ": " + reg_.find(id)->reason);
  }
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"incident: xid 95", "user:ann: fan is loud",
                                            "user:bob: fan is loud"}));
  must(enter_policy_state(incident().id, "", "return", "return_node", "", TimeOwner{}));
  now_ = now_ + seconds(1);
  must(return_node(incident().id));
  EXPECT_EQ(claims(), 2) << "the incident's own is gone, those of people stay";
}

TEST_F(Reports, of_two_who_go_on_from_one_state_the_second_is_refused) {
  fails(95);
  const auto first = enter_policy_state(incident().id, "", "permit", "evacuate", "", TimeOwner{});
  const auto second = enter_policy_state(incident().id, "", "isolate", "", "", TimeOwner{});
  must(first);
  Txn txn(reg_, now_, "test");
  const auto lost = second->perform(txn);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::conflict);
  EXPECT_TRUE(txn.changes().empty());
  EXPECT_EQ(incident().policy_state, "permit");
}

TEST_F(Reports, a_node_is_out_and_has_its_reason_in_one_write) {
  Witness witness;
  witness.source = "kmsg";
  witness.boot_id = "boot";
  witness.seq = 1000;
  witness.event.kind = KernelEventKind::xid;
  witness.event.code = 95;
  Txn txn(reg_, now_, "test");
  ASSERT_TRUE(record_witnesses(node(sick), {witness}, catalogue_)->perform(txn));
  int whole = 0;
  for (const auto& change : txn.changes()) {
    const auto* claim = dynamic_cast<const Holder<Claim>*>(change.body.get());
    if (!claim) continue;
    EXPECT_EQ(claim->value.state, ClaimState::active);
    EXPECT_EQ(claim->value.reason, "xid 95");
    EXPECT_TRUE(reg_.find(claim->value.incident));
    ++whole;
  }
  EXPECT_EQ(whole, 1);
}

}  // namespace
}  // namespace tundish::control
