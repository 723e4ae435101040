#include "control/inventory/export.hpp"

#include <algorithm>

#include "control/inventory/world.hpp"
#include "control/node/checks.hpp"

namespace tundish::control {
namespace {

using namespace inventory;
using Row = std::map<std::string, std::string>;

/// Columns in their usual order; rows get the line numbers that they have in the written file.
class SheetWriter {
 public:
  explicit SheetWriter(SheetKind kind) : columns_(columns_of(kind)) {
    sheet_.file = kind_name(kind) + ".csv";
    sheet_.header = columns_;
  }

  void add(Row row) {
    SheetRow out;
    out.row = static_cast<int>(sheet_.rows.size()) + 2;
    for (const auto& column : columns_) out.cells.push_back(row[column]);
    sheet_.rows.push_back(std::move(out));
  }

  void finish(std::vector<Sheet>& sheets) {
    if (!sheet_.rows.empty()) sheets.push_back(std::move(sheet_));
  }

 private:
  const std::vector<std::string>& columns_;
  Sheet sheet_;
};

std::string number(std::int64_t value) { return std::to_string(value); }
/// 0 and -1 stand for "not known" and are empty cells.
std::string number_from(std::int64_t least, std::int64_t value) {
  return value < least ? "" : number(value);
}
template <class E>
std::string word(E value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

template <class T>
std::vector<const T*> by_name(const Registry& view) {
  std::vector<const T*> all;
  for (const auto& [id, object] : view.all<T>()) all.push_back(&object);
  std::sort(all.begin(), all.end(),
            [](const T* a, const T* b) { return a->meta.name < b->meta.name; });
  return all;
}

bool is_exported(const Node& node, const std::string& scope) {
  return node.spec.import_scope == scope && node.status.phase != NodePhase::retired &&
         !missing_parts(node).device;
}

std::string only_scope(const Registry& view) {
  std::set<std::string> scopes;
  for (const auto& [id, node] : view.all<Node>()) scopes.insert(node.spec.import_scope);
  for (const auto& [id, found] : view.all<Switch>()) scopes.insert(found.spec.import_scope);
  scopes.erase("");
  return scopes.size() == 1 ? *scopes.begin() : "default";
}

Row device_row(const Node& node) {
  const auto& spec = node.spec;
  return {{"name", node.meta.name},
          {"role", word(spec.role)},
          {"device_type", spec.sku},
          {"serial", spec.serial},
          {"site", spec.site},
          {"rack", spec.rack},
          {"position", number_from(1, spec.position)},
          {"bmc_mac", spec.bmc_mac},
          {"bmc_address", spec.bmc_address},
          {"oob_address", spec.oob_address},
          {"leaf_group", spec.leaf_group},
          {"nvlink_domain", spec.nvlink_domain}};
}

Row device_row(const Switch& found) {
  return {{"name", found.meta.name},
          {"role", found.spec.role},
          {"site", found.spec.site},
          {"rack", found.spec.rack},
          {"driver", found.spec.driver},
          {"management_url", found.spec.management_url},
          {"fabric", found.spec.fabric},
          {"asn", number_from(1, found.spec.asn)},
          {"router_id", found.spec.router_id},
          {"vtep_address", found.spec.vtep_address},
          {"failure_side", found.spec.failure_side}};
}

void export_devices(const Registry& view, const std::string& scope, std::vector<Sheet>& sheets) {
  SheetWriter devices(SheetKind::devices);
  SheetWriter interfaces(SheetKind::interfaces);
  for (const Node* node : by_name<Node>(view)) {
    if (!is_exported(*node, scope)) continue;
    devices.add(device_row(*node));
    const auto missing = missing_parts(*node);
    for (const auto& port : node->spec.ports) {
      if (missing.interfaces.contains(port.name)) continue;
      interfaces.add({{"device", node->meta.name},
                      {"name", port.name},
                      {"role", word(port.role)},
                      {"mac_address", port.mac},
                      {"rail", number_from(0, port.rail)},
                      {"guid", port.guid}});
    }
  }
  for (const Switch* found : by_name<Switch>(view)) {
    if (found->spec.import_scope == scope) devices.add(device_row(*found));
  }
  devices.finish(sheets);
  interfaces.finish(sheets);
}

void export_kinds(const Registry& view, std::vector<Sheet>& sheets) {
  SheetWriter skus(SheetKind::skus);
  for (const Sku* sku : by_name<Sku>(view)) {
    skus.add({{"name", sku->meta.name},
              {"gpu_model", sku->spec.gpu_model},
              {"gres_type", sku->spec.gres_type},
              {"gpus", number(sku->spec.gpus)},
              {"nics", number(sku->spec.nics)},
              {"cpus", number_from(1, sku->spec.cpus)},
              {"sockets", number_from(1, sku->spec.sockets)},
              {"memory_mib", number_from(1, sku->spec.memory_mib)}});
  }
  skus.finish(sheets);
  SheetWriter racks(SheetKind::racks);
  for (const Rack* rack : by_name<Rack>(view)) {
    racks.add({{"site", rack->spec.site},
               {"name", rack->meta.name},
               {"u_height", number(rack->spec.u_height)}});
  }
  racks.finish(sheets);
}

void export_cables(const Registry& view, const std::string& scope, std::vector<Sheet>& sheets) {
  std::set<std::string> missing;
  std::map<std::string, std::string> sites;
  for (const auto& [id, node] : view.all<Node>()) {
    const auto parts = missing_parts(node);
    missing.insert(parts.cables.begin(), parts.cables.end());
    sites[node.meta.name] = node.spec.site;
  }
  for (const auto& [id, found] : view.all<Switch>()) sites[found.meta.name] = found.spec.site;
  SheetWriter cables(SheetKind::cables);
  for (const Cable* cable : by_name<Cable>(view)) {
    const auto& spec = cable->spec;
    if (spec.import_scope != scope || missing.contains(cable->meta.name)) continue;
    cables.add({{"side_a_site", sites[spec.side_a_device]},
                {"side_a_device", spec.side_a_device},
                {"side_a_type", "dcim.interface"},
                {"side_a_name", spec.side_a_port},
                {"side_b_site", sites[spec.side_b_device]},
                {"side_b_device", spec.side_b_device},
                {"side_b_type", "dcim.interface"},
                {"side_b_name", spec.side_b_port}});
  }
  cables.finish(sheets);
}

std::string render_problem(const ImportProblem& problem) {
  std::string out = "problem " + problem.file;
  if (problem.row > 0) out += " row " + std::to_string(problem.row);
  if (!problem.column.empty()) out += ", " + problem.column;
  out += ": " + problem.what;
  return problem.remedy.empty() ? out : out + " (" + problem.remedy + ")";
}

}  // namespace

std::vector<Sheet> export_inventory(const Registry& view, const std::string& scope) {
  const std::string chosen = scope.empty() ? only_scope(view) : scope;
  std::vector<Sheet> sheets;
  export_kinds(view, sheets);
  export_devices(view, chosen, sheets);
  export_cables(view, chosen, sheets);
  return sheets;
}

std::vector<std::string> diff_inventory(const Registry& view, const std::vector<Sheet>& sheets,
                                        const ImportOptions& options) {
  std::vector<std::string> lines;
  const ImportPlan plan = plan_import(view, sheets, options);
  for (const auto& problem : plan.problems) lines.push_back(render_problem(problem));
  for (const auto& change : plan.changes) {
    if (change.verb == ImportVerb::unchanged) continue;
    const std::string head =
        "declared " + change.kind + " " + change.name + " " + word(change.verb);
    if (change.details.empty()) lines.push_back(head);
    for (const auto& detail : change.details) lines.push_back(head + ": " + detail);
  }
  for (const Node* node : by_name<Node>(view)) {
    const std::string drift = drift_of(*node);
    if (!drift.empty()) lines.push_back("observed node " + node->meta.name + " drift: " + drift);
  }
  return lines;
}

}  // namespace tundish::control
