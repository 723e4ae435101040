// From the declared world to what changes and the operations that make it so.
#include <algorithm>

#include "base/text.hpp"
#include "control/inventory/field_text.hpp"
#include "control/inventory/world.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control::inventory {
namespace {

constexpr std::string_view missing_condition = "missing_from_import";
constexpr std::string_view missing_device = "no row for the device";
constexpr std::string_view missing_interface = "no row for interface ";
constexpr std::string_view missing_cable = "no row for cable ";

/// An object with a row: what differs, and the operation when something does.
template <class T, class Spec, class Put>
void plan_entry(const std::string& name, const Entry<T, Spec>& entry, ImportPlan& plan, Put put) {
  if (!entry.row) return;
  ImportChange change{std::string(T::kind), name, ImportVerb::create, {}};
  if (entry.before) {
    change.details = differences(FieldText::of(entry.before->spec), FieldText::of(entry.spec));
    change.verb = change.details.empty() ? ImportVerb::unchanged : ImportVerb::update;
  }
  if (change.verb != ImportVerb::unchanged) plan.operations.push_back(put(name, entry.spec));
  plan.changes.push_back(std::move(change));
}

void plan_sites(const World& world, ImportPlan& plan) {
  std::set<std::string> known;
  for (const auto& [id, site] : world.view.all<Site>()) known.insert(site.meta.name);
  for (const auto& name : world.sites) {
    const bool is_known = known.contains(name);
    plan.changes.push_back(
        {"site", name, is_known ? ImportVerb::unchanged : ImportVerb::create, {}});
    if (!is_known) plan.operations.push_back(put_site(name));
  }
}

/// A declared serial that the node contradicts will show as drift; that is said beforehand.
void remark_drift(const NodeEntry& entry, ImportChange& change) {
  const auto& seen = entry.before->status.hardware;
  if (entry.spec.serial == entry.before->spec.serial || entry.spec.serial.empty()) return;
  if (seen.serial.empty() || seen.serial == entry.spec.serial) return;
  change.details.push_back("the node reports serial " + seen.serial + ": this will be drift");
}

void plan_node(const std::string& name, const NodeEntry& entry, ImportPlan& plan) {
  ImportChange change{"node", name, ImportVerb::create, {}};
  if (!entry.before) {
    plan.operations.push_back(admit_node(name, entry.spec));
    plan.changes.push_back(std::move(change));
    return;
  }
  change.details = differences(texts_of(entry.before->spec), texts_of(entry.spec));
  const bool is_touched = entry.row || !entry.port_rows.empty() || !change.details.empty();
  if (!is_touched) return;
  if (!change.details.empty()) {
    plan.operations.push_back(update_declared(entry.before->id, entry.spec));
    remark_drift(entry, change);
  }
  if (entry.before->meta.name != name) {
    change.details.insert(change.details.begin(),
                          "name: " + entry.before->meta.name + " -> " + name);
  }
  change.verb = change.details.empty() ? ImportVerb::unchanged : ImportVerb::update;
  plan.changes.push_back(std::move(change));
}

void plan_cable(const std::string& name, const CableEntry& entry, ImportPlan& plan) {
  if (entry.displaced) {
    plan.operations.push_back(remove_cable(entry.before->id));
    plan.changes.push_back({"cable",
                            name,
                            ImportVerb::update,
                            {"removed: a row gives one of its ends to another cable"}});
    return;
  }
  plan_entry<Cable, CableSpec>(name, entry, plan, put_cable);
}

/// Parts of the condition that this import cannot judge, because it lacks the sheet.
std::vector<std::string> kept_parts(const World& world, const Node& node) {
  std::vector<std::string> kept;
  const Condition* known = find_condition(node, missing_condition);
  if (!known) return kept;
  for (const auto& part : split(known->reason, ';')) {
    const auto text = trim(part);
    const SheetKind kind = text.starts_with(missing_interface) ? SheetKind::interfaces
                           : text.starts_with(missing_cable)   ? SheetKind::cables
                                                               : SheetKind::devices;
    if (!text.empty() && !world.kinds.contains(kind)) kept.emplace_back(text);
  }
  return kept;
}

/// Cables of this scope without a row, by the devices at their ends.
using MissingCables = std::map<std::string, std::set<std::string>>;

MissingCables missing_cables(const World& world) {
  MissingCables out;
  for (const auto& [cable, entry] : world.cables) {
    if (entry.row || entry.displaced || entry.spec.import_scope != world.scope) continue;
    out[entry.spec.side_a_device].insert(cable);
    out[entry.spec.side_b_device].insert(cable);
  }
  return out;
}

/// Parts in one order, joined. The interfaces of a device without a row are not listed beside it.
std::string missing_reason(const World& world, const MissingCables& cables, const std::string& name,
                           const NodeEntry& entry) {
  std::vector<std::string> parts = kept_parts(world, *entry.before);
  if (world.kinds.contains(SheetKind::devices) && !entry.row) parts.emplace_back(missing_device);
  if (world.kinds.contains(SheetKind::interfaces)) {
    for (const auto& port : entry.before->spec.ports) {
      if (entry.port_rows.contains(port.name)) continue;
      parts.push_back(std::string(missing_interface) + port.name);
    }
  }
  if (world.kinds.contains(SheetKind::cables)) {
    const auto gone = cables.find(name);
    if (gone != cables.end()) {
      for (const auto& cable : gone->second) parts.push_back(std::string(missing_cable) + cable);
    }
  }
  if (std::find(parts.begin(), parts.end(), missing_device) != parts.end()) {
    std::erase_if(parts, [](const auto& part) { return part.starts_with(missing_interface); });
  }
  std::sort(parts.begin(), parts.end());
  return join(parts, "; ");
}

void plan_missing_nodes(const World& world, ImportPlan& plan) {
  const MissingCables cables = missing_cables(world);
  for (const auto& [name, entry] : world.nodes) {
    if (!entry.before || entry.is_retired() || entry.spec.import_scope != world.scope) continue;
    const std::string reason = missing_reason(world, cables, name, entry);
    if (!reason.empty()) {
      plan.changes.push_back({"node", name, ImportVerb::missing, {reason}});
    }
    const Condition* known = find_condition(*entry.before, missing_condition);
    if ((known ? known->reason : "") == reason) continue;
    plan.operations.push_back(set_condition(entry.before->id, std::string(missing_condition),
                                            reason.empty() ? Truth::no : Truth::yes, reason));
  }
}

/// Switches and cables carry no conditions; the plan names them.
void plan_missing_others(const World& world, ImportPlan& plan) {
  for (const auto& [name, entry] : world.switches) {
    if (!world.kinds.contains(SheetKind::devices) || entry.row) continue;
    if (entry.spec.import_scope != world.scope) continue;
    plan.changes.push_back({"switch", name, ImportVerb::missing, {}});
  }
  for (const auto& [name, entry] : world.cables) {
    if (!world.kinds.contains(SheetKind::cables) || entry.row || entry.displaced) continue;
    if (entry.spec.import_scope != world.scope) continue;
    plan.changes.push_back({"cable", name, ImportVerb::missing, {}});
  }
}

}  // namespace

