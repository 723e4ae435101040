#include "control/inventory/import.hpp"

#include <ctime>

#include "control/inventory/export.hpp"
#include "control/inventory/sheets_for_test.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control::inventory {
namespace {

const char* const skus = "name,gpu_model,gres_type,gpus,cpus\nhgx,NVIDIA H100,h100,8,8\n";
const char* const racks = "site,name,u_height\nlab,r01,48\n";
const char* const device_heading = "name,role,device_type,serial,site,rack,position,bmc_mac\n";
const char* const n01 = "n01,gpu,hgx,S1,lab,r01,1,02:00:00:00:00:01\n";
const char* const n02 = "n02,gpu,hgx,S2,lab,r01,9,02:00:00:00:00:02\n";
const char* const leaf = "leaf1,leaf,,,lab,r01,,\n";
const char* const ports =
    "device,name,mac_address\nn01,eth0,02:00:00:00:01:01\nn02,eth0,02:00:00:00:01:02\n";
const char* const cable_heading = "side_a_device,side_a_name,side_b_device,side_b_name\n";

std::string text(std::initializer_list<const char*> parts) {
  std::string out;
  for (const char* part : parts) out += part;
  return out;
}

std::vector<Sheet> base_sheets() {
  return {sheet_of("skus.csv", skus), sheet_of("racks.csv", racks),
          sheet_of("devices.csv", text({device_heading, n01, n02, leaf})),
          sheet_of("interfaces.csv", ports),
          sheet_of("cables.csv",
                   text({cable_heading, "n01,eth0,leaf1,swp1\n", "leaf1,swp2,n02,eth0\n"}))};
}

class Import : public testing::Test {
 protected:
  ImportPlan import(const std::vector<Sheet>& sheets, const ImportOptions& options = {}) {
    ImportPlan plan = plan_import(registry, sheets, options);
    apply(registry, plan);
    return plan;
  }
  ImportPlan import_devices(std::initializer_list<const char*> rows) {
    std::string all = device_heading;
    for (const char* row : rows) all += row;
    return import({sheet_of("devices.csv", all)});
  }
  void SetUp() override {
    const auto plan = import(base_sheets());
    ASSERT_EQ(problems_of(plan), "");
    ASSERT_EQ(registry.all<Node>().size(), 2u);
  }
  void change(Node node) {
    Txn txn(registry, Instant{2}, "test");
    txn.put(std::move(node));
  }
  Registry registry;
};

/// Empty cells to look above, names to look like, racks and SKUs that are not there.
std::string bad_devices(int rows) {
  std::string all = device_heading;
  for (int i = 0; i < rows; ++i) {
    all += "bad" + std::to_string(i) + ",gpuu,hgq,,,r77" + std::to_string(i) + ",x,zz\n";
  }
  return all;
}

std::string bad_ports(int rows) {
  std::string all = "device,name,mac_address\n";
  for (int i = 0; i < rows; ++i) all += "bda" + std::to_string(i) + ",,nonsense\n";
  return all;
}

TEST_F(Import, a_sheet_of_nothing_but_mistakes_costs_no_more_than_it_tells) {
  const auto spent = [&](int rows) {
    const std::clock_t begin = std::clock();
    const auto plan = import(
        {sheet_of("devices.csv", bad_devices(rows)), sheet_of("interfaces.csv", bad_ports(rows))});
    const std::clock_t end = std::clock();
    EXPECT_EQ(plan.problems.size(), 1000u);
    EXPECT_GT(plan.more_problems, 5 * rows);
    EXPECT_TRUE(plan.operations.empty());
    return static_cast<double>(end - begin) / CLOCKS_PER_SEC;
  };
  const double small = spent(5000);
  const double large = spent(40000);
  EXPECT_LT(large, 8 * small * 2 + 0.5) << "eight times the rows, " << small << " s at first";
}

TEST_F(Import, a_sheet_that_is_a_little_wrong_is_told_as_a_whole) {
  const auto plan = import({sheet_of("devices.csv", bad_devices(100))});
  EXPECT_LT(plan.problems.size(), 1000u);
  EXPECT_EQ(plan.more_problems, 0);
}

TEST_F(Import, a_second_run_changes_nothing) {
  const auto plan = import(base_sheets());
  EXPECT_EQ(problems_of(plan), "");
  EXPECT_TRUE(plan.operations.empty());
  for (const auto& change : plan.changes)
    EXPECT_EQ(change.verb, ImportVerb::unchanged) << change.name;
  EXPECT_EQ(plan.scope, "lab");
}

TEST_F(Import, cables_set_the_far_ends_of_ports_whatever_the_order_of_the_sides) {
  const Node& node = node_named(registry, "n02");
  ASSERT_EQ(node.spec.ports.size(), 1u);
  EXPECT_EQ(node.spec.ports[0].switch_name, "leaf1");
  EXPECT_EQ(node.spec.ports[0].switch_port, "swp2");
  EXPECT_NE(registry.find_named<Cable>("n02:eth0"), nullptr);
}

TEST_F(Import, a_missing_row_is_a_condition_and_is_cleared_when_it_is_back) {
  auto plan = import_devices({n01, leaf});
  ASSERT_EQ(problems_of(plan), "");
  const Condition* missing = find_condition(node_named(registry, "n02"), "missing_from_import");
  ASSERT_NE(missing, nullptr);
  EXPECT_EQ(missing->state, Truth::yes);
  EXPECT_EQ(node_named(registry, "n02").status.phase, NodePhase::expected);
  EXPECT_TRUE(import_devices({n01, leaf}).operations.empty());
  import_devices({n01, n02, leaf});
  EXPECT_EQ(find_condition(node_named(registry, "n02"), "missing_from_import"), nullptr);
}

TEST_F(Import, another_scope_judges_no_foreign_rows_and_takes_none) {
  auto plan = import({sheet_of("devices.csv", text({device_heading, n01}))}, {"other"});
  ASSERT_EQ(plan.problems.size(), 1u);
  EXPECT_NE(plan.problems[0].what.find("scope lab"), std::string::npos);
  plan = import({sheet_of("devices.csv",
                          text({device_heading, "n05,gpu,hgx,S5,lab,r01,20,02:00:00:00:00:05\n"}))},
                {"other"});
  ASSERT_EQ(problems_of(plan), "");
  EXPECT_EQ(find_condition(node_named(registry, "n02"), "missing_from_import"), nullptr);
}

TEST_F(Import, the_same_mac_with_a_new_name_is_a_rename_and_its_cable_follows) {
  const NodeId id = node_named(registry, "n01").id;
  const auto plan = import_devices({"x01,gpu,hgx,S1,lab,r01,1,02-00-00-00-00-01\n", n02, leaf});
  ASSERT_EQ(problems_of(plan), "");
  EXPECT_EQ(node_named(registry, "x01").id, id);
  const Cable* cable = registry.find_named<Cable>("x01:eth0");
  ASSERT_NE(cable, nullptr);
  EXPECT_EQ(cable->spec.side_a_device, "x01");
  EXPECT_EQ(registry.find_named<Node>("n01"), nullptr);
}

TEST_F(Import, an_allocated_node_is_not_renamed) {
  Node node = node_named(registry, "n01");
  node.status.allocation = AllocationId("allocation-9");
  change(node);
  const auto plan = import_devices({"x01,gpu,hgx,S1,lab,r01,1,020000000001\n", n02, leaf});
  ASSERT_EQ(plan.problems.size(), 1u) << problems_of(plan);
  EXPECT_NE(plan.problems[0].what.find("allocation-9"), std::string::npos);
}

TEST_F(Import, the_same_name_with_another_mac_points_to_node_confirm) {
  const auto plan = import_devices({"n01,gpu,hgx,S1,lab,r01,1,02:00:00:00:00:99\n", n02, leaf});
  ASSERT_EQ(plan.problems.size(), 1u) << problems_of(plan);
  EXPECT_EQ(plan.problems[0].row, 2);
  EXPECT_EQ(plan.problems[0].column, "bmc_mac");
  EXPECT_NE(plan.problems[0].remedy.find("tundish node confirm n01"), std::string::npos);
  EXPECT_TRUE(plan.operations.empty());
}

TEST_F(Import, macs_mixed_up_between_two_rows_rename_nothing) {
  const auto plan = import_devices({"n01,gpu,hgx,S1,lab,r01,1,02:00:00:00:00:02\n",
                                    "n02,gpu,hgx,S2,lab,r01,9,02:00:00:00:00:01\n", leaf});
  EXPECT_EQ(plan.problems.size(), 2u) << problems_of(plan);
}

TEST_F(Import, a_board_swap_waits_for_confirmation) {
  Node node = node_named(registry, "n01");
  node.status.hardware.serial = "NEW";
  node.status.hardware.at = Instant{5};
  node.status.conditions.push_back({"board_swap", Truth::yes, "serial is NEW", Instant{5}});
  change(node);
  const char* const swapped = "n01,gpu,hgx,NEW,lab,r01,1,02:00:00:00:00:01\n";
  auto plan = import_devices({swapped, n02, leaf});
  ASSERT_EQ(plan.problems.size(), 1u) << problems_of(plan);
  EXPECT_NE(plan.problems[0].remedy.find("tundish node confirm n01"), std::string::npos);
  Txn txn(registry, Instant{6}, "test");
  ASSERT_TRUE(confirm_board(node.id)->perform(txn).has_value());
  plan = import_devices({swapped, n02, leaf});
  EXPECT_EQ(problems_of(plan), "");
  EXPECT_TRUE(plan.operations.empty());
}

TEST_F(Import, a_typing_error_in_a_serial_is_corrected_by_the_next_sheet) {
  const char* const typo = "n01,gpu,hgx,S1X,lab,r01,1,02:00:00:00:00:01\n";
  ASSERT_EQ(problems_of(import_devices({typo, n02, leaf})), "");
  const NodeId id = node_named(registry, "n01").id;
  const auto see = [&](const std::string& serial) {
    ObservedHardware seen;
    seen.serial = serial;
    Txn txn(registry, Instant{5}, "test");
    ASSERT_TRUE(record_hardware(id, seen)->perform(txn).has_value());
    ASSERT_TRUE(set_condition(id, "board_swap", Truth::yes, "serial is " + serial)
                    ->perform(txn)
                    .has_value());
  };
  see("S1");
  EXPECT_EQ(problems_of(import_devices({n01, n02, leaf})), "");
  EXPECT_EQ(node_named(registry, "n01").spec.serial, "S1");
  // From here on it is known which board belongs there: another one is a swap.
  see("S9");
  const auto plan = import_devices({"n01,gpu,hgx,S9,lab,r01,1,02:00:00:00:00:01\n", n02, leaf});
  ASSERT_EQ(plan.problems.size(), 1u) << problems_of(plan);
  EXPECT_NE(plan.problems[0].remedy.find("tundish node confirm n01"), std::string::npos);
  Txn txn(registry, Instant{6}, "test");
  ASSERT_TRUE(confirm_board(id)->perform(txn).has_value());
  EXPECT_EQ(node_named(registry, "n01").status.accepted_serial, "S9");
}

TEST_F(Import, drift_is_shown_and_observed_fields_never_written) {
  Node node = node_named(registry, "n01");
  node.status.hardware.serial = "SEEN";
  node.status.hardware.at = Instant{5};
  change(node);
  const auto lines = diff_inventory(registry, base_sheets());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("observed node n01 drift: serial is SEEN"), std::string::npos);
  EXPECT_TRUE(import(base_sheets()).operations.empty());
  EXPECT_EQ(node_named(registry, "n01").spec.serial, "S1");
  EXPECT_EQ(node_named(registry, "n01").status.hardware.serial, "SEEN");
}

