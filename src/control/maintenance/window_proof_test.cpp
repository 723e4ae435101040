// A window ends with the proof of what was seen in it, not with the checks of any other day.
#include "control/health/health_site_for_test.hpp"
#include "control/maintenance/reconcile_maintenance.hpp"
#include "model/ops/maintenance_ops.hpp"
#include "model/ops/node_report_ops.hpp"

namespace tundish::control {
namespace {

using V = VerdictState;

Verdict said(const std::string& check, V state) {
  Verdict out;
  out.check = check;
  out.state = state;
  out.reason = "because";
  return out;
}

class WindowProof : public health::HealthSite {
 protected:
  void SetUp() override {
    HealthSite::SetUp();
    must(create_maintenance({"node:n5", "new cable", now_, now_ + hours(1)}));
    id_ = reg_.all<Maintenance>().begin()->first;
    must(advance_maintenance(id_, MaintenanceState::planned, MaintenanceState::near));
    must(advance_maintenance(id_, MaintenanceState::near, MaintenanceState::active));
  }
  const Maintenance& window() { return *reg_.find(id_); }
  /// A tenant says that a node is slow, and it stands out in its job.
  void report() {
    ReportDraft draft;
    draft.tenant = reg_.find_named<Tenant>("acme")->id;
    draft.node = node(5);
    draft.job = "17";
    draft.text = "slow";
    draft.by = "alice";
    must(open_report(draft));
    report_ = reg_.all<NodeReport>().begin()->first;
    must(swap_reported(report_, {said("job_peers", V::fail)}, "it is taken out: 345 MHz"));
    must(record_in_window(id_, open()->id));
    must(end_maintenance(id_));
  }
  std::vector<std::string> asked() {
    const Outcome out = reconcile_maintenance(view(), window());
    if (out.actions.empty()) return {};
    return std::get<VerbAct>(out.actions.front().act).call.run_checks->checks;
  }
  void answer(std::vector<Verdict> verdicts) {
    must(record_maintenance_checks(id_, node(5), std::move(verdicts)));
  }
  MaintenanceNodeState state() { return find_node(window(), node(5))->state; }

  MaintenanceId id_;
  NodeReportId report_;
};

TEST_F(WindowProof, a_fault_that_was_reported_is_measured_again_or_not_over) {
  report();
  EXPECT_EQ(asked(), (std::vector<std::string>{"serve", "gpu_clocks", "gpu_throttle"}));
  answer({said("ecc", V::ok)});
  EXPECT_EQ(count_open(), 1) << "what every node passes says nothing of it";
  EXPECT_NE(state(), MaintenanceNodeState::proved);
  for (int i = 0; i < 3; ++i) {
    answer({said("ecc", V::ok), said("gpu_clocks", V::ok), said("gpu_throttle", V::warn)});
  }
  EXPECT_EQ(state(), MaintenanceNodeState::faulty) << "it is handed to the policy";
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(reg_.find(report_)->state, ReportState::swapped);
}

TEST_F(WindowProof, measured_to_be_over_it_is_closed_and_the_reporter_is_told_the_truth) {
  report();
  answer({said("ecc", V::ok), said("gpu_clocks", V::ok), said("gpu_throttle", V::ok)});
  EXPECT_EQ(state(), MaintenanceNodeState::proved);
  EXPECT_EQ(count_open(), 0);
  const NodeReport& told = *reg_.find(report_);
  EXPECT_EQ(told.state, ReportState::sound);
  EXPECT_NE(told.conclusion.find("not swapped"), std::string::npos) << told.conclusion;
}

TEST_F(WindowProof, what_a_part_shows_by_itself_is_not_proved_away) {
  says(5, "disk_errors", Resource::disk, V::fail, Locality::device_local, "nvme0n1");
  look();
  EXPECT_EQ(count_open(), 0) << "in its window a node is neither paged for nor acted on";
  must(end_maintenance(id_));
  EXPECT_EQ(asked(), (std::vector<std::string>{"serve", "disk_errors"}));
  for (int i = 0; i < 3; ++i) answer({said("ecc", V::ok), said("disk_errors", V::fail)});
  EXPECT_EQ(state(), MaintenanceNodeState::faulty);
  EXPECT_EQ(count_open(), 1);
}

TEST_F(WindowProof, a_node_that_is_wet_is_not_proved_by_what_its_agent_sees) {
  leaks(5, V::fail);
  look();
  must(end_maintenance(id_));
  answer({said("ecc", V::ok)});
  EXPECT_NE(state(), MaintenanceNodeState::proved);
  EXPECT_NE(find_node(window(), node(5))->reason.find("leak"), std::string::npos);
  for (int i = 0; i < 2; ++i) answer({said("ecc", V::ok)});
  EXPECT_EQ(state(), MaintenanceNodeState::faulty);
  EXPECT_EQ(window().state, MaintenanceState::ended);
  look();
  ASSERT_TRUE(open()) << "it has its incident, and with it its claim";
  EXPECT_EQ(open()->fault, "leak");
}

TEST_F(WindowProof, a_node_that_dried_is_proved) {
  leaks(5, V::fail);
  look();
  must(end_maintenance(id_));
  answer({said("ecc", V::ok)});
  leaks(5, V::ok);
  answer({said("ecc", V::ok)});
  EXPECT_EQ(state(), MaintenanceNodeState::proved);
}

// As in a simulation: the node was switched off for a leak, and the window was never over.
TEST_F(WindowProof, a_node_that_the_vendor_has_is_not_waited_for) {
  must(end_maintenance(id_));
  EXPECT_FALSE(reconcile_maintenance(view(), window()).actions.empty());
  must(open_probe_incident(node(5), {said("ecc", V::fail)}));
  must(open_rma(open()->id, "spent"));
  const Outcome out = reconcile_maintenance(view(), window());
  EXPECT_TRUE(out.actions.empty()) << "it may be off, and never answer";
  for (const auto& operation : out.operations) must(operation);
  EXPECT_EQ(window().state, MaintenanceState::ended);
  EXPECT_EQ(state(), MaintenanceNodeState::faulty);
  EXPECT_EQ(claims(), 1) << "that of the vendor";
}

TEST_F(WindowProof, an_incident_of_a_report_names_it) {
  report();
  bool named = false;
  for (const auto& entry : open()->timeline) {
    named = named || (entry.what == "reported" && entry.detail.find("alice") != std::string::npos);
    EXPECT_EQ(entry.detail.find("revalidation"), std::string::npos) << "none ran";
  }
  EXPECT_TRUE(named);
}

}  // namespace
}  // namespace tundish::control
