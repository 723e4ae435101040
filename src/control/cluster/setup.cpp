#include "control/cluster/setup.hpp"

#include "base/text.hpp"
#include "control/cluster/drained.hpp"
#include "control/network/storage.hpp"
#include "model/prefix.hpp"

namespace tundish::control {
namespace {

int prefix_length_of(const Allocation& allocation) {
  const auto prefix = parse_prefix(allocation.status.prefix);
  return prefix ? prefix->length : 24;
}

std::vector<HostEntry> hosts_of(const Cluster& cluster, const DesiredEngine& desired) {
  std::vector<HostEntry> out = {{engine_cluster(cluster) + "-ctl", desired.controller_address}};
  if (!cluster.status.login_address.empty()) {
    out.push_back({cluster.meta.name + "-login", cluster.status.login_address});
  }
  for (const auto& node : desired.nodes) out.push_back({node.name, node.address});
  return out;
}

std::optional<AccessGateway> gateway_of(const View& view, const Cluster& cluster,
                                        const Allocation& allocation) {
  const Network* network = view.reg.find(allocation.status.network);
  if (!network || network->status.access_address.empty()) return std::nullopt;
  const std::string& place = network->status.access_address;
  const auto prefix = parse_interface(place);
  const Fabric* fabric = view.reg.find_named<Fabric>(network->status.fabric);
  AccessGateway out;
  out.address = place.substr(0, place.find('/'));
  out.prefix_length = prefix ? prefix->length : 24;
  out.router = fabric ? fabric->spec.access_router : "";
  out.target = cluster.status.login_address;
  for (const auto& rule : network->spec.access) {
    out.rules.push_back({rule.protocol, rule.source, rule.port_from, rule.port_to});
  }
  return out;
}

/// FNV-1a: names a configuration, protects nothing.
std::string fingerprint(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  std::string out;
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(hash >> shift & 255);
  return render_hex(out);
}

/// The tenant's export of a storage that is driven, else the site's general one.
void add_storage(const View& view, const Allocation& allocation, const AllocationNode& member,
                 const DesiredEngine& desired, SecretSource& secrets, SetupNode& setup) {
  const Network* held = find_network(view.reg, allocation.id);
  const auto plan = held ? network::storage_plan(view, *held) : std::nullopt;
  if (!plan) {
    setup.exports.push_back(
        {view.limits.export_source + desired.tenant, "/data", view.limits.export_type});
    return;
  }
  setup.exports.push_back(
      {plan->export_name + "@" + plan->mount_address + ":/data", "/data", "sshfs"});
  StorageAccess access;
  access.address = network::storage_address(*held, member.node);
  access.prefix = plan->prefix;
  const auto& gateway = held->status.segments.front().gateway;
  access.gateway = gateway.substr(0, gateway.find('/'));
  const auto seen = view.seen.storage.find(held->status.fabric);
  if (seen != view.seen.storage.end()) access.identity_key = seen->second.seen.identity_key;
  access.private_key = secrets.storage_key(allocation.meta.tenant).private_key;
  setup.storage = std::move(access);
}

}  // namespace

std::string setup_hash(const DesiredEngine& desired) {
  std::string text = desired.controller_address + "|" + std::to_string(desired.index);
  for (const auto& node : desired.nodes) text += "|" + node.name + "=" + node.address;
  for (const auto& user : desired.users) {
    text += "|" + user.name + ":" + std::to_string(user.uid) + ":" + join(user.ssh_keys, ";");
  }
  return fingerprint(text);
}

std::string controller_hash(const Cluster& cluster, const DesiredEngine& desired) {
  return fingerprint(setup_hash(desired) + "|" + join(cluster.spec.access, ";"));
}

Action make_controller_setup(const View& view, const Cluster& cluster, const Allocation& allocation,
                             const DesiredEngine& desired, const Engine& engine,
                             SecretSource& secrets) {
  Action action;
  SetupController setup;
  for (const auto& member : allocation.status.nodes) {
    if (member.role != MemberRole::controller) continue;
    action.node = member.node;
    setup.interface = member.interface;
    setup.address = member.address;
  }
  setup.cluster = engine_cluster(cluster);
  setup.tenant = desired.tenant;
  setup.prefix_length = prefix_length_of(allocation);
  setup.index = cluster.status.index;
  setup.hosts = hosts_of(cluster, desired);
  setup.users = desired.users;
  setup.munge_key = secrets.munge_key(cluster);
  setup.dbd_password = secrets.dbd_password(cluster);
  setup.files = engine.render(desired);
  setup.gateway = gateway_of(view, cluster, allocation);
  action.config_hash = controller_hash(cluster, desired);
  action.key = cluster.id.str() + "/controller/" + std::to_string(cluster.status.setups) + "/" +
               action.config_hash;
  action.name = "setup_controller";
  action.action_class = ActionClass::node_setup;
  action.cluster = cluster.id;
  action.allocation = allocation.id;
  action.group = action.key;
  action.limit = seconds(120);
  action.result_to = ResultTo::controller_ready;
  for (const auto& user : desired.users) action.users.push_back(user.name);
  VerbCall call;
  call.verb = Verb::setup_controller;
  call.cluster = engine_cluster(cluster);
  call.setup_controller = std::move(setup);
  action.act = VerbAct{std::move(call)};
  return action;
}

Action make_node_setup(const View& view, const Cluster& cluster, const Allocation& allocation,
                       const AllocationNode& member, const DesiredEngine& desired,
                       const std::vector<EngineFile>& files, SecretSource& secrets) {
  SetupNode setup;
  setup.cluster = engine_cluster(cluster);
  const bool login = member.role == MemberRole::login;
  if (const Node* node = view.reg.find(member.node)) {
    setup.node_name = login ? cluster.meta.name + "-login" : node->meta.name;
  }
  setup.interface = member.interface;
  setup.address = member.address;
  setup.prefix_length = prefix_length_of(allocation);
  setup.hosts = hosts_of(cluster, desired);
  setup.users = desired.users;
  add_storage(view, allocation, member, desired, secrets, setup);
  setup.munge_key = secrets.munge_key(cluster);
  for (const auto& file : files) {
    if (file.name != "slurmdbd.conf") setup.files.push_back(file);
  }
  setup.services = {login ? "sshd" : "slurmd"};
  Action action;
  action.config_hash = setup_hash(desired);
  action.key = allocation.id.str() + "/" + member.node.str() + "/join/" +
               std::to_string(member.since.us) + "/" + std::to_string(member.setups) + "/" +
               action.config_hash;
  action.name = "setup_node";
  action.action_class = ActionClass::node_setup;
  action.node = member.node;
  action.cluster = cluster.id;
  action.allocation = allocation.id;
  action.group = member.cause.empty() ? action.key : member.cause;
  action.limit = seconds(60);
  action.result_to = ResultTo::member_joined;
  VerbCall call;
  call.verb = Verb::setup_node;
  call.cluster = engine_cluster(cluster);
  call.setup_node = std::move(setup);
  action.act = VerbAct{std::move(call)};
  return action;
}

}  // namespace tundish::control
