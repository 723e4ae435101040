#pragma once
// A person's word on a node: recorded as a witness, tested, answered.
#include "model/ops/common.hpp"

namespace tundish {

struct ReportDraft {
  NodeId node;
  TenantId tenant;
  std::string job;
  std::string text;
  std::string by;
};

/// Reports of one tenant within an hour; more are refused, so that a script cannot have a fleet
/// tested to death.
inline constexpr int most_reports_per_hour = 6;

/// exhausted: too many of this tenant lately, or one about this node is being tested.
OperationPtr open_report(ReportDraft draft);
/// The node of the job that stands out, when none was named.
OperationPtr pick_reported(NodeReportId id, NodeId node);
OperationPtr record_report_checks(NodeReportId id, std::vector<Verdict> verdicts);
OperationPtr record_report_findings(NodeReportId id, std::vector<PeerFinding> findings);
/// A check failed, or the node is an outlier among its peers: an incident takes it out.
OperationPtr swap_reported(NodeReportId id, std::vector<Verdict> against, std::string conclusion);
OperationPtr conclude_report(NodeReportId id, ReportState state, std::string conclusion);

}  // namespace tundish