TEST_F(Import, a_heading_that_is_absent_leaves_the_declared_value) {
  const auto plan =
      import({sheet_of("devices.csv", "Name;,ROLE,site\n"),
              sheet_of("d.csv", "Name,ROLE, Site \nn01,gpu,lab\nn02,GPU,lab\nleaf1,leaf,lab\n")});
  EXPECT_EQ(plan.problems.size(), 1u) << problems_of(plan);  // the first file has no rows
  const auto second =
      import({sheet_of("d.csv", "Name,ROLE, Site \nn01,gpu,lab\nn02,GPU,lab\nleaf1,leaf,lab\n")});
  EXPECT_EQ(problems_of(second), "");
  EXPECT_TRUE(second.operations.empty());
}

TEST_F(Import, moved_cables_free_their_ends_and_a_taken_end_displaces_the_old_cable) {
  auto plan = import({sheet_of("cables.csv", text({cable_heading, "n01,eth0,leaf1,swp2\n"}))});
  ASSERT_EQ(problems_of(plan), "");
  EXPECT_EQ(node_named(registry, "n01").spec.ports[0].switch_port, "swp2");
  EXPECT_EQ(node_named(registry, "n02").spec.ports[0].switch_name, "");
  EXPECT_EQ(registry.find_named<Cable>("n02:eth0"), nullptr);
  plan = import({sheet_of("cables.csv", text({cable_heading, "n01,eth0,leaf1,swp2\n"}))});
  EXPECT_TRUE(plan.operations.empty());
}

