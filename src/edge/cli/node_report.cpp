// What a tenant says of its node, and nodes that break too often.
#include "model/node_report.hpp"

#include <ostream>

#include "edge/api/contract.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"
#include "edge/cli/wait.hpp"

namespace tundish::edge::cli {
namespace {

struct ReportArgs {
  std::vector<std::string> words;
  NodeReportRequest request;
};

std::string render_report(const NodeReport& report) {
  std::string out = "report " + name_of(report) + " on node " + or_dash(report.node_name) +
                    ", job " + report.job + ": " + word(report.state) + "\n";
  if (!report.conclusion.empty()) out += "  " + report.conclusion + "\n";
  if (report.state == ReportState::testing) {
    out += "  it is tested and compared with its peers; see tundish node reports\n";
  }
  std::vector<Cells> rows;
  for (const auto& finding : report.findings) {
    rows.push_back({finding.what, finding.value, finding.peers, std::to_string(finding.peers_asked),
                    finding.outlier ? "outlier" : "-"});
  }
  if (rows.empty()) return out;
  return out + render_table({"WHAT", "NODE", "PEERS", "ASKED", "JUDGED"}, rows);
}

Result<std::string> missing_answer(const ApiClient& client, const std::string& name) {
  const auto report = TRY(get_object<NodeReport>(client, api_path({"node_reports", name})));
  if (report.state != ReportState::testing) return std::string();
  return report.node.empty() ? "the nodes of job " + report.job + " are compared"
                             : "node " + report.node_name + " is tested";
}

Result<int> report(Context& context, const ReportArgs& args) {
  NodeReportRequest request = args.request;
  if (args.words.empty() || args.words.size() > 2) {
    return context.fail_flag("node report: [NODE] and what is wrong, in one pair of quotes");
  }
  request.text = args.words.back();
  if (args.words.size() == 2) request.node = args.words.front();
  const ApiClient client = TRY(context.connect());
  const auto body = TRY(context.change({"POST", api_path({"node_reports"}), render_json(request)}));
  if (!body) return exit_done;
  const auto made = TRY(parse_object<NodeReport>(*body));
  if (!context.settings().wait) return show_object<NodeReport>(context, *body, render_report);
  const int code = TRY(wait_until(context, {"report " + name_of(made), "tundish node reports"},
                                  [&] { return missing_answer(client, name_of(made)); }));
  if (code != exit_done) return code;
  const auto told = TRY(client.get(api_path({"node_reports", name_of(made)})));
  const auto final_state = TRY(parse_object<NodeReport>(told)).state;
  TRY_VOID(show_object<NodeReport>(context, told, render_report));
  return final_state == ReportState::unknown ? exit_unknown : exit_done;
}

Result<int> list_reports(Context& context) {
  const ApiClient client = TRY(context.connect());
  const auto items = TRY(client.list(api_path({"node_reports"})));
  return show_items<NodeReport>(context, items,
                                {{"NAME", "NODE", "JOB", "AT", "STATE", "TEXT", "CONCLUSION"},
                                 [](const NodeReport& report) -> Cells {
                                   return {
                                       name_of(report),           report.node_name,   report.job,
                                       render_local(report.at),   word(report.state), report.text,
                                       or_dash(report.conclusion)};
                                 }});
}

std::string tenths(std::int64_t value) {
  return std::to_string(value / 10) + "." + std::to_string(value % 10);
}

Result<int> list_lemons(Context& context) {
  const ApiClient client = TRY(context.connect());
  const auto items = TRY(client.list("/v1/lemons"));
  return show_items<LemonRow>(
      context, items,
      {{"NODE", "INCIDENTS", "RMAS", "FAILED CHECKS", "A MONTH", "FLEET", "LEMON", "PROPOSAL"},
       [](const LemonRow& row) -> Cells {
         return {row.node,
                 std::to_string(row.incidents),
                 std::to_string(row.rmas),
                 std::to_string(row.failed_revalidations),
                 tenths(row.per_month_tenths),
                 tenths(row.fleet_tenths),
                 row.lemon ? "yes" : "no",
                 or_dash(row.proposal)};
       }});
}

}  // namespace

void add_node_report(Command noun, Context& context) {
  const auto args = std::make_shared<ReportArgs>();
  Command verb = noun.verb("report", "a node is slow: it is tested, and swapped if it is; at "
                                       "most 6 reports an hour are taken for one tenant");
  verb.take({"node_and_text", "[NODE] \"what is wrong\"; without a node the job's are compared",
             Need::required},
            args->words);
  verb.take({"--job", "job that suffers, as squeue shows it", Need::required}, args->request.job);
  verb.run([&context, args] { return report(context, *args); });
  noun.verb("reports", "reports of slow nodes, and what came of them").run([&context] {
    return list_reports(context);
  });
  noun.verb("lemons", "nodes that break more often than the fleet, from history").run([&context] {
    return list_lemons(context);
  });
}

}  // namespace tundish::edge::cli
