#include "control/peers/reconcile_report.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "control/cluster/drained.hpp"
#include "control/node/checks.hpp"
#include "control/peers/compare.hpp"
#include "model/ops/incident_proof.hpp"
#include "model/ops/node_report_ops.hpp"

namespace tundish::control {
namespace {

/// Whoever did not answer by then is unknown.
constexpr Duration patience = seconds(45);
constexpr Duration engine_pause = seconds(2);
constexpr std::size_t most_peers = 8;

bool is_running(const EngineJob& job) { return job.state == "RUNNING" || job.state == "SUSPENDED"; }

/// Nodes of the job in the clusters of whoever reports; job ids are unique in one engine only.
std::vector<NodeId> nodes_of_job(const View& view, const NodeReport& report) {
  for (const auto& [id, cluster] : view.reg.all<Cluster>()) {
    const EngineObserved* engine = fresh_engine(view, id);
    if (!engine || cluster.meta.tenant != report.meta.tenant) continue;
    for (const auto& job : engine->jobs) {
      if (job.id != report.job || !is_running(job)) continue;
      std::vector<NodeId> out;
      for (const auto& declared : cluster.status.declared) {
        const bool in_job =
            std::find(job.nodes.begin(), job.nodes.end(), declared.name) != job.nodes.end();
        if (in_job) out.push_back(declared.node);
      }
      const bool ours =
          report.node.empty() || std::find(out.begin(), out.end(), report.node) != out.end();
      if (ours) return out;
    }
  }
  return {};
}

/// After a restart, or while it is away, an engine shows no job: that says nothing about the job.
bool is_engine_unknown(const View& view, const NodeReport& report) {
  for (const auto& [id, cluster] : view.reg.all<Cluster>()) {
    const bool ours = cluster.meta.tenant == report.meta.tenant && cluster.status.controller_ready;
    if (ours && !fresh_engine(view, id)) return true;
  }
  return false;
}

std::vector<NodeId> peers_of(const View& view, const NodeReport& report) {
  std::vector<NodeId> out = nodes_of_job(view, report);
  std::erase(out, report.node);
  if (out.size() > most_peers) out.resize(most_peers);
  return out;
}

const LoadSeen* fresh_load(const View& view, const NodeReport& report, const NodeId& node) {
  const auto seen = view.seen.loads.find(node);
  return seen != view.seen.loads.end() && seen->second.at >= report.at ? &seen->second : nullptr;
}

Action ask_load(const NodeReport& report, const NodeId& node) {
  Action action;
  action.key = report.id.str() + "/load/" + node.str();
  action.name = "read_load";
  action.action_class = ActionClass::look;
  action.node = node;
  action.report = report.id;
  action.group = action.key;
  action.limit = seconds(15);
  action.result_to = ResultTo::load;
  VerbCall call;
  call.verb = Verb::read_load;
  action.act = VerbAct{std::move(call)};
  return action;
}

void compare(const View& view, const NodeReport& report, Outcome& out) {
  const auto peers = peers_of(view, report);
  const bool late = view.now - report.at >= patience;
  if (peers.empty() && !late && is_engine_unknown(view, report)) {
    return out.wake(view.now + engine_pause);
  }
  std::vector<NodeLoad> theirs;
  bool waits = false;
  for (const auto& peer : peers) {
    const LoadSeen* seen = fresh_load(view, report, peer);
    if (!seen) {
      waits = true;
      if (!late) out.actions.push_back(ask_load(report, peer));
    } else if (seen->load) {
      theirs.push_back(*seen->load);
    }
  }
  const LoadSeen* mine = fresh_load(view, report, report.node);
  if (!mine && !late) out.actions.push_back(ask_load(report, report.node));
  if ((waits || !mine) && !late) return;
  std::vector<PeerFinding> findings;
  if (mine && mine->load && !peers.empty()) findings = compare_with_peers(*mine->load, theirs);
  out.operations.push_back(record_report_findings(report.id, std::move(findings)));
}

/// No node was named: the one of the job that stands out most, if one does.
void look_for_node(const View& view, const NodeReport& report, Outcome& out) {
  const auto nodes = nodes_of_job(view, report);
  const bool late = view.now - report.at >= patience;
  if (nodes.empty() && !late && is_engine_unknown(view, report)) {
    return out.wake(view.now + engine_pause);
  }
  std::map<NodeId, NodeLoad> loads;
  bool waits = false;
  for (const auto& node : nodes) {
    const LoadSeen* seen = fresh_load(view, report, node);
    if (!seen) {
      waits = true;
      if (!late) out.actions.push_back(ask_load(report, node));
    } else if (seen->load) {
      loads[node] = *seen->load;
    }
  }
  if (waits && !late) return out.wake(report.at + patience);
  NodeId worst;
  int most = 0;
  for (const auto& [node, load] : loads) {
    std::vector<NodeLoad> others;
    for (const auto& [other, theirs] : loads) {
      if (other != node) others.push_back(theirs);
    }
    int outliers = 0;
    for (const auto& finding : compare_with_peers(load, others)) outliers += finding.outlier;
    if (outliers > most) {
      most = outliers;
      worst = node;
    }
  }
  if (!worst.empty()) {
    out.operations.push_back(pick_reported(report.id, worst));
    return;
  }
  const bool known = loads.size() >= 3;
  out.operations.push_back(conclude_report(
      report.id, known ? ReportState::sound : ReportState::unknown,
      known ? "none of the " + std::to_string(loads.size()) +
                  " nodes of the job stands out in clocks, power and network; name one to have it "
                  "tested"
            : "job " + report.job + " runs on too few nodes that answered: name the node"));
}

/// What a slow GPU itself says of its clocks: it needs no peers.
constexpr std::string_view pace_checks[] = {"gpu_clocks", "gpu_throttle"};

bool is_of_pace(const Verdict& verdict) {
  return std::find(std::begin(pace_checks), std::end(pace_checks), verdict.check) !=
         std::end(pace_checks);
}

void check_node(const View& view, const NodeReport& report, const Node& node, Outcome& out) {
  std::vector<std::string> checks{std::string(serve_checks)};
  if (node.spec.role == NodeRole::gpu) {
    checks.insert(checks.end(), std::begin(pace_checks), std::end(pace_checks));
  }
  Action action = make_checks(view, node, std::move(checks), report.id.str() + "/checks");
  action.report = report.id;
  action.group = action.key;
  action.limit = seconds(30);
  action.result_to = ResultTo::report_checks;
  out.actions.push_back(std::move(action));
}

Verdict verdict_of(const PeerFinding& finding, Instant now) {
  Verdict out;
  out.check = "job_peers";
  out.state = VerdictState::fail;
  out.reason = finding.what + ": " + finding.value + ", its peers of the job " + finding.peers;
  out.at = now;
  return out;
}

std::string looked_at(const NodeReport& report) {
  std::vector<std::string> names;
  for (const auto& verdict : report.verdicts) names.push_back(verdict.check);
  std::string text = report.checked ? "checks " + join(names, ", ") : "its checks gave no answer";
  std::vector<std::string> numbers;
  for (const auto& finding : report.findings) {
    if (finding.peers_asked > 0) {
      numbers.push_back(finding.what + " " + finding.value + " (peers " + finding.peers + ")");
    }
  }
  return text + "; " +
         (numbers.empty() ? "not compared: job " + report.job +
                                " does not run on it beside others, or they did not answer"
                          : join(numbers, ", "));
}

void decide(const View& view, const NodeReport& report, Outcome& out) {
  std::vector<Verdict> against;
  bool open = !report.checked;
  for (const auto& verdict : report.verdicts) {
    // Elsewhere a slow GPU is only told; here somebody suffers from it.
    const bool slow = verdict.state == VerdictState::warn && is_of_pace(verdict);
    if (verdict.state == VerdictState::fail || slow) against.push_back(verdict);
    open = open || verdict.state == VerdictState::unknown;
  }
  for (const auto& finding : report.findings) {
    if (finding.outlier) against.push_back(verdict_of(finding, view.now));
    open = open || is_split(finding);
  }
  if (!against.empty()) {
    // Reasons of checks may name serials and cables; what its own job shows may be told.
    const Verdict& first = against.front();
    const std::string why =
        first.check == "job_peers" ? first.reason : "check " + first.check + " failed";
    out.operations.push_back(swap_reported(report.id, against, "it is taken out: " + why));
    return;
  }
  const ReportState state = open ? ReportState::unknown : ReportState::sound;
  const std::string begin = open ? "nothing is known to be wrong, and not all could be seen: "
                                 : "nothing was found; looked at: ";
  out.operations.push_back(conclude_report(report.id, state, begin + looked_at(report)));
}

}  // namespace

Outcome reconcile_report(const View& view, const NodeReport& report) {
  Outcome out;
  if (report.state != ReportState::testing) return out;
  if (report.node.empty()) {
    look_for_node(view, report, out);
    return out;
  }
  const Node* node = view.reg.find(report.node);
  if (!node) return out;
  const Instant deadline = report.at + patience;
  const bool late = view.now >= deadline;
  if (!report.checked && !late) check_node(view, report, *node, out);
  if (!report.compared) compare(view, report, out);
  const bool told = report.checked && report.compared;
  if (told || (late && report.compared)) decide(view, report, out);
  if (!told && !late) out.wake(deadline);
  return out;
}

}  // namespace tundish::control
