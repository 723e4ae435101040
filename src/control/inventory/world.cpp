#include "control/inventory/world.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tundish::control::inventory {
namespace {

constexpr std::int64_t gpus_max = 1024;
constexpr std::int64_t cpus_max = 65536;
constexpr std::int64_t memory_mib_max = std::int64_t{1} << 40;
constexpr std::int64_t u_height_max = 100;  // NetBox's own limit

/// A sheet of SKUs or racks names each object once.
bool is_second(const Cells& cells, const std::optional<RowRef>& first, Findings& findings) {
  if (!first) return false;
  cells.blame({"name", "the name stands twice; first in " + Cells(*first, findings).place(),
               "delete one of the rows"});
  return true;
}

void take_integer(const Cells& cells, const std::string& column, const IntegerRange& range,
                  int& target) {
  if (const auto value = cells.integer(column, range)) target = static_cast<int>(*value);
}

}  // namespace

World::World(const Registry& registry, std::string import_scope)
    : view(registry), scope(std::move(import_scope)) {
  for (const auto& [id, site] : view.all<Site>()) sites_known.insert(site.meta.name);
  for (const auto& [id, rack] : view.all<Rack>()) {
    racks[rack.meta.name] = {&rack, rack.spec, {}};
    sites_known.insert(rack.spec.site);
  }
  for (const auto& [id, sku] : view.all<Sku>()) skus[sku.meta.name] = {&sku, sku.spec, {}};
  for (const auto& [id, found] : view.all<Switch>()) {
    switches[found.meta.name] = {{&found, found.spec, {}}, {}};
  }
  for (const auto& [id, node] : view.all<Node>()) {
    nodes[node.meta.name] = {{&node, node.spec, {}}, {}};
  }
  for (const auto& [id, cable] : view.all<Cable>()) {
    cables[cable.meta.name] = {{&cable, cable.spec, {}}, false};
  }
}

std::vector<std::string> World::device_names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : nodes) names.push_back(name);
  for (const auto& [name, entry] : switches) names.push_back(name);
  for (const auto& [name, row] : devices_mentioned) names.push_back(name);
  return names;
}

bool World::knows_device(const std::string& name) const {
  return nodes.contains(name) || switches.contains(name) || devices_mentioned.contains(name);
}

bool looks_like_id(std::string_view name) {
  for (const std::string_view kind : {Node::kind, Switch::kind, Rack::kind, Sku::kind}) {
    if (!name.starts_with(kind) || name.size() <= kind.size() + 1) continue;
    const auto rest = name.substr(kind.size());
    if (rest[0] == '-' && rest.find_first_not_of("0123456789", 1) == rest.npos) return true;
  }
  return false;
}

void add_skus(World& world, const SheetTable& table, Findings& findings) {
  for (std::size_t i = 0; i < table.sheet->rows.size(); ++i) {
    const Cells cells({&table, i}, findings);
    cells.check_row();
    const auto name = cells.require("name", read_name);
    Entry<Sku, SkuSpec> entry;
    if (name && world.skus.contains(*name)) entry = world.skus[*name];
    if (name && is_second(cells, entry.row, findings)) continue;
    if (name && looks_like_id(*name)) {
      cells.blame({"name", "the name has the form of our ids", "choose another name"});
    }
    if (const auto model = cells.read("gpu_model", read_words)) entry.spec.gpu_model = *model;
    if (const auto gres = cells.read("gres_type", read_name)) entry.spec.gres_type = *gres;
    take_integer(cells, "gpus", {0, gpus_max}, entry.spec.gpus);
    take_integer(cells, "nics", {0, gpus_max}, entry.spec.nics);
    take_integer(cells, "cpus", {1, cpus_max}, entry.spec.cpus);
    take_integer(cells, "sockets", {1, gpus_max}, entry.spec.sockets);
    if (const auto memory = cells.integer("memory_mib", {1, memory_mib_max})) {
      entry.spec.memory_mib = *memory;
    }
    if (entry.spec.gpus > 0 && entry.spec.gpu_model.empty() && cells.has("gpu_model")) {
      cells.blame({"gpu_model", "a SKU with GPUs needs their model", "write NVML's product name"});
    }
    entry.row = cells.at();
    if (name) world.skus[*name] = std::move(entry);
  }
}

void add_racks(World& world, const SheetTable& table, Findings& findings) {
  for (std::size_t i = 0; i < table.sheet->rows.size(); ++i) {
    const Cells cells({&table, i}, findings);
    cells.check_row();
    const auto name = cells.require("name", read_name);
    const auto site = cells.require("site", read_name);
    Entry<Rack, RackSpec> entry;
    if (name && world.racks.contains(*name)) entry = world.racks[*name];
    if (name && is_second(cells, entry.row, findings)) continue;
    if (name && looks_like_id(*name)) {
      cells.blame({"name", "the name has the form of our ids", "choose another name"});
    }
    if (site && entry.before && entry.before->spec.site != *site) {
      cells.blame({"name", "a rack of this name stands at site " + entry.before->spec.site,
                   "names are unique over sites: write " + *site + "-" + *name});
    }
    take_integer(cells, "u_height", {1, u_height_max}, entry.spec.u_height);
    if (site) {
      entry.spec.site = *site;
      world.sites_known.insert(*site);
      world.sites.insert(*site);
    }
    entry.row = cells.at();
    if (name) world.racks[*name] = std::move(entry);
  }
}

}  // namespace tundish::control::inventory
