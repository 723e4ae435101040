// Rows of interfaces and cables.
#include <algorithm>

#include "base/text.hpp"
#include "control/inventory/world.hpp"

namespace tundish::control::inventory {
namespace {

constexpr std::int64_t rail_max = 255;

/// Unknown devices are blamed once per row; one whose own row is at fault is not blamed again.
bool blame_unknown_device(const Cells& cells, const World& world, const std::string& column,
                          const std::string& name) {
  if (world.knows_device(name)) return false;
  const std::string near = cells.hint(name, [&] { return world.device_names(); });
  cells.blame({column, "no device of this name in the sheets or the registry",
               near.empty() ? "add it to the sheet of devices" : "did you mean " + near + "?"});
  return true;
}

std::optional<PortRole> read_port_role(const Cells& cells) {
  const std::string text = to_lower(cells.text("role"));
  const std::string mgmt = to_lower(cells.text("mgmt_only"));
  if (!mgmt.empty() && mgmt != "true" && mgmt != "false") {
    cells.blame({"mgmt_only", "neither true nor false", "write one of them, or nothing"});
  }
  if (text.empty()) {
    if (mgmt == "true") return PortRole::oob;
    return std::nullopt;
  }
  const auto names = enum_names(PortRole{});
  const auto it = std::find(names.begin(), names.end(), text);
  if (it != names.end()) return static_cast<PortRole>(it - names.begin());
  cells.blame({"role", "unknown role of an interface", "choose access, east_west, storage or oob"});
  return std::nullopt;
}

/// A row whose device is empty or misspelled still speaks for the interface that is probably meant,
/// so that its cable is not blamed as well.
void suggest_port(World& world, const Cells& cells, const std::string& port) {
  const std::string device = cells.text("device");
  if (!device.empty() && world.knows_device(device)) return;
  const std::string meant = device.empty()
                                ? cells.above("device")
                                : cells.hint(device, [&] { return world.device_names(); });
  if (!meant.empty()) world.ports_suggested.emplace(meant, port);
}

void take_interface(World& world, const Cells& cells, const PortEnd& end) {
  const auto role = read_port_role(cells);
  const auto mac = cells.read("mac_address", read_mac);
  const auto rail = cells.integer("rail", {0, rail_max});
  const auto guid = cells.read("guid", read_guid);
  if (const auto known = world.switches.find(end.first); known != world.switches.end()) {
    known->second.ports.insert(end.second);
    return;
  }
  const auto found = world.nodes.find(end.first);
  if (found == world.nodes.end() || found->second.is_retired()) return;
  auto& ports = found->second.spec.ports;
  auto port =
      std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == end.second; });
  if (port == ports.end()) {
    ports.push_back({});
    port = ports.end() - 1;
    port->name = end.second;
  }
  if (mac) port->mac = *mac;
  if (guid) port->guid = *guid;
  if (rail) port->rail = static_cast<int>(*rail);
  if (cells.has("rail") && cells.text("rail").empty()) port->rail = -1;
  if (role) port->role = *role;
  found->second.port_rows.emplace(end.second, cells.at());
}

struct CableRow {
  RowRef at;
  PortEnd a, b;
};

/// "dcim.interface", "interface", "Interface". Other things that NetBox cables are not ours.
enum class Side { ours, other, wrong };
Side side_of(const Cells& cells, const std::string& column) {
  static const std::vector<std::string> others = {"powerport",   "poweroutlet",       "powerfeed",
                                                  "consoleport", "consoleserverport", "frontport",
                                                  "rearport",    "circuittermination"};
  std::string type = to_lower(cells.text(column));
  if (const auto dot = type.rfind('.'); dot != type.npos) type = type.substr(dot + 1);
  std::erase_if(type, [](char c) { return c == ' ' || c == '_'; });
  if (type.empty() || type == "interface") return Side::ours;
  if (std::find(others.begin(), others.end(), type) != others.end()) return Side::other;
  cells.blame({column, "unknown type of a cable end", "write dcim.interface"});
  return Side::wrong;
}

class Cables {
 public:
  Cables(World& world, Findings& findings) : world_(world), findings_(findings) {
    for (const auto& [name, entry] : world.cables) {
      by_end_.emplace(PortEnd{entry.spec.side_a_device, entry.spec.side_a_port}, name);
      by_end_.emplace(PortEnd{entry.spec.side_b_device, entry.spec.side_b_port}, name);
    }
    for (const auto& rename : world.renames) renamed_[rename.from] = rename.to;
  }

