// What no row shows alone: values used twice, places in racks, references.
#include <algorithm>

#include "base/text.hpp"
#include "control/inventory/world.hpp"

namespace tundish::control::inventory {
namespace {

/// A value that only one owner may have.
struct Claimed {
  std::string owner;
  std::optional<RowRef> row;
  std::string column;
};

class Claims {
 public:
  explicit Claims(Findings& findings) : findings_(findings) {}

  /// `what` names the value for people and keeps kinds of values apart.
  void claim(const std::string& what, const std::string& key, const Claimed& by) {
    if (key.empty()) return;
    const bool is_new_owner = owned_.insert(what + " " + key + " " + by.owner).second;
    if (!by.row && !is_new_owner) return;  // its own row spoke for it
    const auto [it, is_first] = taken_.emplace(what + " " + key, by);
    if (is_first) return;
    const Claimed& first = it->second;
    // A sheet of interfaces may list the BMC's own one.
    if (first.owner == by.owner && first.column == "bmc_mac" && by.column == "mac_address") return;
    if (by.row) {
      blame(by, what,
            first.row
                ? "first in " + Cells(*first.row, findings_).place() + " (" + first.owner + ")"
                : "it belongs to " + first.owner);
    } else if (first.row && first.owner != by.owner) {
      blame(first, what, "it belongs to " + by.owner + " of the registry");
    }
  }

 private:
  void blame(const Claimed& at, const std::string& what, const std::string& other) {
    Cells(*at.row, findings_)
        .blame({at.column, "this " + what + " is used twice; " + other, "correct one of them"});
  }

  Findings& findings_;
  std::map<std::string, Claimed> taken_;
  std::set<std::string> owned_;
};

std::string place_key(const std::string& rack, int position, bool rear) {
  if (rack.empty() || position < 1) return "";
  return rack + " unit " + std::to_string(position) + (rear ? " rear" : "");
}

void claim_row(const DeviceRow& row, Claims& claims) {
  const auto by = [&](const char* column) {
    return Claimed{row.name.value_or("?"), row.at, column};
  };
  claims.claim("serial", to_lower(row.serial.value_or("")), by("serial"));
  claims.claim("MAC", row.bmc_mac.value_or(""), by("bmc_mac"));
  claims.claim("address", row.bmc_address.value_or(""), by("bmc_address"));
  claims.claim("address", row.oob_address.value_or(""), by("oob_address"));
  claims.claim("management URL", row.management_url.value_or(""), by("management_url"));
  claims.claim("router id", row.router_id.value_or(""), by("router_id"));
  claims.claim("tunnel end", row.vtep_address.value_or(""), by("vtep_address"));
  claims.claim("place", place_key(row.rack.value_or(""), row.position.value_or(0), row.rear),
               by("position"));
}

void claim_entry(const std::string& name, const NodeEntry& entry, Claims& claims) {
  const Claimed by{name, {}, ""};
  const auto& spec = entry.spec;
  claims.claim("serial", to_lower(spec.serial), by);
  claims.claim("MAC", spec.bmc_mac, by);
  claims.claim("address", spec.bmc_address, by);
  claims.claim("address", spec.oob_address, by);
  if (!entry.row) claims.claim("place", place_key(spec.rack, spec.position, false), by);
  for (const auto& port : spec.ports) {
    claims.claim("MAC", port.mac, by);
    claims.claim("GUID", port.guid, by);
  }
}

/// Rows first, so that of two rows the later one is blamed; then the registry.
void check_twice(const World& world, Findings& findings) {
  Claims claims(findings);
  for (const auto& row : world.device_rows) claim_row(row, claims);
  std::vector<std::pair<RowRef, std::string>> interfaces;
  for (const auto& [end, at] : world.ports_mentioned) interfaces.emplace_back(at, end.first);
  std::stable_sort(interfaces.begin(), interfaces.end(),
                   [](const auto& a, const auto& b) { return a.first.index < b.first.index; });
  for (const auto& [at, device] : interfaces) {
    Findings unused;  // the cell was judged when it was read
    const auto mac = Cells(at, unused).read("mac_address", read_mac).value_or("");
    claims.claim("MAC", mac, {device, at, "mac_address"});
    const auto guid = Cells(at, unused).read("guid", read_guid).value_or("");
    claims.claim("GUID", guid, {device, at, "guid"});
  }
  for (const auto& [name, entry] : world.nodes) {
    if (entry.is_retired() || world.disputed.contains(entry.before)) continue;
    claim_entry(name, entry, claims);
  }
}

/// All-digit serials shorter than one that begins with 0: a spreadsheet took their zeros.
void check_lost_zeros(const World& world, Findings& findings) {
  std::size_t longest = 0;
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  for (const auto& row : world.device_rows) {
    const std::string serial = row.serial.value_or("");
    if (is_number(serial) && serial[0] == '0') longest = std::max(longest, serial.size());
  }
  for (const auto& row : world.device_rows) {
    const std::string serial = row.serial.value_or("");
    if (!is_number(serial) || serial.size() >= longest) continue;
    Cells(row.at, findings)
        .blame({"serial",
                "the serial has " + std::to_string(serial.size()) + " digits, others " +
                    std::to_string(longest) + ": leading zeros were lost",
                "format the column as text, then type the value again"});
  }
}

std::vector<std::string> racks_at(const World& world, const std::string& site) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : world.racks) {
    if (entry.spec.site == site && !is_implied(entry)) names.push_back(name);
  }
  return names;
}

