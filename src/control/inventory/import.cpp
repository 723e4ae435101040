#include "control/inventory/import.hpp"

#include <algorithm>

#include "control/inventory/world.hpp"

namespace tundish::control {
namespace {

using namespace inventory;

/// The only site that the sheets name; else the registry's only one.
std::string default_scope(const Registry& view, const std::vector<SheetTable>& tables) {
  std::set<std::string> sites;
  for (const auto& table : tables) {
    if (table.kind != SheetKind::devices && table.kind != SheetKind::racks) continue;
    for (std::size_t i = 0; i < table.sheet->rows.size(); ++i) {
      Findings unused;
      const std::string site = Cells({&table, i}, unused).text("site");
      if (!site.empty()) sites.insert(site);
    }
  }
  if (sites.empty()) {
    for (const auto& [id, site] : view.all<Site>()) sites.insert(site.meta.name);
  }
  return sites.size() == 1 ? *sites.begin() : "default";
}

void sort_problems(const std::vector<Sheet>& sheets, std::vector<ImportProblem>& problems) {
  const auto place = [&](const ImportProblem& problem) {
    const auto it = std::find_if(sheets.begin(), sheets.end(),
                                 [&](const Sheet& sheet) { return sheet.file == problem.file; });
    return std::pair(it - sheets.begin(), problem.row);
  };
  std::stable_sort(problems.begin(), problems.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

}  // namespace

ImportPlan plan_import(const Registry& view, const std::vector<Sheet>& sheets,
                       const ImportOptions& options) {
  using Add = void (*)(World&, const SheetTable&, Findings&);
  ImportPlan plan;
  Findings findings;
  const auto tables = understand(sheets, findings);
  plan.scope = options.scope.empty() ? default_scope(view, tables) : options.scope;
  World world(view, plan.scope);
  for (const auto& table : tables) {
    world.kinds.insert(table.kind);
    const Add add = table.kind == SheetKind::skus         ? add_skus
                    : table.kind == SheetKind::racks      ? add_racks
                    : table.kind == SheetKind::devices    ? add_devices
                    : table.kind == SheetKind::interfaces ? add_interfaces
                                                          : add_cables;
    add(world, table, findings);
  }
  check_world(world, findings);
  if (findings.problems.empty()) plan_changes(world, plan);
  sort_problems(sheets, findings.problems);
  plan.problems = std::move(findings.problems);
  plan.notices = std::move(findings.notices);
  plan.more_problems = findings.more_problems;
  plan.more_notices = findings.more_notices;
  return plan;
}

}  // namespace tundish::control
