#include "base/quote.hpp"
#include "control/lemon/lemon.hpp"
#include "edge/api/handlers.hpp"
#include "model/ops/node_report_ops.hpp"

namespace tundish::edge::api {
namespace {

constexpr std::size_t longest_text = 500;
constexpr std::size_t longest_job = 64;

Result<> check_words(const NodeReportRequest& asked) {
  if (asked.job.empty()) {
    return make_error(Code::invalid, "a report names the job that suffers")
        .with_remedy("add --job ID, as squeue shows it");
  }
  if (asked.text.empty()) {
    return make_error(Code::invalid, "a report says what is wrong").with_remedy("add a text");
  }
  if (asked.text.size() > longest_text || asked.job.size() > longest_job) {
    return make_error(Code::invalid, "the report is too long")
        .with_remedy("at most 500 letters of text");
  }
  return {};
}

/// Whom it is about: a node and whom it serves, or any node of a job of the caller.
Result<ReportDraft> read_draft(const Backend& b, const Call& call, const std::string& name) {
  ReportDraft draft;
  draft.tenant = call.who.tenant;
  if (name.empty()) {
    if (!draft.tenant.empty()) return draft;
    return make_error(Code::invalid, "the report names no node")
        .with_remedy("only a tenant's own token may leave it out");
  }
  const Node node = TRY((get_visible<Node>(b, call, name)));
  const Allocation* held = b.reg().find(node.status.allocation);
  if (!held) {
    return make_error(Code::conflict, "node " + node.meta.name + " serves nobody now")
        .about("node/" + node.meta.name)
        .with_remedy("to have it proved: tundish node drain " + node.meta.name);
  }
  draft.node = node.id;
  draft.tenant = held->meta.tenant;
  return draft;
}

/// "7" of "7_1" and "7+0": parts of one job as squeue shows them.
std::string whole_job(const std::string& job) { return job.substr(0, job.find_first_of("_+")); }

/// Refused when the engines that the tenant has were asked and none shows the job: a report on a
/// job that is not there would have nodes tested for nothing.
Result<> check_job(const Backend& b, const ReportDraft& draft) {
  const auto view = b.parts.manager.view();
  std::string seen;
  for (const auto& [id, cluster] : b.reg().all<Cluster>()) {
    if (cluster.meta.tenant != draft.tenant) continue;
    const auto jobs = view.seen.jobs.find(id);
    const auto answered = view.seen.engine_answered.find(id);
    const bool fresh = answered != view.seen.engine_answered.end() &&
                       view.now - answered->second <= view.limits.engine_stale;
    if (!fresh) return {};  // what an engine does not tell is unknown
    seen += (seen.empty() ? "" : ", ") + cluster.meta.name;
    if (jobs == view.seen.jobs.end()) continue;
    for (const auto& [job, last] : jobs->second) {
      if (whole_job(job) == whole_job(draft.job)) return {};
    }
  }
  if (seen.empty()) return {};
  return make_error(Code::not_found,
                    "no job " + in_quotes(draft.job) + " runs, or ran lately, on " + seen)
      .about("job/" + shorten(draft.job))
      .with_remedy("give the number that squeue shows");
}

std::int64_t tenths(double value) { return static_cast<std::int64_t>(value * 10 + 0.5); }

}  // namespace

/// For a tenant another tenant's node does not exist; an operator reports for whom the node serves.
Result<Later> report_node(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<NodeReportRequest>(call));
  TRY_VOID(check_words(asked));
  ReportDraft draft = TRY(read_draft(b, call, asked.node));
  draft.job = asked.job;
  draft.text = asked.text;
  draft.by = call.who.name;
  TRY_VOID(check_job(b, draft));
  TRY_VOID(b.perform(call, *open_report(draft), asked.text));
  const NodeReport* newest = nullptr;
  for (const auto& [id, one] : b.reg().all<NodeReport>()) {
    if (!newest || one.meta.revision > newest->meta.revision) newest = &one;
  }
  if (!newest) return make_error(Code::internal, "the report was not stored");
  return show_later(b, call, *newest, 201);
}

Result<Answer> list_lemons(Backend& b, const Call&) {
  std::vector<LemonRow> rows;
  for (const auto& score : control::score_lemons(b.parts.manager.view())) {
    if (score.incidents == 0 && score.rmas == 0) continue;
    LemonRow row;
    row.node = score.node;
    row.incidents = score.incidents;
    row.rmas = score.rmas;
    row.failed_revalidations = score.failed_revalidations;
    row.per_month_tenths = tenths(score.per_month);
    row.fleet_tenths = tenths(score.fleet_per_month);
    row.lemon = score.lemon;
    row.why = score.why;
    for (const auto& [id, proposal] : b.reg().all<Proposal>()) {
      const bool waits = proposal.state == ProposalState::waiting &&
                         proposal.action == "retire_node" &&
                         proposal.object == "node/" + score.node && proposal.expires_at > b.now();
      if (waits) row.proposal = id.str();
    }
    rows.push_back(std::move(row));
  }
  std::vector<AnyDescribed> objects;
  for (const auto& row : rows) objects.push_back(describe_const(row));
  return Answer{200, render_json_list(objects)};
}

}  // namespace tundish::edge::api