  void read_row(const Cells& cells) {
    cells.check_row();
    const Side types[] = {side_of(cells, "side_a_type"), side_of(cells, "side_b_type")};
    if (types[0] == Side::other || types[1] == Side::other) {
      cells.note("not a cable between interfaces; the row is not used");
      return;
    }
    const auto a = read_end(cells, "side_a");
    const auto b = read_end(cells, "side_b");
    if (!a || !b) return;
    if (*a == *b) {
      cells.blame({"side_b_name", "both ends are " + a->first + ":" + a->second,
                   "correct one of the ends"});
      return;
    }
    const bool first_a = claim(cells, *a, "side_a_name");
    const bool first_b = claim(cells, *b, "side_b_name");
    if (first_a && first_b) rows_.push_back({cells.at(), *a, *b});
  }

  void apply() {
    for (const auto& row : rows_) declare(row);
    displace();
    for (auto& [name, entry] : world_.cables) {
      if (entry.before && (entry.row || entry.displaced)) set_far_ends(old_spec(entry), Far::none);
    }
    for (auto& [name, entry] : world_.cables) {
      if (entry.row) set_far_ends(entry.spec, Far::other_end);
    }
  }

 private:
  enum class Far { none, other_end };

  std::optional<PortEnd> read_end(const Cells& cells, const std::string& side) {
    const auto device = cells.require(side + "_device", read_name);
    const auto port = cells.require(side + "_name", read_interface_name);
    const auto site = cells.read(side + "_site", read_name);
    if (!device) return std::nullopt;
    if (blame_unknown_device(cells, world_, side + "_device", *device)) return std::nullopt;
    check_site(cells, side, *device, site.value_or(""));
    if (!port) return std::nullopt;
    if (!port_exists({*device, *port})) {
      cells.blame({side + "_name", *device + " has no interface " + *port,
                   nearest_port(cells, {*device, *port})});
      return std::nullopt;
    }
    return PortEnd{*device, *port};
  }

  void check_site(const Cells& cells, const std::string& side, const std::string& device,
                  const std::string& site) {
    std::string actual;
    if (const auto node = world_.nodes.find(device); node != world_.nodes.end()) {
      actual = node->second.spec.site;
    } else if (const auto other = world_.switches.find(device); other != world_.switches.end()) {
      actual = other->second.spec.site;
    }
    if (site.empty() || actual.empty() || site == actual) return;
    // A device at an unknown site is blamed in its own row, not at each of its cables.
    if (!world_.sites_known.empty() && !world_.sites_known.contains(actual)) return;
    cells.blame({side + "_site", device + " stands at site " + actual, "write " + actual});
  }

  /// A device whose own row is at fault has unknown ports; nothing is said against them.
  bool port_exists(const PortEnd& end) const {
    if (world_.ports_mentioned.contains(end) || world_.ports_suggested.contains(end)) return true;
    if (const auto node = world_.nodes.find(end.first); node != world_.nodes.end()) {
      const auto& ports = node->second.spec.ports;
      return std::any_of(ports.begin(), ports.end(),
                         [&](const Port& port) { return port.name == end.second; });
    }
    const auto other = world_.switches.find(end.first);
    return other == world_.switches.end() || other->second.ports.empty() ||
           other->second.ports.contains(end.second);
  }

  std::string nearest_port(const Cells& cells, const PortEnd& end) const {
    const std::string near = cells.hint(end.second, [&] { return ports_of(end); });
    return near.empty() ? "add it to the sheet of interfaces" : "did you mean " + near + "?";
  }

  std::vector<std::string> ports_of(const PortEnd& end) const {
    std::vector<std::string> names;
    if (const auto node = world_.nodes.find(end.first); node != world_.nodes.end()) {
      for (const auto& port : node->second.spec.ports) names.push_back(port.name);
    } else if (const auto other = world_.switches.find(end.first); other != world_.switches.end()) {
      names.assign(other->second.ports.begin(), other->second.ports.end());
    }
    return names;
  }

  bool claim(const Cells& cells, const PortEnd& end, const std::string& column) {
    const auto [it, is_first] = claimed_.emplace(end, cells.at());
    if (is_first) return true;
    cells.blame({column,
                 end.first + ":" + end.second + " has a cable already; first in " +
                     Cells(it->second, findings_).place(),
                 "an interface takes one cable"});
    return false;
  }

  const std::string* cable_at(const PortEnd& end) const {
    const auto it = by_end_.find(end);
    return it == by_end_.end() ? nullptr : &it->second;
  }

