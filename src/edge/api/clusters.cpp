#include <algorithm>
#include <map>
#include <set>

#include "control/allocation/fleet_view.hpp"
#include "control/placement/place.hpp"
#include "edge/api/handlers.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::edge::api {
namespace {

/// Bounds what a typing error can ask for; far above any site.
constexpr int most_nodes = 100000;

Result<Consent> read_consent(const std::string& name, const std::string& text) {
  const auto names = enum_names(Consent{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Consent>(i);
  }
  return make_error(Code::invalid, name + " \"" + text + "\" is no consent")
      .with_remedy("use auto, ask or never");
}

Result<Sku> resolve_sku(const Backend& b, const Call& call, const std::string& name) {
  if (!name.empty()) return get_visible<Sku>(b, call, name);
  std::string names;
  const Sku* only = nullptr;
  int count = 0;
  for (const auto& [id, sku] : b.reg().all<Sku>()) {
    if (sku.spec.gpus <= 0) continue;
    only = &sku;
    ++count;
    names += (names.empty() ? "" : ", ") + sku.meta.name;
  }
  if (count == 1) return *only;
  if (count == 0) return make_error(Code::not_found, "there is no SKU with GPUs");
  return make_error(Code::invalid, "there are several SKUs with GPUs: " + names)
      .with_remedy("add --sku NAME");
}

Result<> check_counts(int nodes, int spares) {
  if (nodes < 1 || nodes > most_nodes) {
    return make_error(Code::invalid, "nodes " + std::to_string(nodes) + " is not from 1 to " +
                                         std::to_string(most_nodes));
  }
  if (spares < 0 || spares > most_nodes) {
    return make_error(Code::invalid, "spares " + std::to_string(spares) + " is not from 0 to " +
                                         std::to_string(most_nodes));
  }
  return {};
}

/// The operation checks it again; here first, so that who is over quota is not told of nodes.
Result<> check_quota(const Backend& b, const TenantId& id, const Sku& sku, int extra_nodes) {
  const Tenant* tenant = b.reg().find(id);
  if (!tenant) return make_error(Code::not_found, "the cluster's tenant does not exist any more");
  const std::int64_t left = tenant->spec.gpu_quota - gpus_in_use(b.reg(), id);
  const std::int64_t asked = static_cast<std::int64_t>(extra_nodes) * sku.spec.gpus;
  if (asked <= left) return {};
  return make_error(Code::exhausted,
                    "quota: tenant " + tenant->meta.name + " asks for " + std::to_string(asked) +
                        " GPUs, has " + std::to_string(left) + " left of " +
                        std::to_string(tenant->spec.gpu_quota))
      .about("tenant/" + tenant->meta.name)
      .with_remedy("ask for fewer nodes, or raise the quota: tundish quota create " +
                   tenant->meta.name + " --gpus N");
}

Result<control::placement::Placement> place_nodes(const Backend& b,
                                                  const control::placement::Request& request) {
  const auto view = b.parts.manager.view();
  const auto index = TRY(control::placement::FleetIndex::create(control::fleet_of(view)));
  auto outcome = control::placement::place(index, request);
  if (const auto* none = std::get_if<control::placement::Shortfall>(&outcome)) {
    return to_error(*none);
  }
  return std::get<control::placement::Placement>(std::move(outcome));
}

/// Further nodes of the SKU, so that a swap needs no restart of the engine.
std::vector<NodeId> pick_headroom(const Backend& b, const ClusterOrder& order) {
  std::set<NodeId> chosen(order.members.begin(), order.members.end());
  chosen.insert(order.spares.begin(), order.spares.end());
  std::vector<NodeId> out;
  for (const auto& [id, node] : b.reg().all<Node>()) {
    if (static_cast<int>(out.size()) >= order.spec.headroom) break;
    const bool fits = node.spec.role == NodeRole::gpu && node.spec.sku == order.spec.sku &&
                      node.status.phase != NodePhase::retired;
    if (fits && !chosen.contains(id)) out.push_back(id);
  }
  return out;
}

Result<NodeId> pick_login(const Backend& b) {
  const auto view = b.parts.manager.view();
  for (const auto& [id, node] : b.reg().all<Node>()) {
    if (node.spec.role == NodeRole::login && control::placeable(view, node).yes) return id;
  }
  return make_error(Code::exhausted, "no login node is free")
      .with_remedy("order without one: --no-login, or add a login node");
}

bool has_free_port(const Node& node, int clusters) {
  const auto ports = std::count_if(node.spec.ports.begin(), node.spec.ports.end(),
                                   [](const Port& port) { return port.role == PortRole::access; });
  return ports > clusters;
}

/// The service node with the fewest clusters.
Result<NodeId> pick_controller(const Backend& b) {
  std::map<NodeId, int> load;
  for (const auto& [id, allocation] : b.reg().all<Allocation>()) {
    for (const auto& member : allocation.status.nodes) {
      if (member.role == MemberRole::controller) ++load[member.node];
    }
  }
  const auto view = b.parts.manager.view();
  const Node* best = nullptr;
  for (const auto& [id, node] : b.reg().all<Node>()) {
    if (node.spec.role != NodeRole::service || node.status.phase == NodePhase::retired) continue;
    if (!control::is_present(view, id) || !b.reg().claims_on(id).empty()) continue;
    if (!has_free_port(node, load[id])) continue;
    if (!best || load[id] < load[best->id]) best = &node;
  }
  if (best) return best->id;
  return make_error(Code::exhausted, "no service node can take the engine's controller")
      .with_remedy("see that a service node is heard, unclaimed and has a free access port");
}

Result<ClusterOrder> make_order(Backend& b, const Call& call, const ClusterRequest& asked) {
  ClusterOrder order;
  order.tenant = TRY(resolve_tenant(b, call, asked.tenant)).id;
  order.name = asked.name;
  TRY_VOID(require_valid_name("cluster", asked.name));
  for (const auto& [id, other] : b.reg().all<Cluster>()) {
    if (other.meta.tenant != order.tenant || other.meta.name != asked.name) continue;
    return make_error(Code::conflict, "cluster " + asked.name + " exists already")
        .about("cluster/" + asked.name)
        .with_remedy("choose another name, or show it with: tundish cluster show " + asked.name);
  }
  if (asked.engine != "slurm") {
    return make_error(Code::unsupported, "engine \"" + asked.engine + "\" is not known")
        .with_remedy("use slurm");
  }
  TRY_VOID(check_counts(asked.nodes, asked.spares));
  const Sku sku = TRY(resolve_sku(b, call, asked.sku));
  order.spec.engine = asked.engine;
  order.spec.sku = sku.meta.name;
  order.spec.nodes = asked.nodes;
  order.spec.spares = asked.spares;
  order.spec.requeue = TRY(read_consent("requeue", asked.requeue));
  order.spec.replace = TRY(read_consent("replace", asked.replace));
  TRY_VOID(check_quota(b, order.tenant, sku, asked.nodes));
  return order;
}

Result<> choose_nodes(const Backend& b, const ClusterRequest& asked, ClusterOrder& order) {
  control::placement::Request request;
  request.sku = order.spec.sku;
  request.count = order.spec.nodes;
  request.spares = order.spec.spares;
  const auto placed = TRY(place_nodes(b, request));
  for (const auto& node : placed.members) order.members.emplace_back(node);
  for (const auto& spare : placed.spares) order.spares.emplace_back(spare.node);
  order.headroom = pick_headroom(b, order);
  if (asked.login) order.login = TRY(pick_login(b));
  order.controller = TRY(pick_controller(b));
  return {};
}

/// The `count` nodes of a role that joined last; of equals the highest names.
std::vector<NodeId> last_joined(const Backend& b, const Allocation& held, MemberRole role,
                                int count) {
  std::vector<AllocationNode> nodes;
  for (const auto& member : held.status.nodes) {
    if (member.role == role) nodes.push_back(member);
  }
  const auto name_of = [&](const NodeId& id) {
    const Node* node = b.reg().find(id);
    return node ? node->meta.name : id.str();
  };
  std::sort(nodes.begin(), nodes.end(), [&](const auto& left, const auto& right) {
    if (left.since != right.since) return left.since > right.since;
    return name_of(left.node) > name_of(right.node);
  });
  std::vector<NodeId> out;
  for (int i = 0; i < count && i < static_cast<int>(nodes.size()); ++i) {
    out.push_back(nodes[static_cast<std::size_t>(i)].node);
  }
  return out;
}

}  // namespace

Result<Later> post_cluster(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<ClusterRequest>(call));
  ClusterOrder order = TRY(make_order(b, call, asked));
  TRY_VOID(choose_nodes(b, asked, order));
  const TenantId tenant = order.tenant;
  TRY_VOID(b.perform(call, *create_cluster(std::move(order))));
  const Cluster* made = b.reg().find_named<Cluster>(asked.name, tenant);
  if (!made) return make_error(Code::internal, "cluster " + asked.name + " was not stored");
  return show_later(b, call, *made, 201);
}

