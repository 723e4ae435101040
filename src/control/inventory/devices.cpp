// Rows of devices: nodes and switches, and which known object a row means.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "control/inventory/world.hpp"

namespace tundish::control::inventory {
namespace {

constexpr std::int64_t asn_max = 4294967294;  // RFC 7300 keeps the last one
const std::vector<std::string> switch_roles = {"leaf", "spine", "core", "storage"};

std::optional<NodeRole> node_role(const std::string& text) {
  const auto names = enum_names(NodeRole{});
  const auto it = std::find(names.begin(), names.end(), text);
  if (it == names.end()) return std::nullopt;
  return static_cast<NodeRole>(it - names.begin());
}

bool is_switch_role(const std::string& text) {
  return std::find(switch_roles.begin(), switch_roles.end(), text) != switch_roles.end();
}

void read_role(const Cells& cells, DeviceRow& row) {
  const auto text = cells.require("role", read_words);
  if (!text) return;
  const std::string role = to_lower(*text);
  if (node_role(role) || is_switch_role(role)) {
    row.role = role;
    return;
  }
  std::vector<std::string> known = switch_roles;
  for (const auto name : enum_names(NodeRole{})) known.emplace_back(name);
  const std::string near = cells.hint(role, [&] { return known; });
  cells.blame({"role", "unknown role; known are " + join(known, ", "),
               near.empty() ? "choose one of them" : "did you mean " + near + "?"});
}

void read_place(const Cells& cells, DeviceRow& row) {
  row.site = cells.require("site", read_name);
  row.rack = cells.read("rack", read_name);
  if (cells.has("position") && cells.text("position").empty()) {
    row.position = 0;
  } else if (const auto position = cells.integer("position", {1, 100})) {
    row.position = static_cast<int>(*position);
  }
  const std::string face = to_lower(cells.text("face"));
  row.rear = face == "rear";
  if (!face.empty() && face != "front" && face != "rear") {
    cells.blame({"face", "a face is front or rear", "write one of them, or nothing"});
  }
}

DeviceRow read_device(const Cells& cells) {
  cells.check_row();
  DeviceRow row;
  row.at = cells.at();
  row.name = cells.require("name", read_name);
  if (row.name && looks_like_id(*row.name)) {
    cells.blame({"name", "the name has the form of our ids; an act could meet another object",
                 "choose another name, for example without the dash"});
  }
  read_role(cells, row);
  read_place(cells, row);
  row.sku = cells.read("device_type", read_words);
  row.serial = cells.read("serial", read_serial);
  row.bmc_mac = cells.read("bmc_mac", read_mac);
  row.bmc_address = cells.read("bmc_address", read_endpoint);
  row.oob_address = cells.read("oob_address", read_ipv4);
  row.leaf_group = cells.read("leaf_group", read_name);
  row.nvlink_domain = cells.read("nvlink_domain", read_name);
  row.driver = cells.read("driver", read_name);
  row.management_url = cells.read("management_url", read_url);
  row.fabric = cells.read("fabric", read_name);
  row.asn = cells.integer("asn", {1, asn_max});
  row.router_id = cells.read("router_id", read_ipv4);
  row.vtep_address = cells.read("vtep_address", read_ipv4);
  row.failure_side = cells.read("failure_side", read_name);
  return row;
}

template <class T>
void take(const std::optional<T>& value, T& target) {
  if (value) target = *value;
}

/// Another import must not lose its objects to this one by accident.
bool is_foreign(const Cells& cells, const std::string& owner, const World& world) {
  if (owner.empty() || owner == world.scope) return false;
  cells.blame({"name", "the device is declared by the import scope " + owner,
               "import it with --scope " + owner});
  return true;
}

Blame other_site(const std::string& name, const std::string& there, const std::string& here) {
  return {"name", "a device of this name is at site " + there,
          "names are unique over sites: write " + here + "-" + name};
}

class Devices {
 public:
  /// `earlier`: rows of sheets taken before.
  Devices(World& world, std::size_t earlier, Findings& findings)
      : world_(world), findings_(findings) {
    for (std::size_t i = 0; i < earlier; ++i) {
      const auto& row = world.device_rows[i];
      if (row.name) seen_.emplace(to_lower(*row.name), row);
    }
    for (const auto& [id, node] : world.view.all<Node>()) {
      by_name_[node.meta.name] = &node;
      if (!node.spec.bmc_mac.empty()) by_mac_[node.spec.bmc_mac] = &node;
      known_names_[to_lower(node.meta.name)] = node.meta.name;
    }
    for (const auto& [id, found] : world.view.all<Switch>()) {
      known_names_[to_lower(found.meta.name)] = found.meta.name;
      switch_names_.insert(found.meta.name);
    }
  }

