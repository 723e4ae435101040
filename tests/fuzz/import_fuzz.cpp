// Property: whatever the sheets hold, a plan has problems or operations, every operation succeeds,
// and a second import of the same sheets changes nothing. Sheets are separated by a form feed.
#include <cstdint>

#include "base/check.hpp"
#include "base/text.hpp"
#include "codec/csv.hpp"
#include "control/inventory/export.hpp"

namespace {

using namespace tundish;
using namespace tundish::control;

Sheet make_sheet(std::size_t index, const std::string& text) {
  Sheet sheet;
  sheet.file = "sheet" + std::to_string(index);
  const auto table = parse_csv(text);
  if (!table) {
    sheet.unreadable = table.error().what;
    return sheet;
  }
  sheet.header = table->header;
  sheet.header_row = table->header_row;
  for (const auto& row : table->rows) sheet.rows.push_back({row.row, row.cells});
  return sheet;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Sheet> sheets;
  for (const auto& part : split(text, '\f')) sheets.push_back(make_sheet(sheets.size(), part));
  Registry registry;
  const ImportPlan plan = plan_import(registry, sheets);
  check(plan.problems.empty() || (plan.operations.empty() && plan.changes.empty()),
        "problems must stop everything");
  if (!plan.problems.empty()) return 0;
  for (const auto& operation : plan.operations) {
    Txn txn(registry, Instant{1}, "fuzz");
    check(operation->perform(txn).has_value(), "a planned operation must succeed");
  }
  const ImportPlan again = plan_import(registry, sheets);
  check(again.problems.empty() && again.operations.empty(), "a second run must change nothing");
  const ImportPlan back =
      plan_import(registry, export_inventory(registry, plan.scope), {plan.scope});
  check(back.operations.empty(), "an export must change nothing when imported");
  return 0;
}