  void declare(const CableRow& row) {
    CableSpec spec{row.a.first, row.a.second, row.b.first, row.b.second, world_.scope};
    std::string name = cable_name(world_, spec);
    if (name != row.a.first + ":" + row.a.second) {  // one order of the sides, whatever the sheet's
      spec = {row.b.first, row.b.second, row.a.first, row.a.second, world_.scope};
    }
    const std::string* at_a = cable_at(row.a);
    const std::string* at_b = cable_at(row.b);
    const bool is_known = at_a && at_b && *at_a == *at_b;
    if (is_known) name = *at_a;
    if (world_.cables[name].row) {  // another row's cable keeps an old name
      name = spec.side_a_device + ":" + spec.side_a_port + "--" + spec.side_b_device + ":" +
             spec.side_b_port;
    }
    auto& entry = world_.cables[name];
    const std::string owner = entry.before ? entry.spec.import_scope : "";
    if (!owner.empty() && owner != world_.scope) {
      Cells(row.at, findings_)
          .blame({"side_a_name", "cable " + name + " is declared by the import scope " + owner,
                  "import it with --scope " + owner});
    }
    if (is_known) spec = entry.spec, spec.import_scope = world_.scope;
    entry.spec = std::move(spec);
    entry.row = row.at;
  }

  /// A physical end is in one cable: what a row says replaces what was declared before.
  void displace() {
    for (auto& [name, entry] : world_.cables) {
      if (entry.row || !entry.before) continue;
      auto taken = claimed_.find({entry.spec.side_a_device, entry.spec.side_a_port});
      if (taken == claimed_.end()) {
        taken = claimed_.find({entry.spec.side_b_device, entry.spec.side_b_port});
      }
      if (taken == claimed_.end()) continue;
      entry.displaced = true;
      const std::string& owner = entry.spec.import_scope;
      if (owner.empty() || owner == world_.scope) continue;
      const auto& end = taken->first;
      Cells(taken->second, findings_)
          .blame({"side_a_name",
                  end.first + ":" + end.second + " has cable " + name + " of the import scope " +
                      owner,
                  "an interface takes one cable; correct that scope first"});
    }
  }

  /// The ends before the import, under the names that the nodes have after it.
  CableSpec old_spec(const CableEntry& entry) const {
    CableSpec spec = entry.before->spec;
    for (std::string* device : {&spec.side_a_device, &spec.side_b_device}) {
      const auto it = renamed_.find(*device);
      if (it != renamed_.end()) *device = it->second;
    }
    return spec;
  }

  void set_far_ends(const CableSpec& spec, Far far) {
    const PortEnd a{spec.side_a_device, spec.side_a_port};
    const PortEnd b{spec.side_b_device, spec.side_b_port};
    set_far_end(a, b, far);
    set_far_end(b, a, far);
  }

  void set_far_end(const PortEnd& end, const PortEnd& other, Far far) {
    const auto node = world_.nodes.find(end.first);
    if (node == world_.nodes.end()) return;
    const bool to_switch = far == Far::other_end && world_.switches.contains(other.first);
    for (auto& port : node->second.spec.ports) {
      if (port.name != end.second) continue;
      port.switch_name = to_switch ? other.first : "";
      port.switch_port = to_switch ? other.second : "";
    }
  }

  World& world_;
  Findings& findings_;
  std::map<PortEnd, std::string> by_end_;
  std::map<std::string, std::string> renamed_;  ///< nodes of this import: before to after
  std::map<PortEnd, RowRef> claimed_;
  std::vector<CableRow> rows_;
};

}  // namespace

void add_interfaces(World& world, const SheetTable& table, Findings& findings) {
  for (std::size_t i = 0; i < table.sheet->rows.size(); ++i) {
    const Cells cells({&table, i}, findings);
    cells.check_row();
    const auto device = cells.require("device", read_name);
    const auto name = cells.require("name", read_interface_name);
    if (name) suggest_port(world, cells, *name);
    if (device && blame_unknown_device(cells, world, "device", *device)) continue;
    const PortEnd end{device.value_or(""), name.value_or("")};
    if (device && name) {
      const auto [it, is_first] = world.ports_mentioned.emplace(end, cells.at());
      if (!is_first) {
        cells.blame({"name",
                     "the device has this interface already; first in " +
                         Cells(it->second, findings).place(),
                     "delete one of the rows"});
        continue;
      }
    }
    take_interface(world, cells, end);
  }
}

void add_cables(World& world, const SheetTable& table, Findings& findings) {
  Cables cables(world, findings);
  for (std::size_t i = 0; i < table.sheet->rows.size(); ++i) {
    cables.read_row(Cells({&table, i}, findings));
  }
  cables.apply();
}

std::string cable_name(const World& world, const CableSpec& spec) {
  const PortEnd a{spec.side_a_device, spec.side_a_port};
  const PortEnd b{spec.side_b_device, spec.side_b_port};
  const bool node_a = world.nodes.contains(a.first);
  const bool node_b = world.nodes.contains(b.first);
  const PortEnd& owner = node_a != node_b ? (node_a ? a : b) : std::min(a, b);
  return owner.first + ":" + owner.second;
}

}  // namespace tundish::control::inventory
