#include "base/quote.hpp"
#include "base/text.hpp"
#include "codec/csv.hpp"
#include "control/inventory/export.hpp"
#include "control/inventory/import.hpp"
#include "edge/api/handlers.hpp"

namespace tundish::edge::api {
namespace {

control::Sheet to_sheet(const FileText& file) {
  control::Sheet sheet;
  sheet.file = file.name;
  auto table = parse_csv(file.content);
  if (!table) {
    sheet.unreadable = table.error().message();
    return sheet;
  }
  sheet.header = std::move(table->header);
  sheet.header_row = table->header_row;
  for (auto& row : table->rows) sheet.rows.push_back({row.row, std::move(row.cells)});
  for (auto& notice : table->notices) {
    sheet.notices.push_back({notice.row, notice.column, std::move(notice.what)});
  }
  return sheet;
}

std::vector<control::Sheet> to_sheets(const InventoryRequest& asked) {
  std::vector<control::Sheet> sheets;
  for (const auto& file : asked.files) sheets.push_back(to_sheet(file));
  return sheets;
}

Result<InventoryRequest> read_request(const Call& call) {
  auto asked = TRY(parse_body<InventoryRequest>(call));
  if (asked.files.empty()) {
    return make_error(Code::invalid, "the request holds no file").with_remedy("give a CSV file");
  }
  return asked;
}

InventoryAnswer to_answer(const control::ImportPlan& plan) {
  InventoryAnswer out;
  for (const auto& problem : plan.problems) {
    out.problems.push_back(
        {problem.file, problem.row, problem.column, problem.value, problem.what, problem.remedy});
  }
  for (const auto& change : plan.changes) {
    const auto verb = enum_names(change.verb)[static_cast<std::size_t>(change.verb)];
    out.changes.push_back(
        {change.kind, change.name, std::string(verb), join(change.details, "; ")});
  }
  for (const auto& notice : plan.notices) {
    out.lines.push_back(notice.file + ":" + std::to_string(notice.row) + ": " + notice.what);
  }
  out.more_problems = plan.more_problems;
  if (plan.more_problems > 0) {
    out.lines.push_back("and " + std::to_string(plan.more_problems) + " more problems");
  }
  if (plan.more_notices > 0) {
    out.lines.push_back("and " + std::to_string(plan.more_notices) + " more notices");
  }
  return out;
}

/// A scope that declares nothing is a typing error, and its export would be taken for an empty
/// site.
Result<> check_scope(const Backend& b, const std::string& scope) {
  if (scope.empty()) return {};
  std::set<std::string> known;
  for (const auto& [id, node] : b.reg().all<Node>()) known.insert(node.spec.import_scope);
  for (const auto& [id, device] : b.reg().all<Switch>()) known.insert(device.spec.import_scope);
  for (const auto& [id, cable] : b.reg().all<Cable>()) known.insert(cable.spec.import_scope);
  for (const auto& [id, site] : b.reg().all<Site>()) known.insert(site.meta.name);
  known.erase("");
  if (known.contains(scope)) return {};
  return make_error(Code::not_found, "nothing was imported under scope " + in_quotes(scope))
      .about("inventory/" + scope)
      .with_remedy(known.empty() ? "import something first"
                                 : "scopes are " + join({known.begin(), known.end()}, ", "));
}

/// Planning reads the whole registry and every cell, so it is done beside the loop, on a copy.
struct Job {
  InventoryRequest asked;
  Registry copy;
  control::ImportPlan plan;
  InventoryAnswer answer;
  int tries = 0;
};

void plan_job(Job& job) {
  const auto sheets = to_sheets(job.asked);
  job.plan = control::plan_import(job.copy, sheets, {job.asked.scope});
  job.answer = to_answer(job.plan);
}

bool is_covered(const Registry& reg, const std::string& site) {
  return std::any_of(reg.all<Authority>().begin(), reg.all<Authority>().end(), [&](auto& known) {
    const Authority& authority = known.second;
    const bool over = authority.scope == "*" || authority.scope == "site:" + site;
    // A drill's word lets nothing be done but break it.
    return over && authority.action_class != "drill" && authority.level != AuthorityLevel::observe;
  });
}

/// All that is imported is at observe: orders there would wait without end.
void warn_of_authority(const Registry& reg, const std::string& scope, InventoryAnswer& answer) {
  std::set<std::string> sites;
  for (const auto& [id, node] : reg.all<Node>()) {
    const bool imported = node.spec.import_scope == scope && !node.spec.site.empty();
    if (imported && !is_covered(reg, node.spec.site)) sites.insert(node.spec.site);
  }
  for (const auto& site : sites) {
    answer.lines.push_back("site " + site +
                           " is at observe: it is watched, and orders there wait; tundish "
                           "authority set --scope site:" +
                           site + " --level act");
  }
}

/// 422 with the list of problems once the refusal is in the history.
void tell_problems(Backend& b, const Call& call, const Job& job, const Respond& respond) {
  const std::int64_t count =
      static_cast<std::int64_t>(job.plan.problems.size()) + job.plan.more_problems;
  const Error error =
      make_error(Code::invalid, std::to_string(count) + " problems; nothing was changed");
  if (!call.is_dry_run()) b.refuse(call, "inventory/" + job.plan.scope, error);
  b.after_commit([respond, answer = job.answer](const Result<>& safe) {
    if (!safe) return respond(safe.error());
    respond(Answer{422, render_json(answer)});
  });
}

void start_import(Backend& b, const Call& call, const std::shared_ptr<Job>& job,
                  const Respond& respond);

/// On the loop again. What was planned holds only for the registry that it was planned on.
void finish_import(Backend& b, const Call& call, const std::shared_ptr<Job>& job,
                   const Respond& respond) {
  constexpr int most_tries = 5;
  if (!job->plan.problems.empty()) return tell_problems(b, call, *job, respond);
  if (b.reg().revision() != job->copy.revision()) {
    if (++job->tries < most_tries) return start_import(b, call, job, respond);
    return respond(make_error(Code::conflict, "the registry changed again and again meanwhile")
                       .with_remedy("try again; nothing was changed"));
  }
  const auto operation =
      compose("import_inventory", "inventory/" + job->plan.scope, std::move(job->plan.operations));
  if (call.is_dry_run()) {
    Result<> checked;
    b.parts.ledger.rehearse([&] { checked = b.perform(call, *operation); });
    if (!checked) return respond(checked.error());
    return respond(Answer{200, render_json(job->answer)});
  }
  if (!job->asked.dry_run) {
    const auto done = b.perform(call, *operation);
    if (!done) b.refuse(call, "inventory/" + job->plan.scope, done.error());
    job->answer.applied = done.has_value();
    if (done) warn_of_authority(b.reg(), job->plan.scope, job->answer);
    b.after_commit([respond, job, done](const Result<>& safe) {
      if (!safe || !done) return respond(safe ? done.error() : safe.error());
      respond(Answer{200, render_json(job->answer)});
    });
    return;
  }
  respond(Answer{200, render_json(job->answer)});
}

void start_import(Backend& b, const Call& call, const std::shared_ptr<Job>& job,
                  const Respond& respond) {
  job->copy = b.reg();
  const auto started = run_long(
      b, [job] { plan_job(*job); },
      [&b, call, job, respond] { finish_import(b, call, job, respond); });
  if (!started) respond(started.error());
}

}  // namespace

void import_inventory(Backend& b, const Call& call, Respond respond) {
  auto asked = read_request(call);
  if (!asked) {
    if (!call.is_dry_run()) b.refuse(call, asked.error().object, asked.error());
    return respond(asked.error());
  }
  const auto job = std::make_shared<Job>();
  job->asked = std::move(*asked);
  start_import(b, call, job, respond);
}

Result<Answer> export_inventory_call(Backend& b, const Call& call) {
  InventoryRequest out;
  out.scope = call.query("scope");
  TRY_VOID(check_scope(b, out.scope));
  for (const auto& sheet : control::export_inventory(b.reg(), out.scope)) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& row : sheet.rows) rows.push_back(row.cells);
    out.files.push_back({sheet.file, render_csv(sheet.header, rows)});
  }
  return Answer{200, render_json(out)};
}

void diff_inventory_call(Backend& b, const Call& call, Respond respond) {
  auto asked = read_request(call);
  if (!asked) return respond(asked.error());
  const auto job = std::make_shared<Job>();
  job->asked = std::move(*asked);
  job->copy = b.reg();
  const auto work = [job] {
    plan_job(*job);
    if (!job->answer.problems.empty()) return;
    job->answer.lines =
        control::diff_inventory(job->copy, to_sheets(job->asked), {job->asked.scope});
  };
  const auto started = run_long(b, work, [job, respond] {
    respond(Answer{job->answer.problems.empty() ? 200 : 422, render_json(job->answer)});
  });
  if (!started) respond(started.error());
}

}  // namespace tundish::edge::api
