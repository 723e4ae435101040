// examples/site describes the lab that `tundish lab up` starts, examples/site-flat the same one
// with --fabric flat; a lab that changes must change them too.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "codec/csv.hpp"
#include "lab/switch_plan.hpp"

namespace tundish::lab {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::string& file) {
  std::ifstream in(std::string(TUNDISH_SOURCE_DIR) + "/examples/" + file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto table = parse_csv(text);
  EXPECT_TRUE(table.has_value()) << file;
  std::vector<Row> out;
  if (!table) return out;
  for (const auto& row : table->rows) {
    Row cells;
    for (std::size_t i = 0; i < table->header.size(); ++i) cells[table->header[i]] = row.cells[i];
    out.push_back(std::move(cells));
  }
  return out;
}

/// The chosen columns of the rows for which `take` holds, joined by blanks.
template <class Take>
std::set<std::string> lines_of(const std::string& file, std::initializer_list<const char*> columns,
                               Take take) {
  std::set<std::string> out;
  for (auto& row : rows_of(file)) {
    if (!take(row)) continue;
    std::string line;
    for (const char* column : columns) line += row[column] + " ";
    EXPECT_TRUE(out.insert(line).second) << line;
  }
  return out;
}

TEST(Examples, devices_are_the_nodes_and_leaves_of_the_default_lab) {
  const LabSpec spec;
  std::set<std::string> wanted;
  for (const auto& node : hardware_of(spec)) {
    wanted.insert(node.name + " " + node.role + " " + (node.gpus > 0 ? "hgx-h100" : "") + " " +
                  node.serial + " " + node.rack + " " + node.bmc_mac + " " + node.bmc_address +
                  ":8000 " + node.oob_address + " " + node.ports[0].leaf + "  ");
  }
  int rack = 0;
  for (const auto& leaf : leaves_of(spec)) {
    ++rack;
    wanted.insert(leaf.name + " leaf   r0" + std::to_string(rack) + "     http://" + leaf.address +
                  ":8080 ");
  }
  const auto found = lines_of("site-flat/devices.csv",
                              {"name", "role", "device_type", "serial", "rack", "bmc_mac",
                               "bmc_address", "oob_address", "leaf_group", "management_url"},
                              [](const Row&) { return true; });
  EXPECT_EQ(found, wanted);
}

TEST(Examples, interfaces_and_cables_are_those_of_the_default_lab) {
  std::set<std::string> interfaces;
  std::set<std::string> cables;
  for (const auto& node : hardware_of(LabSpec{})) {
    interfaces.insert(node.name + " oob0 oob " + node.oob_mac + " ");
    for (const auto& port : node.ports) {
      interfaces.insert(node.name + " " + port.interface + " access " + port.mac + " ");
      interfaces.insert(port.leaf + " " + port.port + "   ");
      cables.insert(node.name + " " + port.interface + " " + port.leaf + " " + port.port + " ");
    }
  }
  const auto all = [](const Row&) { return true; };
  EXPECT_EQ(lines_of("site-flat/interfaces.csv", {"device", "name", "role", "mac_address"}, all),
            interfaces);
  EXPECT_EQ(lines_of("site-flat/cables.csv",
                     {"side_a_device", "side_a_name", "side_b_device", "side_b_name"}, all),
            cables);
}

TEST(Examples, the_sku_has_the_gpus_of_the_default_lab) {
  const LabSpec spec;
  const std::set<std::string> wanted = {"hgx-h100 NVIDIA H100 80GB HBM3 h100 " +
                                        std::to_string(spec.gpus) + " 8 8 1 2000 "};
  EXPECT_EQ(
      lines_of("site-flat/skus.csv",
               {"name", "gpu_model", "gres_type", "gpus", "nics", "cpus", "sockets", "memory_mib"},
               [](const Row&) { return true; }),
      wanted);
}

LabSpec frr_spec() {
  LabSpec spec;
  spec.fabric = FabricKind::frr;
  return spec;
}

TEST(Examples, switches_of_the_frr_lab_are_those_that_it_has) {
  std::set<std::string> wanted;
  for (const auto& plan : switches_of(frr_spec())) {
    wanted.insert(plan.name + " " + std::string(role_name(plan.role)) + " ssh://root@" +
                  plan.management + " frr_netns access " + std::to_string(plan.asn) + " " +
                  plan.loopback + " " + (plan.role == SwitchRole::leaf ? plan.loopback : "") + " ");
  }
  const auto found = lines_of(
      "site/devices.csv",
      {"name", "role", "management_url", "driver", "fabric", "asn", "router_id", "vtep_address"},
      [](Row& row) { return !row["driver"].empty(); });
  EXPECT_EQ(found, wanted);
}

TEST(Examples, nodes_of_the_frr_lab_are_those_of_the_default_lab) {
  const std::initializer_list<const char*> columns = {
      "name",     "role",    "device_type", "serial",      "rack",
      "position", "bmc_mac", "bmc_address", "oob_address", "leaf_group"};
  const auto is_node = [](Row& row) { return !row["serial"].empty(); };
  EXPECT_EQ(lines_of("site/devices.csv", columns, is_node),
            lines_of("site-flat/devices.csv", columns, is_node));
  EXPECT_EQ(lines_of("site/skus.csv", {"name", "gpus", "nics"}, [](Row&) { return true; }),
            std::set<std::string>{"hgx-h100 8 " + std::to_string(frr_spec().hcas) + " "});
}

TEST(Examples, interfaces_and_cables_of_the_frr_lab_are_those_that_it_has) {
  std::set<std::string> interfaces;
  std::set<std::string> cables;
  for (const auto& node : hardware_of(frr_spec())) {
    interfaces.insert(node.name + " oob0 oob " + node.oob_mac + "   ");
    int rail = 0;
    for (const auto& hca : node.hcas) {
      interfaces.insert(node.name + " " + hca.name + " east_west  " + std::to_string(rail++) + " " +
                        hca.guid + " ");
    }
    for (const auto& port : node.ports) {
      interfaces.insert(node.name + " " + port.interface + " access " + port.mac + "   ");
      cables.insert(node.name + " " + port.interface + " " + port.leaf + " " + port.port + " ");
    }
  }
  for (const auto& plan : boxes_of(frr_spec())) {
    for (const auto& port : plan.ports) interfaces.insert(plan.name + " " + port + "     ");
    for (const auto& link : plan.links) {
      interfaces.insert(plan.name + " " + link.port + "     ");
      if (plan.role != SwitchRole::leaf) continue;
      cables.insert(plan.name + " " + link.port + " " + link.peer + " " + link.peer_port + " ");
    }
  }
  const auto all = [](const Row&) { return true; };
  EXPECT_EQ(lines_of("site/interfaces.csv",
                     {"device", "name", "role", "mac_address", "rail", "guid"}, all),
            interfaces);
  EXPECT_EQ(lines_of("site/cables.csv",
                     {"side_a_device", "side_a_name", "side_b_device", "side_b_name"}, all),
            cables);
}

}  // namespace
}  // namespace tundish::lab
