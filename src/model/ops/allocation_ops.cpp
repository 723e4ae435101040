#include "model/ops/allocation_ops.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "model/ops/network_ops.hpp"
#include "model/ops/pool.hpp"
#include "model/ops/tenancy_ops.hpp"
#include "model/prefix.hpp"

namespace tundish {
namespace {

std::string about(const AllocationId& id) { return "allocation/" + id.str(); }

AllocationNode* find_mutable(Allocation& allocation, const NodeId& node) {
  for (auto& member : allocation.status.nodes) {
    if (member.node == node) return &member;
  }
  return nullptr;
}

Result<> change_member(Txn& txn, const AllocationId& id, const NodeId& node,
                       const std::function<bool(AllocationNode&)>& change) {
  Allocation allocation = TRY(get_object(txn, id));
  AllocationNode* member = find_mutable(allocation, node);
  if (!member) {
    return make_error(Code::conflict, "node " + node.str() + " is not in " + id.str());
  }
  if (change(*member)) txn.put(std::move(allocation));
  return {};
}

/// Locks a node for an allocation, or says why not.
Result<> lock_node(Txn& txn, const NodeId& id, const AllocationId& allocation) {
  Node node = TRY(get_object(txn, id));
  if (node.status.phase != NodePhase::ready || !node.status.allocation.empty() ||
      !txn.view().claims_on(id).empty()) {
    return make_error(Code::conflict, "node " + node.meta.name + " is no longer free")
        .about("node/" + node.meta.name)
        .with_remedy("repeat the order; placement will choose another node");
  }
  node.status.phase = NodePhase::reserved;
  node.status.phase_since = txn.now();
  node.status.allocation = allocation;
  txn.put(std::move(node));
  return {};
}

/// The address that a declared node has in the segment.
std::string address_of(const Cluster& cluster, const NodeId& node) {
  for (const auto& declared : cluster.status.declared) {
    if (declared.node == node) return declared.address;
  }
  return "";
}

std::string access_port(const Node& node) {
  for (const auto& port : node.spec.ports) {
    if (port.role == PortRole::access) return port.name;
  }
  return "";
}

/// An access port of a service node that no other allocation uses.
std::string free_access_port(const Registry& view, const Node& node) {
  std::set<std::string> used;
  for (const auto& [id, allocation] : view.all<Allocation>()) {
    if (const AllocationNode* member = find_member(allocation, node.id)) {
      used.insert(member->interface);
    }
  }
  for (const auto& port : node.spec.ports) {
    if (port.role == PortRole::access && !used.contains(port.name)) return port.name;
  }
  return "";
}

Result<> check_quota(const Txn& txn, const TenantId& id, const ClusterSpec& spec, int extra) {
  const Tenant tenant = TRY(get_object(txn, id));
  const Sku* sku = txn.view().find_named<Sku>(spec.sku);
  if (!sku) return make_error(Code::not_found, "sku " + spec.sku + " does not exist");
  const int used = gpus_in_use(txn.view(), id);
  const int asked = extra * sku->spec.gpus;
  if (used + asked <= tenant.spec.gpu_quota) return {};
  return make_error(Code::exhausted, "tenant " + tenant.meta.name + " asks for " +
                                         std::to_string(asked) + " GPUs, has " +
                                         std::to_string(tenant.spec.gpu_quota - used) +
                                         " left of " + std::to_string(tenant.spec.gpu_quota))
      .about("tenant/" + tenant.meta.name)
      .with_remedy("ask for fewer nodes, or raise the quota: tundish quota create " +
                   tenant.meta.name + " --gpus N");
}

/// Addresses of a segment: .1 gateway, .2 controller, .3 login, declared nodes from .10 on.
constexpr int first_declared = 10;

std::string address_in(const std::string& prefix, int number) {
  const auto parsed = parse_prefix(prefix);
  return parsed ? render_ipv4(parsed->address + static_cast<std::uint32_t>(number)) : "";
}

/// Addresses of a prefix that are left for nodes: sixteen are the fabric's and the engine's.
std::size_t room_in(const std::string& prefix) {
  const auto parsed = parse_prefix(prefix);
  const std::size_t size = parsed ? parsed->last() - parsed->address + std::size_t{1} : 0;
  return size > 16 ? size - 16 : 0;
}

Result<> check_room(const std::string& cluster, const std::string& prefix, std::size_t nodes) {
  if (nodes <= room_in(prefix)) return {};
  return make_error(Code::invalid, "cluster " + cluster + " would declare " +
                                       std::to_string(nodes) + " nodes; " + prefix + " holds " +
                                       std::to_string(room_in(prefix)))
      .about("cluster/" + cluster)
      .with_remedy("a cluster's prefix stays as it was ordered: order another cluster");
}

/// The engine's configuration declares what a cluster may grow by as well: each has an address.
Result<> check_order_room(const ClusterOrder& order, const std::string& prefix) {
  const std::size_t ordered = order.members.size() + order.spares.size();
  const std::size_t nodes = ordered + order.headroom.size();
  if (nodes <= room_in(prefix)) return {};
  int length = 27;
  while (length > 8 && (std::size_t{1} << (32 - length)) - 16 < nodes) --length;
  return make_error(Code::invalid, "cluster " + order.name + " would declare " +
                                       std::to_string(nodes) + " nodes (" +
                                       std::to_string(ordered) + " ordered, " +
                                       std::to_string(order.headroom.size()) +
                                       " to grow by); " + prefix + " holds " +
                                       std::to_string(room_in(prefix)) +
                                       ", sixteen of its addresses are ours")
      .about("cluster/" + order.name)
      .with_remedy("name a prefix of length " + std::to_string(length) +
                   " or shorter, or order several smaller clusters");
}

void declare(Txn& txn, Cluster& cluster, const NodeId& id, const std::string& prefix) {
  const Node* node = txn.view().find(id);
  if (!node || !address_of(cluster, id).empty()) return;
  const int number = first_declared + static_cast<int>(cluster.status.declared.size());
  cluster.status.declared.push_back({id, node->meta.name, address_in(prefix, number)});
}

AllocationNode held(const Cluster& cluster, const Node& node, MemberRole role, Instant now) {
  AllocationNode out;
  out.node = node.id;
  out.role = role;
  out.interface = access_port(node);
  out.address = address_of(cluster, node.id);
  out.since = now;
  return out;
}

Result<> lock_all(Txn& txn, const ClusterOrder& order, Cluster& cluster, Allocation& allocation) {
  const auto lock = [&](const NodeId& id, MemberRole role) -> Result<> {
    TRY_VOID(lock_node(txn, id, allocation.id));
    allocation.status.nodes.push_back(held(cluster, *txn.view().find(id), role, txn.now()));
    return {};
  };
  for (const auto& id : order.members) TRY_VOID(lock(id, MemberRole::member));
  for (const auto& id : order.spares) TRY_VOID(lock(id, MemberRole::spare));
  if (!order.login.empty()) TRY_VOID(lock(order.login, MemberRole::login));
  return {};
}

Result<> add_service_nodes(Txn& txn, const ClusterOrder& order, Cluster& cluster,
                           Allocation& allocation) {
  const std::string& prefix = allocation.status.prefix;
  const Node controller = TRY(get_object(txn, order.controller));
  TRY_VOID(check_service_node(txn.view(), controller, {prefix}));
  AllocationNode member;
  member.node = controller.id;
  member.role = MemberRole::controller;
  member.interface = free_access_port(txn.view(), controller);
  member.address = address_in(prefix, 2);
  member.since = txn.now();
  if (member.interface.empty()) {
    return make_error(Code::exhausted,
                      "service node " + controller.meta.name + " has no free access port")
        .with_remedy("delete a cluster, or add a service node");
  }
  allocation.status.nodes.push_back(member);
  if (order.login.empty()) return {};
  cluster.status.login_address = address_in(prefix, 3);
  find_mutable(allocation, order.login)->address = cluster.status.login_address;
  return {};
}

/// Who comes in: ssh from anywhere where nothing else was ordered; nobody without a login node.
Result<> plan_firewall(const Registry& view, const ClusterOrder& order, NetworkSpec& spec) {
  const LoginNode login = order.login.empty() ? LoginNode::absent : LoginNode::present;
  const Fabric* fabric = view.find_named<Fabric>(order.fabric);
  const bool has_gateway = fabric && !fabric->spec.access_prefix.empty();
  if (spec.access.empty() && login == LoginNode::present && has_gateway) {
    FirewallRule ssh;
    ssh.protocol = "tcp";
    ssh.port_from = 22;
    spec.access.push_back(ssh);
  }
  return plan_rules(view, {order.fabric, order.name, login}, spec);
}

/// The prefixes of the order, or a block of our own plan: 10.64.BLOCK.0/24.
Result<NetworkSpec> plan_network(Txn& txn, const ClusterOrder& order, const ClusterId& owner) {
  NetworkSpec spec = order.network;
  if (spec.prefixes.empty()) {
    const int block = TRY(take_value(txn, order.fabric, "address_block", owner.str()));
    spec.prefixes.push_back("10.64." + std::to_string(block) + ".0/24");
  }
  TRY_VOID(check_prefixes(txn.view(), order.fabric, spec.prefixes, "cluster/" + order.name));
  TRY_VOID(check_out_of_band(txn.view(), spec.prefixes, "cluster/" + order.name));
  TRY_VOID(check_order_room(order, spec.prefixes.front()));
  TRY_VOID(plan_firewall(txn.view(), order, spec));
  return spec;
}

Allocation begin_allocation(Txn& txn, const ClusterOrder& order, const ClusterId& cluster) {
  Allocation allocation;
  allocation.id = txn.make_id<Allocation>();
  allocation.meta.name = order.name;
  allocation.meta.tenant = order.tenant;
  allocation.cluster = cluster;
  allocation.spec.sku = order.spec.sku;
  allocation.spec.nodes = order.spec.nodes;
  allocation.spec.spares = order.spec.spares;
  allocation.spec.requeue = order.spec.requeue;
  allocation.spec.replace = order.spec.replace;
  allocation.status.phase = AllocationPhase::network_pending;
  allocation.status.phase_since = txn.now();
  return allocation;
}

Result<> place_order(Txn& txn, const ClusterOrder& order) {
  TRY_VOID(require_valid_name("cluster", order.name));
  TRY_VOID(require_new_name<Cluster>(txn, order.name, order.tenant));
  TRY_VOID(check_quota(txn, order.tenant, order.spec, order.spec.nodes));
  Cluster cluster;
  cluster.id = txn.make_id<Cluster>();
  cluster.meta.name = order.name;
  cluster.meta.tenant = order.tenant;
  cluster.spec = order.spec;
  cluster.status.phase_since = txn.now();
  if (order.spec.allow_checks) {
    cluster.status.checks_by = txn.actor();
    cluster.status.checks_at = txn.now();
  }
  Allocation allocation = begin_allocation(txn, order, cluster.id);
  NetworkSpec spec = TRY(plan_network(txn, order, cluster.id));
  allocation.status.prefix = cluster.status.prefix = spec.prefixes.front();
  tell_rules(spec, cluster.spec);
  cluster.status.index = TRY(take_value(txn, order.fabric, "cluster_index", cluster.id.str()));
  cluster.status.allocation = allocation.id;
  for (const auto* list : {&order.members, &order.spares, &order.headroom}) {
    for (const auto& id : *list) declare(txn, cluster, id, allocation.status.prefix);
  }
  TRY_VOID(lock_all(txn, order, cluster, allocation));
  TRY_VOID(add_service_nodes(txn, order, cluster, allocation));
  Network network = TRY(draw_network(txn, order.fabric, allocation, std::move(spec)));
  allocation.status.segment = network.status.segments.front().name;
  allocation.status.network = network.id;
  const std::string& gateway = network.status.access_address;
  cluster.status.access_address = gateway.substr(0, gateway.find('/'));
  txn.put(std::move(network));
  txn.put(std::move(allocation));
  txn.put(std::move(cluster));
  return {};
}

}  // namespace

Result<> check_service_node(const Registry& view, const Node& node,
                            const std::vector<std::string>& prefixes) {
  if (node.status.hardware.network_namespaces) return {};
  for (const auto& [id, allocation] : view.all<Allocation>()) {
    if (!find_member(allocation, node.id)) continue;
    const auto other = parse_prefix(allocation.status.prefix);
    for (const auto& text : prefixes) {
      const auto wanted = parse_prefix(text);
      if (!wanted || !other || !wanted->overlaps(*other)) continue;
      // The other cluster is not named: it may be another tenant's.
      return make_error(Code::conflict, "service node " + node.meta.name +
                                            " has no network namespaces, and serves " +
                                            "a cluster already whose prefix overlaps " + text)
          .about("node/" + node.meta.name)
          .with_remedy(
              "choose another prefix, or let its agent make network namespaces "
              "(CAP_SYS_ADMIN, a kernel with CONFIG_NET_NS)");
    }
  }
  return {};
}

const AllocationNode* find_member(const Allocation& allocation, const NodeId& node) {
  for (const auto& member : allocation.status.nodes) {
    if (member.node == node) return &member;
  }
  return nullptr;
}

int count_role(const Allocation& allocation, MemberRole role) {
  return static_cast<int>(
      std::count_if(allocation.status.nodes.begin(), allocation.status.nodes.end(),
                    [&](const AllocationNode& member) { return member.role == role; }));
}

OperationPtr create_cluster(ClusterOrder order) {
  const std::string object = "cluster/" + order.name;
  return make_operation("create_cluster", object,
                        [order = std::move(order)](Txn& txn) { return place_order(txn, order); });
}

OperationPtr begin_delete_cluster(ClusterId id) {
  return make_operation("begin_delete_cluster", "cluster/" + id.str(), [id](Txn& txn) -> Result<> {
    Cluster cluster = TRY(get_object(txn, id));
    if (cluster.status.phase == ClusterPhase::deleting) return {};
    Allocation allocation = TRY(get_object(txn, cluster.status.allocation));
    cluster.status.phase = ClusterPhase::deleting;
    cluster.status.phase_since = txn.now();
    allocation.status.phase = AllocationPhase::releasing;
    allocation.status.phase_since = txn.now();
    touch_network(txn, allocation.status.network);
    txn.put(std::move(cluster));
    txn.put(std::move(allocation));
    return {};
  });
}

OperationPtr set_checks_consent(ClusterId id, ChecksConsent consent) {
  return make_operation("set_checks_consent", "cluster/" + id.str(), [=](Txn& txn) -> Result<> {
    Cluster cluster = TRY(get_object(txn, id));
    const bool allow = consent == ChecksConsent::allow;
    if (cluster.spec.allow_checks == allow) return {};
    cluster.spec.allow_checks = allow;
    cluster.status.checks_by = txn.actor();
    cluster.status.checks_at = txn.now();
    ++cluster.meta.version;
    txn.put(std::move(cluster));
    return {};
  });
}

OperationPtr resize_cluster(ClusterResize resize) {
  const std::string object = "cluster/" + resize.cluster.str();
  return make_operation("resize_cluster", object, [resize](Txn& txn) -> Result<> {
    Cluster cluster = TRY(get_object(txn, resize.cluster));
    Allocation allocation = TRY(get_object(txn, cluster.status.allocation));
    const int grown = resize.nodes - cluster.spec.nodes;
    if (grown > 0) TRY_VOID(check_quota(txn, cluster.meta.tenant, cluster.spec, grown));
    std::size_t declared = cluster.status.declared.size();
    for (const auto& id : resize.added_members) declared += address_of(cluster, id).empty() ? 1 : 0;
    TRY_VOID(check_room(cluster.meta.name, allocation.status.prefix, declared));
    for (const auto& id : resize.added_members) {
      TRY_VOID(lock_node(txn, id, allocation.id));
      declare(txn, cluster, id, allocation.status.prefix);
      allocation.status.nodes.push_back(
          held(cluster, *txn.view().find(id), MemberRole::member, txn.now()));
    }
    for (const auto& id : resize.removed) {
      if (AllocationNode* member = find_mutable(allocation, id)) {
        member->role = MemberRole::leaving;
        member->since = txn.now();
      }
    }
    cluster.spec.nodes = allocation.spec.nodes = resize.nodes;
    cluster.spec.spares = allocation.spec.spares = resize.spares;
    ++cluster.meta.version;
    ++allocation.meta.version;
    for (const auto& id : resize.added_members) TRY_VOID(join_network(txn, allocation, id));
    touch_network(txn, allocation.status.network);
    txn.put(std::move(allocation));
    txn.put(std::move(cluster));
    return {};
  });
}

OperationPtr set_allocation_phase(AllocationId id, AllocationPhase phase, std::string reason) {
  return make_operation("set_allocation_phase", about(id), [=](Txn& txn) -> Result<> {
    Allocation allocation = TRY(get_object(txn, id));
    auto& status = allocation.status;
    if (status.phase == phase && status.reason == reason) return {};
    if (status.phase != phase) status.phase_since = txn.now();
    if (phase == AllocationPhase::degraded && !status.short_since.is_set()) {
      status.short_since = txn.now();
    }
    if (phase == AllocationPhase::active) status.short_since = {};
    status.phase = phase;
    status.reason = reason;
    txn.put(std::move(allocation));
    return {};
  });
}

OperationPtr set_cluster_phase(ClusterId id, ClusterPhase phase, std::string reason) {
  return make_operation("set_cluster_phase", "cluster/" + id.str(), [=](Txn& txn) -> Result<> {
    Cluster cluster = TRY(get_object(txn, id));
    if (cluster.status.phase == phase && cluster.status.reason == reason) return {};
    if (cluster.status.phase != phase) cluster.status.phase_since = txn.now();
    cluster.status.phase = phase;
    cluster.status.reason = reason;
    txn.put(std::move(cluster));
    return {};
  });
}

OperationPtr bind_spare(AllocationId id, NodeId broken, NodeId spare, IncidentId cause) {
  return make_operation("bind_spare", about(id), [=](Txn& txn) -> Result<> {
    Allocation allocation = TRY(get_object(txn, id));
    // Without a broken one: it left before the spare could stand in.
    AllocationNode* out = find_mutable(allocation, broken);
    AllocationNode* in = find_mutable(allocation, spare);
    const bool swaps = !broken.empty();
    if ((swaps && (!out || out->role != MemberRole::member)) || !in ||
        in->role != MemberRole::spare) {
      return make_error(Code::conflict, "allocation " + id.str() + " changed; spare not bound");
    }
    if (!txn.view().claims_on(spare).empty()) {
      return make_error(Code::conflict, "spare " + spare.str() + " is claimed");
    }
    in->role = MemberRole::member;
    in->since = txn.now();
    in->cause = cause.str();
    if (swaps) {
      out->role = MemberRole::leaving;
      out->since = in->since;
      out->cause = in->cause;
    }
    if (const Incident* found = txn.view().find(cause)) {
      Incident incident = *found;
      incident.replacement = spare;
      txn.put(std::move(incident));
    }
    touch_network(txn, allocation.status.network);
    txn.put(std::move(allocation));
    return {};
  });
}

OperationPtr add_node(AllocationId id, NodeId node, MemberRole role, IncidentId cause) {
  return make_operation("add_node", about(id), [=](Txn& txn) -> Result<> {
    Allocation allocation = TRY(get_object(txn, id));
    Cluster cluster = TRY(get_object(txn, allocation.cluster));
    TRY_VOID(lock_node(txn, node, id));
    if (address_of(cluster, node).empty()) {
      TRY_VOID(check_room(cluster.meta.name, allocation.status.prefix,
                          cluster.status.declared.size() + 1));
      declare(txn, cluster, node, allocation.status.prefix);
      txn.put(cluster);
    }
    AllocationNode member = held(cluster, *txn.view().find(node), role, txn.now());
    member.cause = cause.str();
    allocation.status.nodes.push_back(std::move(member));
    if (role == MemberRole::member) {
      if (const Incident* found = txn.view().find(cause)) {
        Incident incident = *found;
        incident.replacement = node;
        txn.put(std::move(incident));
      }
    }
    TRY_VOID(join_network(txn, allocation, node));
    txn.put(std::move(allocation));
    return {};
  });
}

OperationPtr mark_leaving(AllocationId id, NodeId node, IncidentId cause) {
  return make_operation("mark_leaving", about(id), [=](Txn& txn) -> Result<> {
    return change_member(txn, id, node, [&](AllocationNode& member) {
      if (member.role == MemberRole::leaving) return false;
      member.role = MemberRole::leaving;
      member.since = txn.now();
      member.cause = cause.str();
      if (const Network* network = find_network(txn.view(), id)) touch_network(txn, network->id);
      return true;
    });
  });
}

OperationPtr mark_attached(AllocationId id, NodeId node, bool attached) {
  return make_operation("mark_attached", about(id), [=](Txn& txn) {
    return change_member(txn, id, node, [&](AllocationNode& member) {
      return std::exchange(member.attached, attached) != attached;
    });
  });
}

OperationPtr mark_setup_begun(AllocationId id, NodeId node) {
  return make_operation("mark_setup_begun", about(id), [=](Txn& txn) {
    return change_member(txn, id, node,
                         [](AllocationNode& member) { return !std::exchange(member.begun, true); });
  });
}

OperationPtr mark_joined(AllocationId id, NodeId node, bool joined, std::string setup_hash) {
  return make_operation("mark_joined", about(id), [=](Txn& txn) -> Result<> {
    bool left = false;
    TRY_VOID(change_member(txn, id, node, [&](AllocationNode& member) {
      const bool renewed = std::exchange(member.setup_hash, setup_hash) != setup_hash;
      if (renewed) ++member.setups;
      const bool cleaned = !joined && std::exchange(member.begun, false);
      left = !joined && member.joined;
      return std::exchange(member.joined, joined) != joined || renewed || cleaned;
    }));
    const Allocation* held = txn.view().find(id);
    if (left && held) touch_network(txn, held->status.network);  // its way to the storage goes
    Node object = TRY(get_object(txn, node));
    const bool waits = object.status.phase == NodePhase::reserved ||
                       object.status.phase == NodePhase::provisioning;
    if (joined && waits) {
      object.status.phase = NodePhase::assigned;
      object.status.phase_since = txn.now();
      txn.put(std::move(object));
    }
    return {};
  });
}

OperationPtr detach_node(AllocationId id, NodeId node, NodePhase phase) {
  return make_operation("detach_node", about(id), [=](Txn& txn) -> Result<> {
    Allocation allocation = TRY(get_object(txn, id));
    const AllocationNode* member = find_member(allocation, node);
    if (!member) return {};
    if (member->attached) {
      return make_error(Code::conflict, "node " + node.str() + " is still seen in segment " +
                                            allocation.status.segment);
    }
    const AllocationNode left = *member;
    std::erase_if(allocation.status.nodes,
                  [&](const AllocationNode& other) { return other.node == node; });
    leave_network(txn, allocation, left);
    txn.put(std::move(allocation));
    Node object = TRY(get_object(txn, node));
    if (object.status.allocation == id) {
      object.status.allocation = {};
      object.status.phase = phase;
      object.status.phase_since = txn.now();
      object.status.attempts = 0;
      txn.put(std::move(object));
    }
    return {};
  });
}

OperationPtr record_controller(ClusterId id, bool ready, std::string config_hash,
                               std::vector<std::string> users) {
  return make_operation("record_controller", "cluster/" + id.str(), [=](Txn& txn) -> Result<> {
    Cluster cluster = TRY(get_object(txn, id));
    Allocation allocation = TRY(get_object(txn, cluster.status.allocation));
    for (auto& member : allocation.status.nodes) {
      if (member.role == MemberRole::controller) member.joined = ready;
    }
    txn.put(std::move(allocation));
    cluster.status.controller_ready = ready;
    ++cluster.status.setups;
    cluster.status.config_applied = config_hash;
    cluster.status.users_applied = users;
    txn.put(std::move(cluster));
    return {};
  });
}

OperationPtr record_drained(ClusterId id, std::vector<std::string> names) {
  return make_operation("record_drained", "cluster/" + id.str(), [=](Txn& txn) -> Result<> {
    Cluster cluster = TRY(get_object(txn, id));
    if (cluster.status.drained == names) return {};
    cluster.status.drained = names;
    txn.put(std::move(cluster));
    return {};
  });
}

OperationPtr remove_cluster(ClusterId id) {
  return make_operation("remove_cluster", "cluster/" + id.str(), [id](Txn& txn) -> Result<> {
    const Cluster cluster = TRY(get_object(txn, id));
    const Allocation allocation = TRY(get_object(txn, cluster.status.allocation));
    if (!allocation.status.nodes.empty()) {
      return make_error(Code::conflict, "cluster " + cluster.meta.name + " still holds nodes");
    }
    bury_values(txn, id.str());
    std::vector<Id<Secret>> secrets;
    for (const auto& [secret_id, secret] : txn.view().all<Secret>()) {
      if (secret.meta.name.starts_with(id.str() + "/")) secrets.push_back(secret_id);
    }
    for (const auto& secret : secrets) txn.erase(secret);
    erase_network(txn, allocation.status.network);
    txn.erase(allocation.id);
    txn.erase(id);
    return {};
  });
}

}  // namespace tundish
