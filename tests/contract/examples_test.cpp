// The example inventories as an operator meets them: the broken one shows every mistake and changes
// nothing, the corrected one admits the lab, a second run changes nothing.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "codec/csv.hpp"
#include "control/inventory/export.hpp"

namespace tundish::control {
namespace {

const std::string root = TUNDISH_SOURCE_DIR;

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

Sheet load(const std::string& folder, const std::string& file) {
  Sheet sheet;
  sheet.file = file;
  const auto table = parse_csv(read(root + "/examples/" + folder + "/" + file));
  if (!table) {
    sheet.unreadable = table.error().what;
    return sheet;
  }
  sheet.header = table->header;
  sheet.header_row = table->header_row;
  for (const auto& row : table->rows) sheet.rows.push_back({row.row, row.cells});
  for (const auto& note : table->notices) {
    sheet.notices.push_back({note.row, note.column, note.what});
  }
  return sheet;
}

std::vector<Sheet> load_all(const std::string& folder) {
  std::vector<Sheet> out;
  for (const char* file :
       {"devices.csv", "interfaces.csv", "cables.csv", "skus.csv", "racks.csv"}) {
    out.push_back(load(folder, file));
  }
  return out;
}

void perform(Registry& registry, const ImportPlan& plan) {
  for (const auto& operation : plan.operations) {
    Txn txn(registry, Instant{1}, "test");
    const auto done = operation->perform(txn);
    ASSERT_TRUE(done.has_value()) << operation->object() << ": " << done.error().message();
  }
}

TEST(Examples, every_mistake_of_the_broken_sheets_is_shown_at_once_and_nothing_changes) {
  Registry registry;
  const auto plan = plan_import(registry, load_all("broken"));
  std::string shown;
  for (const auto& problem : plan.problems) {
    shown += problem.file + ":" + std::to_string(problem.row) + ":" + problem.column + ": " +
             problem.what + "\n";
  }
  EXPECT_EQ(shown, read(root + "/tests/golden/import/broken.txt"));
  EXPECT_TRUE(plan.operations.empty());
  EXPECT_TRUE(plan.changes.empty());
}

TEST(Examples, the_corrected_sheets_admit_the_nodes_and_a_second_run_changes_nothing) {
  Registry registry;
  auto plan = plan_import(registry, load_all("site"));
  ASSERT_TRUE(plan.problems.empty()) << plan.problems[0].what;
  perform(registry, plan);
  EXPECT_EQ(registry.all<Node>().size(), 15u);
  EXPECT_EQ(registry.all<Switch>().size(), 4u);
  EXPECT_EQ(registry.all<Cable>().size(), 26u);
  EXPECT_TRUE(plan_import(registry, load_all("site")).operations.empty());
  EXPECT_TRUE(diff_inventory(registry, load_all("site")).empty());
  EXPECT_TRUE(plan_import(registry, export_inventory(registry, "")).operations.empty());
}

TEST(Examples, the_first_import_works_without_the_sheet_of_racks) {
  Registry registry;
  auto sheets = load_all("site");
  sheets.pop_back();
  const auto plan = plan_import(registry, sheets);
  ASSERT_TRUE(plan.problems.empty()) << plan.problems[0].what;
  perform(registry, plan);
  EXPECT_EQ(registry.all<Rack>().size(), 2u);
}

}  // namespace
}  // namespace tundish::control