TEST_F(Import, a_retired_node_is_not_brought_back) {
  const NodeId id = node_named(registry, "n02").id;
  Txn txn(registry, Instant{3}, "test");
  ASSERT_TRUE(retire_node(id)->perform(txn).has_value());
  EXPECT_TRUE(import(base_sheets()).operations.empty());
  const auto plan = import_devices({n01, "n02,gpu,hgx,S9,lab,r01,9,02:00:00:00:00:09\n", leaf});
  ASSERT_EQ(plan.problems.size(), 1u);
  EXPECT_NE(plan.problems[0].what.find("retired"), std::string::npos);
}

struct Mistake {
  const char* what;  ///< part of the message
  const char* row;   ///< device row added as row 5
  const char* column;
};

class DeviceMistake : public testing::TestWithParam<Mistake> {};

TEST_P(DeviceMistake, is_named_with_its_cell_and_stops_everything) {
  Registry registry;
  const auto& mistake = GetParam();
  const auto plan = plan_import(
      registry, {sheet_of("skus.csv", skus), sheet_of("racks.csv", racks),
                 sheet_of("devices.csv", text({device_heading, n01, n02, leaf, mistake.row}))});
  ASSERT_EQ(plan.problems.size(), 1u) << problems_of(plan);
  EXPECT_EQ(plan.problems[0].file, "devices.csv");
  EXPECT_EQ(plan.problems[0].row, 5);
  EXPECT_EQ(plan.problems[0].column, mistake.column);
  EXPECT_NE(plan.problems[0].what.find(mistake.what), std::string::npos) << plan.problems[0].what;
  EXPECT_FALSE(plan.problems[0].remedy.empty());
  EXPECT_TRUE(plan.operations.empty());
  EXPECT_TRUE(plan.changes.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, DeviceMistake,
    testing::Values(
        Mistake{"twice", "N01,gpu,hgx,S5,lab,r01,20,02:00:00:00:00:05", "name"},
        Mistake{"devices.csv row 2", "n05,gpu,hgx,s1,lab,r01,20,02:00:00:00:00:05", "serial"},
        Mistake{"devices.csv row 3", "n05,gpu,hgx,S5,lab,r01,20,0200.0000.0002", "bmc_mac"},
        Mistake{"this place", "n05,gpu,hgx,S5,lab,r01,9,02:00:00:00:00:05", "position"},
        Mistake{"48 units", "n05,gpu,hgx,S5,lab,r01,60,02:00:00:00:00:05", "position"},
        Mistake{"whole number", "n05,gpu,hgx,S5,lab,r01,1.5,02:00:00:00:00:05", "position"},
        Mistake{"no rack", "n05,gpu,hgx,S5,lab,r09,20,02:00:00:00:00:05", "rack"},
        Mistake{"without a rack", "n05,gpu,hgx,S5,lab,,20,02:00:00:00:00:05", "rack"},
        Mistake{"no site", "n05,gpu,hgx,S5,lub,,,02:00:00:00:00:05", "site"},
        Mistake{"no SKU", "n05,gpu,hgy,S5,lab,r01,20,02:00:00:00:00:05", "device_type"},
        Mistake{"needs its SKU", "n05,gpu,,S5,lab,r01,20,02:00:00:00:00:05", "device_type"},
        Mistake{"needs the MAC", "n05,gpu,hgx,S5,lab,r01,20,", "bmc_mac"},
        Mistake{"empty", ",gpu,hgx,S5,lab,r01,20,02:00:00:00:00:05", "name"},
        Mistake{"unknown role", "n05,gpus,hgx,S5,lab,r01,20,02:00:00:00:00:05", "role"},
        Mistake{"form of our ids", "node-5,gpu,hgx,S5,lab,r01,20,02:00:00:00:00:05", "name"},
        Mistake{"character", "n 05,gpu,hgx,S5,lab,r01,20,02:00:00:00:00:05", "name"},
        Mistake{"right of the last", "n05,gpu,hgx,S5,lab,r01,20,02:00:00:00:00:05,x", ""},
        Mistake{"error", "n05,gpu,hgx,#REF!,lab,r01,20,02:00:00:00:00:05", "serial"}));

TEST(ImportSheets, headings_are_judged) {
  Registry registry;
  const auto problem = [&](const Sheet& sheet) {
    return problems_of(plan_import(registry, {sheet}));
  };
  EXPECT_EQ(problem(sheet_of("d.csv", "name,role,site,seriel\nsvc,service,lab,1\n")),
            "d.csv:1:seriel: unknown heading in a sheet of devices\n");
  EXPECT_EQ(problem(sheet_of("d.csv", "name,role,site,NAME\nsvc,service,lab,1\n")),
            "d.csv:1:NAME: the heading stands twice (column 1 and 4)\n");
  EXPECT_EQ(problem(sheet_of("d.csv", "colour,taste\nred,sweet\n")),
            "d.csv:0:: the headings fit no kind of sheet\n");
  EXPECT_EQ(problem(sheet_of("d.csv", "name,role,serial,rack\nsvc,service,1,r1\n")),
            "d.csv:1:site: a sheet of devices needs this heading\n");
  EXPECT_EQ(problem(sheet_of("d.csv", "name,role,site\n")), "d.csv:0:: the file has no rows\n");
  Sheet broken;
  broken.file = "d.csv";
  broken.unreadable = "row 3: the quote is never closed";
  EXPECT_EQ(problem(broken), "d.csv:0:: row 3: the quote is never closed\n");
}

TEST(ImportSheets, two_sheets_of_a_kind_are_refused_and_duplicates_across_them_named) {
  Registry registry;
  const auto plan = plan_import(registry, {sheet_of("a.csv", "name,role,site\nsvc,service,lab\n"),
                                           sheet_of("b.csv", "name,role,site\nsvc,service,lab\n")});
  EXPECT_EQ(problems_of(plan),
            "b.csv:0:: a second sheet of devices, beside a.csv\n"
            "b.csv:2:name: the name stands twice; first in a.csv row 2\n");
}

TEST(ImportSheets, lost_zeros_are_seen_beside_serials_that_kept_theirs) {
  Registry registry;
  const auto plan =
      plan_import(registry, {sheet_of("d.csv",
                                      "name,role,site,serial\na1,service,lab,0012345\n"
                                      "a2,login,lab,12346\n")});
  ASSERT_EQ(plan.problems.size(), 1u);
  EXPECT_EQ(plan.problems[0].row, 3);
  EXPECT_NE(plan.problems[0].what.find("leading zeros"), std::string::npos);
}

TEST(ImportSheets, a_name_of_another_site_is_refused) {
  Registry registry;
  apply(registry, plan_import(registry, {sheet_of("d.csv", "name,role,site\nsvc,service,east\n")}));
  const auto plan =
      plan_import(registry, {sheet_of("r.csv", "site,name,u_height\nwest,w1,48\n"),
                             sheet_of("d.csv", "name,role,site\nsvc,service,west\n")});
  ASSERT_EQ(plan.problems.size(), 1u) << problems_of(plan);
  EXPECT_NE(plan.problems[0].remedy.find("west-svc"), std::string::npos);
}

TEST_F(Import, what_a_fabric_is_driven_by_is_declared_with_its_switches_and_ports) {
  const auto plan = import(
      {sheet_of("devices.csv",
                "name,role,site,rack,driver,management_url,fabric,asn,router_id,vtep_address,"
                "failure_side\n"
                "leaf1,leaf,lab,r01,frr_netns,ssh://root@10.88.2.1,access,65001,10.255.0.1,"
                "10.255.0.1,a\n"),
       sheet_of("interfaces.csv",
                "device,name,role,guid,rail\n"
                "n01,mlx5_0,east_west,0002:c903:0100:0101,0\n")});
  ASSERT_EQ(problems_of(plan), "");
  const auto& spec = registry.find_named<Switch>("leaf1")->spec;
  EXPECT_EQ(spec.driver + " " + spec.management_url, "frr_netns ssh://root@10.88.2.1");
  EXPECT_EQ(spec.fabric + " " + spec.router_id + " " + spec.vtep_address,
            "access 10.255.0.1 10.255.0.1");
  EXPECT_EQ(spec.asn, 65001);
  EXPECT_EQ(spec.failure_side, "a");
  const Port& port = registry.find_named<Node>("n01")->spec.ports.back();
  EXPECT_EQ(port.name + " " + port.guid, "mlx5_0 0x0002c90301000101");
  EXPECT_EQ(port.role, PortRole::east_west);
}

TEST_F(Import, a_guid_and_a_router_id_belong_to_one_owner) {
  const auto plan = import({sheet_of("devices.csv",
                                     "name,role,site,asn,router_id\nleaf1,leaf,lab,0,10.255.0.1\n"
                                     "leaf2,leaf,lab,65002,10.255.0.1\n"),
                            sheet_of("interfaces.csv",
                                     "device,name,guid\nn01,mlx5_0,0x0002c90301000101\n"
                                     "n02,mlx5_0,0002:c903:0100:0101\nn02,mlx5_1,0x12\n")});
  const std::string problems = problems_of(plan);
  for (const char* part : {"this router id is used twice", "this GUID is used twice",
                           "not a GUID of 16 hex digits", "asn"}) {
    EXPECT_NE(problems.find(part), std::string::npos) << part << " in " << problems;
  }
  EXPECT_TRUE(plan.operations.empty());
}

}  // namespace
}  // namespace tundish::control::inventory