  void take_row(const DeviceRow& row) {
    if (!row.name) return;
    const Cells cells(row.at, findings_);
    if (is_second(cells, row)) return;
    if (!row.role || !row.site) return;
    if (const auto role = node_role(*row.role)) {
      take_node(cells, row, *role);
    } else {
      take_switch(cells, row);
    }
  }

 private:
  bool is_second(const Cells& cells, const DeviceRow& row) {
    const std::string key = to_lower(*row.name);
    const auto [it, is_first] = seen_.emplace(key, row);
    if (is_first) return false;
    const auto& first = it->second;
    std::string what = "the name stands twice; first in " + Cells(first.at, findings_).place();
    std::string remedy = "give one of the devices another name, or delete the row";
    if (first.site && row.site && *first.site != *row.site) {
      what += ", at site " + *first.site;
      remedy = "names are unique over sites: write " + *row.site + "-" + *row.name;
    }
    cells.blame({"name", std::move(what), std::move(remedy)});
    return true;
  }

  bool differs_in_case_only(const Cells& cells, const DeviceRow& row) {
    const auto it = known_names_.find(to_lower(*row.name));
    if (it == known_names_.end() || it->second == *row.name) return false;
    cells.blame({"name", "the registry writes this name " + it->second, "write it the same way"});
    return true;
  }

  /// The known node that the row means; nullptr: a new one. False: a problem was noted, or the row
  /// is not used.
  bool identify(const Cells& cells, const DeviceRow& row, const Node*& out) {
    const std::string mac = row.bmc_mac.value_or("");
    const auto named = by_name_.find(*row.name);
    const Node* by_name = named == by_name_.end() ? nullptr : named->second;
    const auto known = by_mac_.find(mac);
    if (!mac.empty() && known != by_mac_.end()) {
      out = known->second;
      return may_rename(cells, row, *out, by_name);
    }
    out = by_name;
    return !by_name || may_update(cells, row, *by_name);
  }

  bool may_rename(const Cells& cells, const DeviceRow& row, const Node& node, const Node* by_name) {
    if (node.status.phase == NodePhase::retired) {
      cells.note("node " + node.meta.name + " is retired; the row is not used");
      return false;
    }
    if (node.meta.name == *row.name) return true;
    const std::string owner = "the BMC MAC belongs to node " + node.meta.name;
    if (by_name) {
      cells.blame({"bmc_mac", owner + ", and " + *row.name + " is another node",
                   "MACs of two rows were mixed up, or rename through a free name in two imports"});
      return false;
    }
    if (!node.status.allocation.empty()) {
      cells.blame({"name", owner + ", which belongs to " + node.status.allocation.str(),
                   "rename it when it is free"});
      return false;
    }
    return !differs_in_case_only(cells, row) || to_lower(node.meta.name) == to_lower(*row.name);
  }

  bool may_update(const Cells& cells, const DeviceRow& row, const Node& node) {
    const bool retired = node.status.phase == NodePhase::retired;
    const std::string mac = row.bmc_mac.value_or("");
    if (retired && mac.empty()) {
      cells.note("node " + node.meta.name + " is retired; the row is not used");
      return false;
    }
    if (node.spec.site != *row.site) {
      cells.blame(other_site(*row.name, node.spec.site, *row.site));
      return false;
    }
    if (retired) {
      cells.blame({"name", "the name belongs to a retired node with BMC MAC " + node.spec.bmc_mac,
                   "choose another name: history is read by it"});
      return false;
    }
    if (node.spec.bmc_mac.empty() || !row.bmc_mac) return true;
    if (mac.empty()) {
      cells.blame({"bmc_mac", "the node has BMC MAC " + node.spec.bmc_mac + ", its identity",
                   "write that MAC, or delete the column"});
      return false;
    }
    cells.blame({"bmc_mac",
                 "node " + *row.name + " has BMC MAC " + node.spec.bmc_mac +
                     ": another BMC is another node",
                 "write that MAC; after a board swap that kept the BMC confirm it with: tundish "
                 "node confirm " +
                     *row.name + "; else give the new node a new name"});
    return false;
  }

