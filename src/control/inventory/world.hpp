#pragma once
// The declared world as it would be after an import: the registry with the sheets laid over it.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/inventory/operations.hpp"
#include "control/inventory/table.hpp"
#include "model/registry.hpp"

namespace tundish::control::inventory {

template <class T, class Spec>
struct Entry {
  const T* before = nullptr;  ///< nullptr: new
  Spec spec;
  std::optional<RowRef> row;  ///< row that declares it in this import
};

struct NodeEntry : Entry<Node, NodeSpec> {
  std::map<std::string, RowRef> port_rows;
  bool is_retired() const { return before && before->status.phase == NodePhase::retired; }
};

struct SwitchEntry : Entry<Switch, SwitchSpec> {
  std::set<std::string> ports;  ///< listed in this import; empty: not known
};

struct CableEntry : Entry<Cable, CableSpec> {
  bool displaced = false;  ///< a row gave one of its ends to another cable
};

/// A rack that only device rows name.
inline bool is_implied(const Entry<Rack, RackSpec>& rack) {
  return rack.row && rack.row->table->kind == SheetKind::devices;
}

/// A device row as read; nullopt: no such column, or a problem was noted.
struct DeviceRow {
  RowRef at;
  std::optional<std::string> name, role, site, rack, sku, serial, bmc_mac, bmc_address, oob_address;
  std::optional<std::string> leaf_group, nvlink_domain, driver, management_url;
  std::optional<std::string> fabric, router_id, vtep_address, failure_side;
  std::optional<std::int64_t> asn;
  std::optional<int> position;
  bool rear = false;
};

using PortEnd = std::pair<std::string, std::string>;  ///< device, port

struct World {
  World(const Registry& registry, std::string import_scope);

  const Registry& view;
  std::string scope;
  std::set<std::string> sites_known;  ///< by the registry or a sheet of racks
  std::set<std::string> sites;        ///< that must exist after the import
  std::map<std::string, Entry<Rack, RackSpec>> racks;
  std::map<std::string, Entry<Sku, SkuSpec>> skus;
  std::map<std::string, SwitchEntry> switches;
  std::map<std::string, NodeEntry> nodes;  ///< by their name after the import
  std::map<std::string, CableEntry> cables;
  std::vector<Rename> renames;
  std::vector<DeviceRow> device_rows;
  std::map<std::string, RowRef> devices_mentioned;  ///< in a sheet, sound or not
  std::map<PortEnd, RowRef> ports_mentioned;
  std::set<PortEnd> ports_suggested;  ///< probably meant by rows whose device is at fault
  std::set<const Node*> disputed;     ///< a row claims their identity wrongly; blamed there
  std::set<SheetKind> kinds;          ///< that this import has sheets of

  std::vector<std::string> device_names() const;
  bool knows_device(const std::string& name) const;
};

/// Each lays the sheets of its kind over the world, in this order.
void add_skus(World& world, const SheetTable& table, Findings& findings);
void add_racks(World& world, const SheetTable& table, Findings& findings);
void add_devices(World& world, const SheetTable& table, Findings& findings);
void add_interfaces(World& world, const SheetTable& table, Findings& findings);
void add_cables(World& world, const SheetTable& table, Findings& findings);

/// What no row shows alone: values used twice, positions, references, identity.
void check_world(const World& world, Findings& findings);

/// Fills changes and operations.
void plan_changes(const World& world, ImportPlan& plan);

/// What the condition missing_from_import says of a node.
struct MissingParts {
  bool device = false;
  std::set<std::string> interfaces;
  std::set<std::string> cables;
};
MissingParts missing_parts(const Node& node);

/// "n01:eth0": the cable is named after its end at a node, else after the first of its ends.
std::string cable_name(const World& world, const CableSpec& spec);

/// A name such as node-12 would be taken for an id of ours, and an act would meet another object.
bool looks_like_id(std::string_view name);

}  // namespace tundish::control::inventory
