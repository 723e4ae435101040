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
    out.problems.push_back({problem.file, problem.row, problem.column, problem.value, problem.what,
                            problem.remedy});
  }
  for (const auto& change : plan.changes) {
    const auto verb = enum_names(change.verb)[static_cast<std::size_t>(change.verb)];
    out.changes.push_back(
        {change.kind, change.name, std::string(verb), join(change.details, "; ")});
  }
  for (const auto& notice : plan.notices) {
    out.lines.push_back(notice.file + ":" + std::to_string(notice.row) + ": " + notice.what);
  }
  return out;
}

}  // namespace

Result<Later> import_inventory(Backend& b, const Call& call) {
  const InventoryRequest asked = TRY(read_request(call));
  control::ImportPlan plan = control::plan_import(b.reg(), to_sheets(asked), {asked.scope});
  InventoryAnswer answer = to_answer(plan);
  if (!plan.problems.empty()) {
    const Error error = make_error(
        Code::invalid, std::to_string(plan.problems.size()) + " problems; nothing was changed");
    b.refuse(call, "inventory/" + plan.scope, error);
    return Later([answer] { return Answer{422, render_json(answer)}; });
  }
  if (!asked.dry_run) {
    TRY_VOID(b.perform(call, *compose("import_inventory", "inventory/" + plan.scope,
                                      std::move(plan.operations))));
    answer.applied = true;
  }
  return Later([answer] { return Answer{200, render_json(answer)}; });
}

Result<Answer> export_inventory_call(Backend& b, const Call& call) {
  InventoryRequest out;
  out.scope = call.query("scope");
  for (const auto& sheet : control::export_inventory(b.reg(), out.scope)) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& row : sheet.rows) rows.push_back(row.cells);
    out.files.push_back({sheet.file, render_csv(sheet.header, rows)});
  }
  return Answer{200, render_json(out)};
}

Result<Answer> diff_inventory_call(Backend& b, const Call& call) {
  const InventoryRequest asked = TRY(read_request(call));
  const auto sheets = to_sheets(asked);
  InventoryAnswer answer = to_answer(control::plan_import(b.reg(), sheets, {asked.scope}));
  const int status = answer.problems.empty() ? 200 : 422;
  if (status == 200) answer.lines = control::diff_inventory(b.reg(), sheets, {asked.scope});
  return Answer{status, render_json(answer)};
}

}  // namespace tundish::edge::api
