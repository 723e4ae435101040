// shift: what the next shift has to know.
#include <ostream>

#include "edge/api/contract.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

void add_lines(std::string& out, const std::string& title, const std::vector<ShiftLine>& lines) {
  out += title + ": " + (lines.empty() ? "none" : std::to_string(lines.size())) + "\n";
  std::vector<Cells> rows;
  for (const auto& line : lines) {
    rows.push_back({render_local(line.at), line.what, or_dash(line.object), or_dash(line.by),
                    or_dash(line.detail)});
  }
  if (!rows.empty()) out += render_table({"AT", "WHAT", "OBJECT", "BY", "DETAIL"}, rows);
}

std::string render_shift(const ShiftReport& report) {
  std::string out =
      "shift from " + render_local(report.since) + " to " + render_local(report.until) + "\n";
  add_lines(out, "waits for a person", report.waiting);
  add_lines(out, "incidents", report.incidents);
  add_lines(out, "acts", report.acts);
  add_lines(out, "claims", report.claims);
  add_lines(out, "maintenance", report.maintenance);
  add_lines(out, "drills", report.drills);
  out += "spares: " + std::to_string(report.free_nodes) + " free nodes\n";
  std::vector<Cells> rows;
  for (const auto& row : report.spares) {
    rows.push_back({row.cluster, std::to_string(row.wanted), std::to_string(row.ready)});
  }
  if (!rows.empty()) out += render_table({"CLUSTER", "SPARES WANTED", "READY"}, rows);
  out += "done by whom\n";
  rows.clear();
  for (const auto& count : report.done) {
    rows.push_back({count.actor, count.operation, std::to_string(count.count)});
  }
  out += render_table({"ACTOR", "OPERATION", "TIMES"}, rows);
  if (!report.complete) out += "the history of the shift is longer than what was read\n";
  return out;
}

Result<int> report(Context& context, Duration since) {
  const ApiClient client = TRY(context.connect());
  const std::string query = "?since_s=" + std::to_string(since.s());
  return show_object<ShiftReport>(context, TRY(client.get("/v1/shift-report" + query)),
                                  render_shift);
}

}  // namespace

void add_shift(Command root, Context& context) {
  Command noun = root.noun("shift", "hand-over from one shift to the next");
  const auto since = std::make_shared<Duration>(hours(12));
  Command verb = noun.verb("report", "what happened, who did what, what waits for a person");
  verb.take({"--since", "how far back, for example 12h"}, *since);
  verb.run([&context, since] { return report(context, *since); });
}

}  // namespace tundish::edge::cli
