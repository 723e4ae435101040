#include <algorithm>

#include "base/quote.hpp"
#include "control/allocation/order.hpp"
#include "edge/api/handlers.hpp"
#include "model/firewall.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/network_ops.hpp"
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
  return make_error(Code::invalid, name + " " + in_quotes(text) + " is no consent")
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
                                         std::to_string(most_nodes))
        .with_remedy("order at least one; tundish cluster delete NAME gives all back");
  }
  if (spares < 0 || spares > most_nodes) {
    return make_error(Code::invalid, "spares " + std::to_string(spares) + " is not from 0 to " +
                                         std::to_string(most_nodes))
        .with_remedy("order none with 0");
  }
  return {};
}

Result<NetworkRules> read_rules(const std::vector<std::string>& firewall,
                                const std::vector<std::string>& access) {
  NetworkRules rules;
  for (const auto& text : firewall) {
    rules.firewall.push_back(TRY(parse_firewall_rule(text, rules.firewall.size() + 1)));
  }
  for (const auto& text : access) {
    rules.access.push_back(TRY(parse_access_rule(text, rules.access.size() + 1)));
  }
  return rules;
}

Result<NetworkSpec> read_network(const ClusterRequest& asked) {
  NetworkSpec network;
  if (!asked.prefix.empty()) network.prefixes.push_back(asked.prefix);
  NetworkRules rules = TRY(read_rules(asked.firewall, asked.access));
  network.firewall = std::move(rules.firewall);
  network.access = std::move(rules.access);
  return network;
}

/// The operation checks it again; here first, so that who is over quota is not told of nodes.
Result<> check_quota(const Backend& b, const TenantId& id, const Sku& sku, int extra_nodes) {
  const Tenant* tenant = b.reg().find(id);
  if (!tenant) return make_error(Code::not_found, "the cluster's tenant does not exist any more");
  const std::int64_t left = tenant->spec.gpu_quota - gpus_in_use(b.reg(), id);
  const std::int64_t asked = static_cast<std::int64_t>(extra_nodes) * sku.spec.gpus;
  if (asked <= left) return {};
  return make_error(Code::exhausted, "quota: tenant " + tenant->meta.name + " asks for " +
                                         std::to_string(asked) + " GPUs, has " +
                                         std::to_string(left) + " left of " +
                                         std::to_string(tenant->spec.gpu_quota))
      .about("tenant/" + tenant->meta.name)
      .with_remedy("ask for fewer nodes, or raise the quota: tundish quota create " +
                   tenant->meta.name + " --gpus N");
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
    return make_error(Code::unsupported, "engine " + in_quotes(asked.engine) + " is not known")
        .with_remedy("use slurm");
  }
  TRY_VOID(check_counts(asked.nodes, asked.spares));
  order.network = TRY(read_network(asked));
  TRY_VOID(check_prefixes(b.reg(), order.fabric, order.network.prefixes, "cluster/" + asked.name));
  const Sku sku = TRY(resolve_sku(b, call, asked.sku));
  order.spec.engine = asked.engine;
  order.spec.sku = sku.meta.name;
  order.spec.nodes = asked.nodes;
  order.spec.spares = asked.spares;
  order.spec.requeue = TRY(read_consent("requeue", asked.requeue));
  order.spec.replace = TRY(read_consent("replace", asked.replace));
  order.spec.allow_checks = asked.allow_checks;
  TRY_VOID(check_quota(b, order.tenant, sku, asked.nodes));
  return order;
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

/// After an import nodes are expected, then looked at and proved: that is no shortage.
Result<> choose_or_say(const Backend& b, control::WantLogin login, ClusterOrder& order) {
  auto chosen = control::choose_nodes(b.parts.manager.view(), login, order);
  if (chosen || chosen.error().code != Code::exhausted) return chosen;
  int expected = 0, proving = 0;
  for (const auto& [id, node] : b.reg().all<Node>()) {
    if (node.spec.role != NodeRole::gpu || node.spec.sku != order.spec.sku) continue;
    const NodePhase phase = node.status.phase;
    expected += phase == NodePhase::expected ? 1 : 0;
    proving += phase == NodePhase::discovered || phase == NodePhase::inspecting ||
                       phase == NodePhase::revalidating || phase == NodePhase::wiping
                   ? 1
                   : 0;
  }
  if (expected + proving == 0) return chosen;
  Error error = chosen.error();
  error.what += "; not ready yet: " + std::to_string(expected) +
                " expected (no agent of theirs was heard so far) and " + std::to_string(proving) +
                " being looked at";
  error.remedy = "wait for them: add --wait, or see `tundish node list`";
  error.retry_after = seconds(5);
  return error;
}

}  // namespace

Result<Later> post_cluster(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<ClusterRequest>(call));
  ClusterOrder order = TRY(make_order(b, call, asked));
  const auto login = asked.login ? control::WantLogin::yes : control::WantLogin::no;
  TRY_VOID(choose_or_say(b, login, order));
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

Result<Later> change_firewall(Backend& b, const Call& call) {
  const Cluster cluster = TRY((get_matching<Cluster>(b, call, call.parts.at(0))));
  const auto asked = TRY((parse_body<FirewallRequest>(
      call, {.firewall = cluster.spec.firewall, .access = cluster.spec.access})));
  TRY_VOID(b.perform(call,
                     *set_firewall(cluster.id, TRY(read_rules(asked.firewall, asked.access)))));
  return show_later(b, call, cluster);
}

Result<Later> change_checks(Backend& b, const Call& call) {
  const Cluster cluster = TRY((get_matching<Cluster>(b, call, call.parts.at(0))));
  const auto asked = TRY(parse_body<ChecksConsentRequest>(call));
  if (asked.consent != "allow" && asked.consent != "deny") {
    return make_error(Code::invalid, "consent is allow or deny, not " + in_quotes(asked.consent));
  }
  const auto consent = asked.consent == "allow" ? ChecksConsent::allow : ChecksConsent::deny;
  TRY_VOID(b.perform(call, *set_checks_consent(cluster.id, consent)));
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
    const auto placed = TRY(control::place_nodes(b.parts.manager.view(), request));
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
