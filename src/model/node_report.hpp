#pragma once
// A tenant's word that a node is slow, what was looked at because of it, and what came of it.
#include <string>
#include <vector>

#include "model/incident.hpp"

namespace tundish {

struct NodeReport;
using NodeReportId = Id<NodeReport>;

enum class ReportState {
  testing,  ///< its checks run and its peers are asked
  swapped,  ///< a check failed or it is an outlier: an incident took it out
  sound,    ///< nothing was found; the reporter is told what was looked at
  unknown   ///< the node or its peers did not answer: nothing is known, so nothing was done
};
inline std::span<const std::string_view> enum_names(ReportState) {
  static constexpr std::string_view names[] = {"testing", "swapped", "sound", "unknown"};
  return names;
}

/// How the reported node compares in one number.
struct PeerFinding {
  std::string what;
  std::string value;
  std::string peers;
  int peers_asked = 0;
  bool outlier = false;
  void fields(Fields& f) {
    f(1, "what", what, "what was compared");
    f(2, "value", value, "of the reported node; unknown when it did not say");
    f(3, "peers", peers, "median of its peers in the job");
    f(4, "peers_asked", peers_asked, "peers that answered");
    f(5, "outlier", outlier, "far below its peers");
  }
};

struct NodeReport {
  static constexpr std::string_view kind = "node_report";
  NodeReportId id;
  NodeId node;
  std::string node_name;
  std::string job;
  std::string text;
  std::string by;
  Instant at;
  ReportState state = ReportState::testing;
  Instant decided_at;
  bool checked = false;
  std::vector<Verdict> verdicts;
  bool compared = false;
  std::vector<PeerFinding> findings;
  std::string conclusion;
  IncidentId incident;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "node", node, "node that is reported; empty: the slowest of the job is looked for");
    f(3, "node_name", node_name, "its name");
    f(4, "job", job, "job that suffers, in the engine");
    f(5, "text", text, "what the reporter says");
    f(6, "by", by, "who reported: a witness of userspace, which alone never resets anything");
    f(7, "at", at, "when");
    f(8, "state", state, "testing, swapped, sound or unknown");
    f(9, "decided_at", decided_at, "when that was decided");
    f(10, "checked", checked, "its checks gave an answer");
    f(11, "verdicts", verdicts, "of its checks");
    f(12, "compared", compared, "its peers were asked");
    f(13, "findings", findings, "what was compared with the peers of the job");
    f(14, "conclusion", conclusion, "one sentence for the reporter");
    f(15, "incident", incident, "incident that took the node out; empty: none did");
    f(16, "meta", meta, "name, tenant, revision");
  }
};

}  // namespace tundish