  void take_node(const Cells& cells, const DeviceRow& row, NodeRole role) {
    const Node* before = nullptr;
    if (!identify(cells, row, before)) {
      if (before) world_.disputed.insert(before);
      return;
    }
    if (switch_names_.contains(*row.name)) {
      cells.blame({"role", *row.name + " is a switch in the registry", "choose another name"});
      return;
    }
    if (!before && differs_in_case_only(cells, row)) return;
    if (before && is_foreign(cells, before->spec.import_scope, world_)) return;
    NodeEntry entry;
    if (before) {
      const auto at = world_.nodes.find(before->meta.name);
      if (at == world_.nodes.end() || at->second.row) return;  // two rows with one MAC: noted later
      entry = std::move(at->second);
      world_.nodes.erase(at);
      if (before->meta.name != *row.name) {
        world_.renames.push_back({before->id, before->meta.name, *row.name});
      }
    }
    auto& spec = entry.spec;
    spec.role = role;
    spec.site = *row.site;
    take(row.rack, spec.rack);
    take(row.position, spec.position);
    take(row.sku, spec.sku);
    take(row.serial, spec.serial);
    take(row.bmc_mac, spec.bmc_mac);
    take(row.bmc_address, spec.bmc_address);
    take(row.oob_address, spec.oob_address);
    take(row.leaf_group, spec.leaf_group);
    take(row.nvlink_domain, spec.nvlink_domain);
    spec.import_scope = world_.scope;
    entry.row = row.at;
    world_.sites.insert(spec.site);
    world_.nodes[*row.name] = std::move(entry);
  }

  void take_switch(const Cells& cells, const DeviceRow& row) {
    if (by_name_.contains(*row.name)) {
      cells.blame({"role", *row.name + " is a node in the registry", "choose another name"});
      return;
    }
    if (differs_in_case_only(cells, row)) return;
    SwitchEntry entry;
    if (const auto known = world_.switches.find(*row.name); known != world_.switches.end()) {
      entry = known->second;
    }
    auto& spec = entry.spec;
    if (entry.before && is_foreign(cells, spec.import_scope, world_)) return;
    if (entry.before && spec.site != *row.site) {
      cells.blame(other_site(*row.name, spec.site, *row.site));
      return;
    }
    spec.site = *row.site;
    spec.role = *row.role;
    take(row.rack, spec.rack);
    take(row.driver, spec.driver);
    take(row.management_url, spec.management_url);
    take(row.fabric, spec.fabric);
    take(row.asn, spec.asn);
    take(row.router_id, spec.router_id);
    take(row.vtep_address, spec.vtep_address);
    take(row.failure_side, spec.failure_side);
    // "flat" is the driver that every switch has until the fabric is driven.
    if (spec.driver.empty()) spec.driver = "flat";
    spec.import_scope = world_.scope;
    entry.row = row.at;
    world_.sites.insert(spec.site);
    world_.switches[*row.name] = std::move(entry);
  }

  World& world_;
  Findings& findings_;
  std::map<std::string, const Node*> by_name_;
  std::map<std::string, const Node*> by_mac_;
  std::map<std::string, std::string> known_names_;  ///< lower case to as it is written
  std::set<std::string> switch_names_;
  std::map<std::string, DeviceRow> seen_;
};

/// Cables of the registry follow a renamed node, as rename_node does it.
void rename_cables(World& world) {
  std::map<std::string, std::string> renamed;
  for (const auto& rename : world.renames) renamed[rename.from] = rename.to;
  if (renamed.empty()) return;
  const auto new_name = [&](const std::string& name) {
    const auto it = renamed.find(name);
    return it == renamed.end() ? name : it->second;
  };
  std::map<std::string, CableEntry> moved;
  for (auto& [name, entry] : world.cables) {
    auto& spec = entry.spec;
    spec.side_a_device = new_name(spec.side_a_device);
    spec.side_b_device = new_name(spec.side_b_device);
    const auto colon = name.find(':');
    const bool named = colon != std::string::npos;
    const std::string after = named ? new_name(name.substr(0, colon)) + name.substr(colon) : name;
    moved[after] = std::move(entry);
  }
  world.cables = std::move(moved);
}

/// The first import of a site brings its racks along; later a rack that is not known is a mistake.
void imply_racks(World& world) {
  std::set<std::string> sites;
  for (const auto& [name, rack] : world.racks) {
    if (!is_implied(rack)) sites.insert(rack.spec.site);
  }
  for (const auto& row : world.device_rows) {
    const std::string rack = row.rack.value_or("");
    if (rack.empty() || !row.site || sites.contains(*row.site)) continue;
    RackSpec spec;
    spec.site = *row.site;
    world.racks.emplace(rack, Entry<Rack, RackSpec>{nullptr, spec, row.at});
  }
}

}  // namespace

void add_devices(World& world, const SheetTable& table, Findings& findings) {
  const std::size_t start = world.device_rows.size();
  for (std::size_t i = 0; i < table.sheet->rows.size(); ++i) {
    world.device_rows.push_back(read_device(Cells({&table, i}, findings)));
    const auto& row = world.device_rows.back();
    if (row.name) world.devices_mentioned.emplace(*row.name, row.at);
  }
  Devices devices(world, start, findings);
  for (std::size_t i = start; i < world.device_rows.size(); ++i) {
    devices.take_row(world.device_rows[i]);
  }
  rename_cables(world);
  imply_racks(world);
}

}  // namespace tundish::control::inventory