MissingParts missing_parts(const Node& node) {
  MissingParts out;
  const Condition* known = find_condition(node, missing_condition);
  if (!known) return out;
  for (const auto& part : split(known->reason, ';')) {
    const auto text = trim(part);
    if (text == missing_device) out.device = true;
    if (text.starts_with(missing_interface)) {
      out.interfaces.emplace(text.substr(missing_interface.size()));
    }
    if (text.starts_with(missing_cable)) out.cables.emplace(text.substr(missing_cable.size()));
  }
  return out;
}

void plan_changes(const World& world, ImportPlan& plan) {
  plan_sites(world, plan);
  for (const auto& [name, entry] : world.racks) plan_entry<Rack>(name, entry, plan, put_rack);
  for (const auto& [name, entry] : world.skus) plan_entry<Sku>(name, entry, plan, put_sku);
  for (const auto& [name, entry] : world.switches) {
    plan_entry<Switch, SwitchSpec>(name, entry, plan, put_switch);
  }
  for (const auto& rename : world.renames) plan.operations.push_back(rename_node(rename));
  for (const auto& [name, entry] : world.nodes) plan_node(name, entry, plan);
  for (const auto& [name, entry] : world.cables) {
    if (entry.displaced) plan_cable(name, entry, plan);  // ends are freed before they are taken
  }
  for (const auto& [name, entry] : world.cables) {
    if (!entry.displaced) plan_cable(name, entry, plan);
  }
  plan_missing_nodes(world, plan);
  plan_missing_others(world, plan);
}

}  // namespace tundish::control::inventory
