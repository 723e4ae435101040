// examples/site describes the default lab; a lab that changes must change it too.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "codec/csv.hpp"
#include "lab/topology.hpp"

namespace tundish::lab {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::string& file) {
  std::ifstream in(std::string(TUNDISH_SOURCE_DIR) + "/examples/site/" + file, std::ios::binary);
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
  const LabSpec spec;  // its fabric is what `tundish lab up` starts: FRR leaves
  std::set<std::string> wanted;
  for (const auto& node : hardware_of(spec)) {
    wanted.insert(node.name + " " + node.role + " " + (node.gpus > 0 ? "hgx-h100" : "") + " " +
                  node.serial + " " + node.rack + " " + node.bmc_mac + " " + node.bmc_address +
                  ":8000 " + node.oob_address + " " + node.ports[0].leaf + "   ");
  }
  int rack = 0;
  for (const auto& leaf : leaves_of(spec)) {
    ++rack;
    wanted.insert(leaf.name + " leaf   r0" + std::to_string(rack) + "     ssh://root@" +
                  leaf.address + " frr_netns ");
  }
  const auto found = lines_of("devices.csv",
                              {"name", "role", "device_type", "serial", "rack", "bmc_mac",
                               "bmc_address", "oob_address", "leaf_group", "management_url",
                               "driver"},
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
  EXPECT_EQ(lines_of("interfaces.csv", {"device", "name", "role", "mac_address"}, all), interfaces);
  EXPECT_EQ(
      lines_of("cables.csv", {"side_a_device", "side_a_name", "side_b_device", "side_b_name"}, all),
      cables);
}

TEST(Examples, the_sku_has_the_gpus_of_the_default_lab) {
  const LabSpec spec;
  const std::set<std::string> wanted = {"hgx-h100 NVIDIA H100 80GB HBM3 h100 " +
                                        std::to_string(spec.gpus) + " 8 8 1 2000 "};
  EXPECT_EQ(
      lines_of("skus.csv",
               {"name", "gpu_model", "gres_type", "gpus", "nics", "cpus", "sockets", "memory_mib"},
               [](const Row&) { return true; }),
      wanted);
}

}  // namespace
}  // namespace tundish::lab