Result<Later> delete_cluster(Backend& b, const Call& call) {
  const Cluster cluster = TRY((get_matching<Cluster>(b, call, call.parts.at(0))));
  TRY_VOID(b.perform(call, *begin_delete_cluster(cluster.id)));
  return show_later(b, call, cluster);
}

Result<Later> scale_cluster(Backend& b, const Call& call) {
  const Cluster cluster = TRY((get_matching<Cluster>(b, call, call.parts.at(0))));
  const auto asked = TRY((parse_body<ScaleRequest>(
      call, {.nodes = cluster.spec.nodes, .spares = cluster.spec.spares})));
  TRY_VOID(check_counts(asked.nodes, asked.spares));
  const Allocation* held = b.reg().find(cluster.status.allocation);
  if (!held || cluster.status.phase == ClusterPhase::deleting) {
    return make_error(Code::conflict, "cluster " + cluster.meta.name + " is being deleted")
        .about("cluster/" + cluster.meta.name);
  }
  ClusterResize resize;
  resize.cluster = cluster.id;
  resize.nodes = asked.nodes;
  resize.spares = asked.spares;
  const int extra = asked.nodes - cluster.spec.nodes;
  if (extra > 0) {
    const Sku sku = TRY(resolve_sku(b, call, cluster.spec.sku));
    TRY_VOID(check_quota(b, cluster.meta.tenant, sku, extra));
    control::placement::Request request;
    request.sku = cluster.spec.sku;
    request.count = extra;
    const auto placed = TRY(place_nodes(b, request));
    for (const auto& node : placed.members) resize.added_members.emplace_back(node);
  }
  const int surplus = count_role(*held, MemberRole::member) - asked.nodes;
  const int spare_surplus = count_role(*held, MemberRole::spare) - asked.spares;
  resize.removed = last_joined(b, *held, MemberRole::member, surplus);
  for (auto& node : last_joined(b, *held, MemberRole::spare, spare_surplus)) {
    resize.removed.push_back(std::move(node));
  }
  TRY_VOID(b.perform(call, *resize_cluster(std::move(resize))));
  return show_later(b, call, cluster);
}

}  // namespace tundish::edge::api
