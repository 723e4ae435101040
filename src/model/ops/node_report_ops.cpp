#include "model/ops/node_report_ops.hpp"

#include "model/ops/incident_ops.hpp"

namespace tundish {
namespace {

std::string about(const NodeReportId& id) { return "node_report/" + id.str(); }

Result<> check_rate(const Txn& txn, const ReportDraft& draft) {
  int lately = 0;
  Instant oldest = txn.now();
  for (const auto& [id, report] : txn.view().all<NodeReport>()) {
    if (report.meta.tenant != draft.tenant || txn.now() - report.at >= hours(1)) continue;
    ++lately;
    oldest = std::min(oldest, report.at);
    if (report.node == draft.node && report.state == ReportState::testing) {
      return make_error(Code::conflict, "report " + report.meta.name + " has the node tested now")
          .about(about(id));
    }
  }
  if (lately < most_reports_per_hour) return {};
  Error error = make_error(Code::exhausted,
                           std::to_string(lately) + " reports in the last hour: no more are taken")
                    .with_remedy("wait, or write to the operator");
  error.retry_after = oldest + hours(1) - txn.now();
  return error;
}

OperationPtr change_report(std::string_view name, const NodeReportId& id,
                           std::function<Result<>(Txn&, NodeReport&)> change) {
  return make_operation(name, about(id), [=](Txn& txn) -> Result<> {
    NodeReport report = TRY(get_object(txn, id));
    if (report.state != ReportState::testing) return {};
    TRY_VOID(change(txn, report));
    txn.put(std::move(report));
    return {};
  });
}

}  // namespace

OperationPtr open_report(ReportDraft draft) {
  const std::string object =
      draft.node.empty() ? "tenant/" + draft.tenant.str() : "node/" + draft.node.str();
  return make_operation("report_node", object, [=](Txn& txn) -> Result<> {
    TRY_VOID(check_rate(txn, draft));
    NodeReport report;
    if (!draft.node.empty()) report.node_name = TRY(get_object(txn, draft.node)).meta.name;
    report.id = txn.make_id<NodeReport>();
    report.meta.name = report.id.str();
    report.meta.tenant = draft.tenant;
    report.node = draft.node;
    report.job = draft.job;
    report.text = draft.text;
    report.by = draft.by;
    report.at = txn.now();
    txn.put(std::move(report));
    return {};
  });
}

OperationPtr pick_reported(NodeReportId id, NodeId node) {
  return change_report("pick_reported", id, [=](Txn& txn, NodeReport& report) -> Result<> {
    report.node_name = TRY(get_object(txn, node)).meta.name;
    report.node = node;
    return {};
  });
}

OperationPtr record_report_checks(NodeReportId id, std::vector<Verdict> verdicts) {
  return change_report("record_report_checks", id, [=](Txn&, NodeReport& report) -> Result<> {
    report.checked = true;
    report.verdicts = verdicts;
    return {};
  });
}

OperationPtr record_report_findings(NodeReportId id, std::vector<PeerFinding> findings) {
  return change_report("record_report_findings", id, [=](Txn&, NodeReport& report) -> Result<> {
    report.compared = true;
    report.findings = findings;
    return {};
  });
}

OperationPtr swap_reported(NodeReportId id, std::vector<Verdict> against, std::string conclusion) {
  return change_report("swap_reported", id, [=](Txn& txn, NodeReport& report) -> Result<> {
    std::vector<Verdict> seen = against;
    for (auto& verdict : seen) {  // measured and told by its tenant: no longer a warning
      if (verdict.state == VerdictState::warn) verdict.state = VerdictState::fail;
    }
    TRY_VOID(open_probe_incident(report.node, seen)->perform(txn));
    for (const auto& incident : txn.view().incidents_on(report.node)) report.incident = incident;
    const std::string told = "report " + report.meta.name + " by " + report.by +
                             (report.job.empty() ? "" : " of job " + report.job) +
                             (report.text.empty() ? "" : ": " + report.text);
    if (!report.incident.empty()) {
      TRY_VOID(note_incident(report.incident, "reported", told)->perform(txn));
    }
    report.state = ReportState::swapped;
    report.decided_at = txn.now();
    report.conclusion = conclusion;
    return {};
  });
}

OperationPtr conclude_report(NodeReportId id, ReportState state, std::string conclusion) {
  return change_report("conclude_report", id, [=](Txn& txn, NodeReport& report) -> Result<> {
    report.state = state;
    report.decided_at = txn.now();
    report.conclusion = conclusion;
    return {};
  });
}

}  // namespace tundish
