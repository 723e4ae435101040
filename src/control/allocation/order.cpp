#include "control/allocation/order.hpp"

#include <algorithm>
#include <optional>

#include "base/quote.hpp"
#include "base/text.hpp"
#include "control/allocation/fleet_cache.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::control {
namespace {

Result<std::string> resolve_sku(const View& view, const std::string& asked) {
  std::vector<std::string> known;
  for (const auto& [id, sku] : view.reg.all<Sku>()) {
    if (sku.spec.gpus > 0) known.push_back(sku.meta.name);
  }
  if (!asked.empty()) {
    if (std::find(known.begin(), known.end(), asked) != known.end()) return asked;
    return make_error(Code::not_found, "no SKU with GPUs is called " + shorten(asked))
        .with_remedy("there are: " + join(known, ", "));
  }
  if (known.size() == 1) return known.front();
  return make_error(Code::invalid, known.empty() ? "the inventory has no SKU with GPUs"
                                                 : "there are several SKUs with GPUs")
      .with_remedy(known.empty() ? "import the inventory first"
                                 : "say which with --sku: " + join(known, ", "));
}

Result<> check_counts(const ClusterSpec& spec) {
  if (spec.engine != "slurm") {
    return make_error(Code::unsupported, "engine " + in_quotes(spec.engine) + " is not known")
        .with_remedy("use --engine slurm");
  }
  if (spec.nodes < 1) return make_error(Code::invalid, "a cluster needs at least one node");
  if (spec.spares < 0) return make_error(Code::invalid, "spares cannot be below 0");
  return {};
}

Result<> check_quota(const View& view, const TenantId& id, const ClusterSpec& spec) {
  const Tenant* tenant = view.reg.find(id);
  const Sku* sku = view.reg.find_named<Sku>(spec.sku);
  if (!tenant || !sku) return {};
  const int left = tenant->spec.gpu_quota - gpus_in_use(view.reg, id);
  const int asked = spec.nodes * sku->spec.gpus;
  if (asked <= left) return {};
  return make_error(Code::exhausted, "tenant " + tenant->meta.name + " asks for " +
                                         std::to_string(asked) + " GPUs and has " +
                                         std::to_string(left) + " left of its quota of " +
                                         std::to_string(tenant->spec.gpu_quota))
      .about("tenant/" + tenant->meta.name)
      .with_remedy("ask for at most " + std::to_string(std::max(0, left / sku->spec.gpus)) +
                   " nodes, or raise the quota: tundish quota create " + tenant->meta.name +
                   " --gpus N");
}

Result<NodeId> choose_login(const View& view) {
  for (const auto& [id, node] : view.reg.all<Node>()) {
    if (node.spec.role == NodeRole::login && placeable(view, node).yes) return id;
  }
  return make_error(Code::exhausted, "no login node is free")
      .with_remedy("order without one: --no-login, or add a login node");
}

bool has_free_port(const Node& node, int clusters) {
  const auto ports = std::count_if(node.spec.ports.begin(), node.spec.ports.end(),
                                   [](const Port& port) { return port.role == PortRole::access; });
  return ports > clusters;
}

/// The service node with the fewest clusters that can keep the new one apart from them.
Result<NodeId> choose_controller(const View& view, const std::vector<std::string>& prefixes) {
  std::map<NodeId, int> load;
  for (const auto& [id, allocation] : view.reg.all<Allocation>()) {
    for (const auto& member : allocation.status.nodes) {
      if (member.role == MemberRole::controller) ++load[member.node];
    }
  }
  const NodeId* best = nullptr;
  std::optional<Error> apart;
  for (const auto& [id, node] : view.reg.all<Node>()) {
    if (node.spec.role != NodeRole::service || node.status.phase == NodePhase::retired) continue;
    if (!is_present(view, id) || !view.reg.claims_on(id).empty()) continue;
    if (!has_free_port(node, load[id])) continue;
    if (const auto fits = check_service_node(view.reg, node, prefixes); !fits) {
      apart = fits.error();
      continue;
    }
    if (!best || load[id] < load[*best]) best = &id;
  }
  if (best) return *best;
  if (apart) return *apart;
  return make_error(Code::exhausted, "no service node can take the engine's controller")
      .with_remedy("see that a service node is heard, unclaimed and has a free access port");
}

std::vector<NodeId> choose_headroom(const View& view, const ClusterOrder& order) {
  std::vector<NodeId> out;
  const auto taken = [&](const NodeId& id) {
    return std::find(order.members.begin(), order.members.end(), id) != order.members.end() ||
           std::find(order.spares.begin(), order.spares.end(), id) != order.spares.end();
  };
  for (const auto& [id, node] : view.reg.all<Node>()) {
    if (static_cast<int>(out.size()) >= order.spec.headroom) break;
    if (node.spec.role != NodeRole::gpu || node.spec.sku != order.spec.sku) continue;
    if (node.status.phase == NodePhase::retired || taken(id)) continue;
    out.push_back(id);
  }
  return out;
}

}  // namespace

Result<placement::Placement> place_nodes(const View& view, const placement::Request& request) {
  FleetCache own;
  const auto* index = TRY(find_fleet(view, own));
  auto found = placement::place(*index, request);
  if (const auto* shortfall = std::get_if<placement::Shortfall>(&found)) {
    return placement::to_error(*shortfall);
  }
  return std::get<placement::Placement>(std::move(found));
}

Result<> choose_nodes(const View& view, WantLogin login, ClusterOrder& order) {
  placement::Request request;
  request.sku = order.spec.sku;
  request.count = order.spec.nodes;
  request.spares = order.spec.spares;
  const auto placed = TRY(place_nodes(view, request));
  for (const auto& node : placed.members) order.members.emplace_back(node);
  for (const auto& spare : placed.spares) order.spares.emplace_back(spare.node);
  order.headroom = choose_headroom(view, order);
  if (login == WantLogin::yes) order.login = TRY(choose_login(view));
  order.controller = TRY(choose_controller(view, order.network.prefixes));
  return {};
}

Result<ClusterOrder> plan_order(const View& view, const TenantId& tenant, const std::string& name,
                                ClusterSpec spec, WantLogin login) {
  TRY_VOID(check_counts(spec));
  spec.sku = TRY(resolve_sku(view, spec.sku));
  TRY_VOID(check_quota(view, tenant, spec));
  ClusterOrder order;
  order.tenant = tenant;
  order.name = name;
  order.spec = spec;
  TRY_VOID(choose_nodes(view, login, order));
  return order;
}

}  // namespace tundish::control
