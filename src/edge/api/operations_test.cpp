// Reports of tenants, evidence for vendors, the shift report.
#include "edge/api/api_fixture_test.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_report_ops.hpp"
#include "model/ops/rma_ops.hpp"

namespace tundish::edge {
namespace {

class OperationsTest : public ApiTest {
 protected:
  const Node& node(const std::string& name) { return *ledger_.view().find_named<Node>(name); }
  std::string member_of(const std::string& cluster) {
    const Cluster* found = ledger_.view().find_named<Cluster>(cluster);
    for (const auto& member : ledger_.view().find(found->status.allocation)->status.nodes) {
      if (member.role == MemberRole::member) return ledger_.view().find(member.node)->meta.name;
    }
    return "";
  }
  static std::string report(const std::string& name, const std::string& job = "7") {
    NodeReportRequest request;
    request.node = name;
    request.job = job;
    request.text = "slow since noon";
    return render_json(request);
  }
  IncidentId fault(const std::string& name, Witness one) {
    one.id = name + "-w" + std::to_string(++seq_);
    one.source = "kmsg";
    one.boot_id = "boot";
    one.seq = seq_;
    one.observed_at = scheduler_.now();
    EXPECT_TRUE(ledger_.perform(*record_witnesses(node(name).id, {one}, catalogue_), "agent", ""));
    settle();
    return *ledger_.view().incidents_on(node(name).id).begin();
  }
  static Witness lost_gpu(const std::string& text) {
    Witness one;
    one.event.kind = KernelEventKind::fallen_off_bus;
    one.event.device = "0000:3b:00";
    one.event.text = text;
    return one;
  }
  const NodeReport& only() { return ledger_.view().all<NodeReport>().begin()->second; }
  int seq_ = 0;
};

TEST_F(OperationsTest, a_tenant_reports_its_own_nodes_and_no_others) {
  ASSERT_EQ(order("train", 1).status, 201);
  const std::string own = member_of("train");
  const std::string other = own == "gpu1" ? "gpu2" : "gpu1";
  EXPECT_EQ(call({"POST", "/v1/node_reports", report(other), "a-member"}).status, 404);
  EXPECT_EQ(call({"POST", "/v1/node_reports", report(own), "b-admin"}).status, 404);
  EXPECT_EQ(call({"POST", "/v1/node_reports", report(own), "a-viewer"}).status, 403);
  EXPECT_EQ(call({"POST", "/v1/node_reports", report(other), "root"}).status, 409);
  EXPECT_EQ(call({"POST", "/v1/node_reports", report("", "7"), "root"}).status, 422);
  EXPECT_EQ(call({"POST", "/v1/node_reports", report(own, ""), "a-member"}).status, 422);
  EXPECT_TRUE(ledger_.view().all<NodeReport>().empty());
  const auto made = call({"POST", "/v1/node_reports", report(own), "a-member"});
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(field(made.body, "state"), "testing");
  EXPECT_EQ(field(made.body, "by"), "a/a-member");
  EXPECT_EQ(length(call({"GET", "/v1/node_reports", "", "a-viewer"}).body), 1U);
  EXPECT_EQ(length(call({"GET", "/v1/node_reports", "", "b-admin"}).body), 0U);
}

TEST_F(OperationsTest, reports_are_limited_per_tenant) {
  ASSERT_EQ(order("train", 1).status, 201);
  const std::string own = member_of("train");
  for (int i = 0; i < most_reports_per_hour; ++i) {
    ASSERT_EQ(call({"POST", "/v1/node_reports", report(own), "a-member"}).status, 201) << i;
    EXPECT_EQ(call({"POST", "/v1/node_reports", report(own), "a-member"}).status, 409)
        << "it is being tested";
    scheduler_.advance(minutes(2));  // nobody answers: it ends as unknown
  }
  const auto refused = call({"POST", "/v1/node_reports", report(own), "a-member"});
  EXPECT_EQ(field(refused.body, "code"), "exhausted");
  EXPECT_GT(std::stoll(field(refused.body, "retry_after_ms")), 0);
  scheduler_.advance(hours(1));
  EXPECT_EQ(call({"POST", "/v1/node_reports", report(own), "a-member"}).status, 201);
}

TEST_F(OperationsTest, without_an_answer_nothing_is_known_and_nothing_is_done) {
  ASSERT_EQ(order("train", 1).status, 201);
  ASSERT_EQ(call({"POST", "/v1/node_reports", report(member_of("train")), "a-member"}).status, 201);
  scheduler_.advance(minutes(2));
  EXPECT_EQ(only().state, ReportState::unknown);
  EXPECT_TRUE(ledger_.view().all<Incident>().empty());
  EXPECT_TRUE(ledger_.view().all<Claim>().empty());
}

TEST_F(OperationsTest, a_node_whose_check_fails_is_taken_out_and_the_tenant_reads_no_serial) {
  ASSERT_EQ(order("train", 1).status, 201);
  const std::string own = member_of("train");
  ASSERT_EQ(call({"POST", "/v1/node_reports", report(own), "a-member"}).status, 201);
  Verdict failed;
  failed.check = "gpu_identity";
  failed.state = VerdictState::fail;
  failed.reason = "GPU SERIAL-SECRET is gone";
  failed.evidence = "SERIAL-SECRET";
  ASSERT_TRUE(ledger_.perform(*record_report_checks(only().id, {failed}), "controller", ""));
  scheduler_.advance(minutes(2));
  EXPECT_EQ(only().state, ReportState::swapped);
  EXPECT_EQ(ledger_.view().incidents_on(node(own).id).size(), 1U);
  EXPECT_FALSE(only().incident.empty());
  const std::string told = call({"GET", "/v1/node_reports", "", "a-member"}).body;
  EXPECT_EQ(told.find("SERIAL-SECRET"), std::string::npos) << told;
  EXPECT_NE(told.find("check gpu_identity failed"), std::string::npos) << told;
  EXPECT_NE(call({"GET", "/v1/node_reports"}).body.find("SERIAL-SECRET"), std::string::npos);
}

TEST_F(OperationsTest, a_sound_node_stays_and_the_tenant_learns_what_was_looked_at) {
  ASSERT_EQ(order("train", 1).status, 201);
  ASSERT_EQ(call({"POST", "/v1/node_reports", report(member_of("train")), "a-member"}).status, 201);
  Verdict fine;
  fine.check = "gpu_count";
  fine.state = VerdictState::ok;
  ASSERT_TRUE(ledger_.perform(*record_report_checks(only().id, {fine}), "controller", ""));
  scheduler_.advance(minutes(2));
  EXPECT_EQ(only().state, ReportState::sound);
  EXPECT_NE(only().conclusion.find("gpu_count"), std::string::npos);
  EXPECT_TRUE(ledger_.view().all<Incident>().empty());
}

TEST_F(OperationsTest, a_bundle_has_serials_and_nothing_of_a_tenant) {
  ASSERT_EQ(order("train", 1).status, 201);
  const std::string own = member_of("train");
  Node known = node(own);
  known.status.accepted_gpus.push_back({3, "GPU-1", "GPUSERIAL-3", "H100", "0000:3b:00"});
  put(known);
  Witness line = lost_gpu(
      "NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=secret-model, GPU has fallen off the bus.");
  line.event.pid = 4711;
  line.event.process = "secret-model";
  const IncidentId id = fault(own, line);
  ASSERT_TRUE(ledger_.perform(*record_job_hit(id, {"4712", "train-n1", "", 0, {}}), "c", ""));
  ASSERT_TRUE(
      ledger_.perform(*note_incident(id, "note by ann", "alice of acme is angry"), "u", ""));
  const auto told =
      call({"POST", "/v1/incidents/" + id.str() + "/bundle", R"({"reason":"case 12"})", "oncall"});
  ASSERT_EQ(told.status, 200) << told.body;
  const std::string text = field(told.body, "text");
  for (const char* there : {"GPUSERIAL-3", "SERIAL-", "GPU has fallen off the bus", "0000:3b:00"}) {
    EXPECT_NE(text.find(there), std::string::npos) << there;
  }
  for (const char* secret :
       {"secret-model", "4711", "4712", "train", "alice", "acme", "allocation"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret << "\n" << text;
  }
  EXPECT_EQ(field(told.body, "sha256"), hash(text));
  bool kept = false;
  for (const auto& entry : store_.entries) {
    kept = kept || (entry.operation == "export_bundle" &&
                    entry.reason.find(hash(text)) != std::string::npos);
  }
  EXPECT_TRUE(kept) << "the history keeps what was handed out";
  EXPECT_EQ(call({"POST", "/v1/incidents/" + id.str() + "/bundle", "", "a-admin"}).status, 403);
}

TEST_F(OperationsTest, a_process_name_that_looks_like_a_fault_is_cut_from_the_bundle) {
  Witness line = lost_gpu("NVRM: Xid (PCI:0000:3b:00): 13, pid=9, name=b): 79, x, Ch 1");
  line.event.process = "b): 79";
  const IncidentId id = fault("gpu1", line);
  const std::string text =
      field(call({"POST", "/v1/incidents/" + id.str() + "/bundle", "", "oncall"}).body, "text");
  EXPECT_EQ(text.find("79, x"), std::string::npos) << text;
}

TEST_F(OperationsTest, an_rma_is_recorded_with_its_serials_and_closed_with_the_incident) {
  const IncidentId id = fault("gpu1", lost_gpu("NVRM: GPU has fallen off the bus."));
  ASSERT_TRUE(ledger_.perform(*open_rma(id, "spent"), "controller", ""));
  settle();
  const Rma* rma = find_rma(ledger_.view(), id);
  ASSERT_NE(rma, nullptr);
  EXPECT_EQ(rma->state, RmaState::open);
  EXPECT_EQ(rma->parts.back().serial, "SERIAL-gpu1");
  ASSERT_EQ(status({"POST", "/v1/incidents/" + id.str() + "/bundle", "", "oncall"}), 200);
  EXPECT_FALSE(find_rma(ledger_.view(), id)->bundle_sha256.empty());
  ASSERT_EQ(status({"POST", "/v1/incidents/" + id.str() + "/close", "", "oncall"}), 200);
  EXPECT_EQ(find_rma(ledger_.view(), id)->state, RmaState::closed);
  EXPECT_EQ(length(call({"GET", "/v1/rmas", "", "a-admin"}).body), 0U);
}

TEST_F(OperationsTest, a_wet_node_is_no_gpu_and_whether_it_is_off_is_said) {
  RemediationPolicy policy = waiting_policy();
  policy.states["off"].action = "power_off";
  manager_.set_policy(policy);
  Incident wet = *ledger_.view().find(fault("gpu1", lost_gpu("NVRM: fallen off the bus")));
  wet.fault = "leak";
  wet.device = "1/ColdPlate";
  wet.blamed = Blame{};
  wet.blamed->part = Resource::cooling;
  TimelineEntry off;
  off.what = "off";
  off.key = "act/off";
  off.outcome = StepOutcome::timeout;
  off.detail = "the BMC is not seen to be off";
  wet.timeline.push_back(off);
  put(wet);
  ASSERT_TRUE(ledger_.perform(*open_rma(wet.id, "spent"), "controller", ""));
  settle();
  const Rma* rma = find_rma(ledger_.view(), wet.id);
  ASSERT_NE(rma, nullptr);
  EXPECT_EQ(rma->parts.front().what, "cooling");
  const auto doubt = call({"GET", "/v1/nodes/gpu1/explain"}).body;
  EXPECT_NE(doubt.find("switch it off by hand before anything else: it is not known to be off (the "
                       "BMC is not seen to be off)"),
            std::string::npos)
      << doubt;
  EXPECT_NE(doubt.find("replace the cooling 1/ColdPlate"), std::string::npos) << doubt;
  wet = *ledger_.view().find(wet.id);
  for (auto& entry : wet.timeline) {
    if (entry.key == off.key) entry.outcome = StepOutcome::done;
  }
  wet.boot_id_at_entry = node("gpu1").status.boot_id;
  put(wet);
  scheduler_.advance(minutes(10));  // its agent is silent
  const auto told = call({"GET", "/v1/nodes/gpu1/explain"}).body;
  EXPECT_EQ(told.find("by hand"), std::string::npos) << told;
  EXPECT_NE(told.find("switched it off at"), std::string::npos) << told;
  EXPECT_NE(told.find("switch it on when"), std::string::npos) << told;
  wet.boot_id_at_entry = "another";
  put(wet);
  const auto back = call({"GET", "/v1/nodes/gpu1/explain"}).body;
  EXPECT_EQ(back.find("switched it off"), std::string::npos) << back;
}

TEST_F(OperationsTest, a_shift_report_tells_what_happened_and_what_waits) {
  ASSERT_EQ(status({"POST", "/v1/nodes/gpu2/drain", R"({"reason":"fan"})", "oncall"}), 200);
  const IncidentId id = fault("gpu1", lost_gpu("NVRM: GPU has fallen off the bus."));
  ASSERT_TRUE(ledger_.perform(*open_rma(id, "spent"), "controller", ""));
  settle();
  const auto told = call({"GET", "/v1/shift-report", "", "oncall", {}, {{"since_s", "43200"}}});
  ASSERT_EQ(told.status, 200) << told.body;
  ShiftReport report;
  ASSERT_TRUE(parse_json(told.body, report));
  ASSERT_EQ(report.incidents.size(), 1U);
  EXPECT_EQ(report.claims.size(), 2U);
  bool vendor = false;
  for (const auto& line : report.waiting) vendor = vendor || line.by == "vendor";
  EXPECT_TRUE(vendor);
  bool drained = false;
  for (const auto& count : report.done) {
    drained = drained || (count.actor == "user:oncall" && count.operation == "claim_node");
  }
  EXPECT_TRUE(drained) << told.body;
  EXPECT_EQ(report.free_nodes, 1);
  for (const char* bad : {"0", "-5", "x", "99999999999"}) {
    EXPECT_EQ(call({"GET", "/v1/shift-report", "", "oncall", {}, {{"since_s", bad}}}).status, 422);
  }
  EXPECT_EQ(call({"GET", "/v1/shift-report", "", "a-admin"}).status, 403);
}

TEST_F(OperationsTest, a_lemon_is_retired_only_by_the_person_who_says_yes) {
  Proposal proposal;
  proposal.action = "retire_node";
  proposal.object = "node/gpu1";
  proposal.group = "lemon/" + node("gpu1").id.str();
  proposal.expires_at = scheduler_.now() + hours(1);
  proposal = put(proposal);
  scheduler_.advance(minutes(10));
  EXPECT_EQ(node("gpu1").status.phase, NodePhase::ready);
  ASSERT_EQ(status({"POST", "/v1/proposals/" + proposal.id.str() + "/approve", "", "oncall"}), 200);
  EXPECT_EQ(node("gpu1").status.phase, NodePhase::retired);
}

}  // namespace
}  // namespace tundish::edge
