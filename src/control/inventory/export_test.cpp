#include "control/inventory/export.hpp"

#include <cstdio>
#include <random>

#include "control/inventory/sheets_for_test.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control::inventory {
namespace {

/// Uniform enough for small bounds, and the same on every standard library.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  int below(int bound) { return static_cast<int>(engine_() % static_cast<unsigned>(bound)); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

std::string mac(int group, int index) {
  char text[18];
  std::snprintf(text, sizeof text, "02:00:%02x:00:%02x:%02x", group & 0xff, (index >> 8) & 0xff,
                index & 0xff);
  return text;
}

/// A sound registry: an import of drawn sheets, as operators get theirs.
std::vector<Sheet> draw_sheets(Draw& draw) {
  const int count = 1 + draw.below(12);
  std::string devices =
      "name,role,device_type,serial,site,rack,position,bmc_mac,bmc_address,oob_address,leaf_group,"
      "nvlink_domain,management_url,fabric,asn,router_id,vtep_address,failure_side\n"
      "leaf1,leaf,,,lab,r0,,,,,,," +
      std::string(draw.one_in(2) ? "http://10.9.0.1:80,,,,,\n"
                                 : "ssh://root@10.9.0.1,access,65001,10.255.0.1,10.255.0.1,b\n");
  std::string interfaces = "device,name,role,mac_address,rail,guid\n";
  std::string cables = "side_a_device,side_a_name,side_b_device,side_b_name\n";
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    const bool gpu = !draw.one_in(4);
    devices += "n" + n + "," +
               (gpu              ? "gpu,hgx"
                : draw.one_in(2) ? "login,"
                                 : "service,") +
               "," + (draw.one_in(3) ? "" : "S" + n) + ",lab,r0," +
               (draw.one_in(3) ? "" : std::to_string(1 + i)) + "," + mac(1, i) + ",10.1.0." +
               std::to_string(i + 1) + ":8000," +
               (draw.one_in(3) ? "" : "10.2.0." + std::to_string(i + 1)) + "," +
               (draw.one_in(2) ? "leaf1" : "") + "," + (draw.one_in(5) ? "d1" : "") + ",,,,,,\n";
    const int ports = draw.below(4);
    for (int k = 0; k < ports; ++k) {
      static const char* const roles[] = {"", "access", "east_west", "storage", "oob"};
      interfaces += "n" + n + ",eth" + std::to_string(k) + "," + roles[draw.below(5)] + "," +
                    (draw.one_in(4) ? "" : mac(2 + k, i)) + "," +
                    (draw.one_in(2) ? "" : std::to_string(draw.below(8))) + "," +
                    (draw.one_in(2) ? "" : "0x0002c9030100" + std::to_string(1000 + 10 * i + k)) +
                    "\n";
      if (draw.one_in(3)) continue;
      const std::string node_end = "n" + n + ",eth" + std::to_string(k);
      const std::string far = "leaf1,swp" + std::to_string(4 * i + k);
      cables += (draw.one_in(2) ? node_end + "," + far : far + "," + node_end) + "\n";
    }
  }
  std::vector<Sheet> out = {
      sheet_of("skus.csv", "name,gpu_model,gres_type,gpus,cpus\nhgx,NVIDIA H100,h100,8,8\n"),
      sheet_of("racks.csv", "site,name,u_height\nlab,r0,48\n"), sheet_of("devices.csv", devices)};
  if (interfaces.find('\n') + 1 < interfaces.size()) {
    out.push_back(sheet_of("interfaces.csv", interfaces));
  }
  if (cables.find('\n') + 1 < cables.size()) out.push_back(sheet_of("cables.csv", cables));
  return out;
}

void drop_rows(Draw& draw, std::vector<Sheet>& sheets) {
  for (auto& sheet : sheets) {
    if (sheet.rows.size() > 1 && draw.one_in(2)) {
      sheet.rows.erase(sheet.rows.begin() + draw.below(static_cast<int>(sheet.rows.size())));
    }
  }
}