bool is_site_known(const World& world, const std::string& site) {
  return world.sites_known.empty() || world.sites_known.contains(site);
}

void check_rack(const World& world, const Cells& cells, const DeviceRow& row) {
  const std::string rack = row.rack.value_or("");
  if (rack.empty() || !row.site || !is_site_known(world, *row.site)) return;
  const auto found = world.racks.find(rack);
  if (found == world.racks.end()) {
    const std::string near = cells.hint(rack, [&] { return racks_at(world, *row.site); });
    cells.blame({"rack", "site " + *row.site + " has no rack of this name",
                 (near.empty() ? "" : "did you mean " + near + "? ") +
                     std::string("else add it to a sheet of racks: site,name,u_height")});
    return;
  }
  if (is_implied(found->second) && looks_like_id(rack)) {
    cells.blame({"rack", "the name has the form of our ids", "choose another name"});
  }
  if (found->second.spec.site != *row.site) {
    cells.blame({"rack", "the rack stands at site " + found->second.spec.site,
                 "names are unique over sites: write " + *row.site + "-" + rack});
  }
  if (row.position.value_or(0) > found->second.spec.u_height) {
    cells.blame({"position",
                 "the rack has " + std::to_string(found->second.spec.u_height) + " units",
                 "correct the position, or the height of the rack"});
  }
}

void check_site(const World& world, const Cells& cells, const DeviceRow& row) {
  if (!row.site || is_site_known(world, *row.site)) return;
  const std::string near = cells.hint(*row.site, [&] {
    return std::vector<std::string>(world.sites_known.begin(), world.sites_known.end());
  });
  cells.blame({"site", "no site of this name in the sheets or the registry",
               (near.empty() ? "" : "did you mean " + near + "? ") +
                   std::string("else add a rack of it to a sheet of racks: site,name,u_height")});
}

void check_position(const Cells& cells, const DeviceRow& row) {
  if (row.position.value_or(0) < 1 || !cells.has("rack")) return;
  if (!cells.text("rack").empty()) return;
  const std::string above = cells.above("rack");
  cells.blame({"rack", "a position without a rack",
               above.empty() ? "fill in the rack"
                             : "fill it in; if cells were merged, the value above is " + above});
}

void check_sku(const World& world, const Cells& cells, const DeviceRow& row) {
  const auto found = world.nodes.find(row.name.value_or(""));
  if (found == world.nodes.end() || found->second.row != row.at) return;
  const auto& spec = found->second.spec;
  const bool is_gpu = spec.role == NodeRole::gpu;
  if (spec.sku.empty()) {
    if (is_gpu) {
      cells.blame({"device_type", "a gpu node needs its SKU", "name one of the sheet of SKUs"});
    }
    return;
  }
  const auto sku = world.skus.find(spec.sku);
  if (sku != world.skus.end()) {
    if (is_gpu && sku->second.spec.gpus == 0) {
      cells.blame({"role", "SKU " + spec.sku + " has no GPU", "correct the role or the SKU"});
    }
    return;
  }
  const std::string near = cells.hint(spec.sku, [&] {
    std::vector<std::string> known;
    for (const auto& [name, entry] : world.skus) known.push_back(name);
    return known;
  });
  cells.blame({"device_type", "no SKU of this name in the sheets or the registry",
               near.empty() ? "add it to the sheet of SKUs" : "did you mean " + near + "?"});
}

void check_identity(const World& world, const Cells& cells, const DeviceRow& row) {
  if (row.role == "gpu" && cells.text("bmc_mac").empty()) {
    const auto found = world.nodes.find(row.name.value_or(""));
    const bool is_known = found != world.nodes.end() && found->second.row == row.at &&
                          !found->second.spec.bmc_mac.empty();
    if (!is_known) {
      cells.blame({"bmc_mac", "a gpu node needs the MAC of its BMC: it is its identity",
                   "read it from the label or the BMC"});
    }
  }
  const auto found = world.nodes.find(row.name.value_or(""));
  if (found == world.nodes.end() || found->second.row != row.at || !found->second.before) return;
  const Node& before = *found->second.before;
  const auto& conditions = before.status.conditions;
  const bool waits = std::any_of(conditions.begin(), conditions.end(), [](const Condition& c) {
    return c.type == "board_swap" && c.state == Truth::yes;
  });
  const std::string& serial = found->second.spec.serial;
  // The board that was there from the first look on: then it is the sheet that was wrong.
  if (serial == before.status.accepted_serial) return;
  if (waits && serial != before.spec.serial && serial == before.status.hardware.serial) {
    cells.blame(
        {"serial", "the board of " + before.meta.name + " was changed; it waits for a person",
         "confirm it with: tundish node confirm " + before.meta.name + "; then import again"});
  }
}

}  // namespace

void check_world(const World& world, Findings& findings) {
  for (const auto& row : world.device_rows) {
    const Cells cells(row.at, findings);
    check_site(world, cells, row);
    check_rack(world, cells, row);
    check_position(cells, row);
    check_sku(world, cells, row);
    check_identity(world, cells, row);
  }
  check_twice(world, findings);
  check_lost_zeros(world, findings);
}

}  // namespace tundish::control::inventory