TEST(Export, export_then_import_changes_nothing) {
  int registries = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    Registry registry;
    auto sheets = draw_sheets(draw);
    const auto first = plan_import(registry, sheets);
    ASSERT_EQ(problems_of(first), "") << "seed " << seed;
    apply(registry, first);
    drop_rows(draw, sheets);  // then some rows are missing and conditions stand
    const auto second = plan_import(registry, sheets);
    if (second.problems.empty()) apply(registry, second);
    const auto exported = export_inventory(registry, "lab");
    if (exported.empty()) continue;
    ++registries;
    const auto plan = plan_import(registry, exported, {"lab"});
    ASSERT_EQ(problems_of(plan), "") << "seed " << seed;
    for (const auto& operation : plan.operations) {
      ADD_FAILURE() << "seed " << seed << ": " << operation->name() << " " << operation->object();
    }
  }
  EXPECT_EQ(registries, 200);
}

TEST(Export, mutated_cells_give_problems_or_operations_that_all_succeed) {
  static const char* const junk[] = {"",
                                     " ",
                                     "1E+10",
                                     "N/A",
                                     "#REF!",
                                     "n1",
                                     "leaf1",
                                     "eth0",
                                     "lab",
                                     "02:00:01:00:00:01",
                                     "020001000002",
                                     "10.1.0.2",
                                     "-1",
                                     "49",
                                     "gpu",
                                     "leaf",
                                     "\xc2\xa0n2",
                                     "node-1",
                                     "swp1",
                                     "Mar-24"};
  int with_problems = 0;
  int with_operations = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    Registry registry;
    auto sheets = draw_sheets(draw);
    if (draw.one_in(2)) apply(registry, plan_import(registry, sheets));
    for (int edits = 1 + draw.below(3); edits > 0; --edits) {
      auto& sheet = sheets[static_cast<std::size_t>(draw.below(static_cast<int>(sheets.size())))];
      const int row = draw.below(static_cast<int>(sheet.rows.size()) + 1);
      auto& cells = row == 0 ? sheet.header : sheet.rows[static_cast<std::size_t>(row - 1)].cells;
      cells[static_cast<std::size_t>(draw.below(static_cast<int>(cells.size())))] =
          junk[draw.below(static_cast<int>(std::size(junk)))];
    }
    const auto plan = plan_import(registry, sheets);
    ASSERT_TRUE(plan.problems.empty() || plan.operations.empty()) << "seed " << seed;
    ASSERT_TRUE(plan.problems.empty() || plan.changes.empty()) << "seed " << seed;
    if (!plan.problems.empty()) {
      ++with_problems;
      for (const auto& problem : plan.problems) EXPECT_FALSE(problem.what.empty());
      continue;
    }
    if (!plan.operations.empty()) ++with_operations;
    apply(registry, plan);
    const auto again = plan_import(registry, sheets);
    ASSERT_EQ(problems_of(again), "") << "seed " << seed;
    for (const auto& operation : again.operations) {
      ADD_FAILURE() << "seed " << seed << ": " << operation->name() << " " << operation->object();
    }
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(with_problems, 500);
  EXPECT_GT(with_operations, 100);
}

TEST(Export, a_retired_node_and_what_is_missing_are_left_out) {
  Registry registry;
  const std::string heading = "name,role,site\n";
  apply(registry, plan_import(registry, {sheet_of("d.csv", heading + "a,service,lab\n")}));
  const NodeId id = node_named(registry, "a").id;
  EXPECT_EQ(export_inventory(registry, "").size(), 1u);
  Txn txn(registry, Instant{3}, "test");
  ASSERT_TRUE(retire_node(id)->perform(txn).has_value());
  EXPECT_TRUE(export_inventory(registry, "").empty());
}

}  // namespace
}  // namespace tundish::control::inventory
