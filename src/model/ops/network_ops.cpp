#include "model/ops/network_ops.hpp"

#include <algorithm>
#include <set>

#include "base/quote.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/tenancy_ops.hpp"
#include "model/prefix.hpp"

namespace tundish {
namespace {

std::string about(const NetworkId& id) { return "network/" + id.str(); }

const FabricSpec& spec_of(const Registry& view, const std::string& name) {
  static const FabricSpec undeclared;
  const Fabric* fabric = view.find_named<Fabric>(name);
  return fabric ? fabric->spec : undeclared;
}

/// First fabric of a technology, by name; a site has one of each at most.
const Fabric* find_fabric(const Registry& view, FabricTechnology technology) {
  const Fabric* found = nullptr;
  for (const auto& [id, fabric] : view.all<Fabric>()) {
    if (fabric.spec.technology != technology) continue;
    if (!found || fabric.meta.name < found->meta.name) found = &fabric;
  }
  return found;
}

bool has_storage(const Registry& view, const Network& network) {
  return network.spec.storage && !spec_of(view, network.status.fabric).storage_prefix.empty();
}

const Port* find_port(const Node& node, const std::string& interface) {
  for (const auto& port : node.spec.ports) {
    if (port.name == interface) return &port;
  }
  return nullptr;
}

SwitchNumbers& numbers_of(Network& network, const std::string& switch_name) {
  auto& list = network.status.switches;
  const auto at = std::find_if(list.begin(), list.end(), [&](const SwitchNumbers& numbers) {
    return numbers.switch_name >= switch_name;
  });
  if (at != list.end() && at->switch_name == switch_name) return *at;
  SwitchNumbers numbers;
  numbers.switch_name = switch_name;
  return *list.insert(at, numbers);
}

Result<> take_l3vlan(Txn& txn, const std::string& owner, Network& network, SwitchNumbers& numbers) {
  if (numbers.l3vlan != 0) return {};
  const std::string scope = network.status.fabric + "/" + numbers.switch_name;
  numbers.l3vlan = TRY(take_value(txn, scope, "l3vlan", owner));
  return {};
}

Result<> take_vlan(Txn& txn, const std::string& owner, const Port& port, Network& network) {
  if (port.switch_name.empty()) return {};
  SwitchNumbers& numbers = numbers_of(network, port.switch_name);
  const std::string scope = network.status.fabric + "/" + port.switch_name;
  if (numbers.vlan == 0) numbers.vlan = TRY(take_value(txn, scope, "vlan", owner));
  return take_l3vlan(txn, owner, network, numbers);
}

std::uint32_t storage_base(const Registry& view, const Network& network) {
  const auto pool = parse_prefix(spec_of(view, network.status.fabric).storage_node_pool);
  return pool ? pool->address : 0;
}

Result<> take_addresses(Txn& txn, const std::string& owner, const std::vector<NodeId>& nodes,
                        Network& network) {
  if (!has_storage(txn.view(), network)) return {};
  const auto values = TRY(take_values(txn, {network.status.fabric, "storage_address"}, owner,
                                      static_cast<int>(nodes.size())));
  const auto base = storage_base(txn.view(), network);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    network.status.storage.push_back(
        {nodes[i], render_ipv4(base + static_cast<std::uint32_t>(values[i]))});
  }
  return {};
}

bool is_guid(const std::string& text) {
  return text.size() == 18 && text.starts_with("0x") &&
         std::all_of(text.begin() + 2, text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// A port that no partition can hold would be left outside without a word.
Result<> check_guids(const Registry& view, const Node& node) {
  if (!find_fabric(view, FabricTechnology::infiniband)) return {};
  for (const auto& port : node.spec.ports) {
    if (port.role != PortRole::east_west || !port.switch_name.empty() || is_guid(port.guid)) {
      continue;
    }
    return make_error(Code::invalid, "port " + port.name + " of node " + node.meta.name +
                                         (port.guid.empty() ? " has no GUID in the inventory"
                                                            : ": GUID " + port.guid + " is none"))
        .about("node/" + node.meta.name)
        .with_remedy("import it: 0x and 16 lower-case hex digits, as ibstat shows it");
  }
  return {};
}

bool any_node(const Txn& txn, const Allocation& allocation,
              const std::function<bool(const Node&)>& test) {
  return std::any_of(allocation.status.nodes.begin(), allocation.status.nodes.end(),
                     [&](const AllocationNode& member) {
                       const Node* node = txn.view().find(member.node);
                       return node && test(*node);
                     });
}

bool has_guid(const Node& node) {
  return std::any_of(node.spec.ports.begin(), node.spec.ports.end(),
                     [](const Port& port) { return !port.guid.empty(); });
}

/// A partition that nobody writes isolates nobody, whatever number it has.
Result<> check_driven(const Fabric& fabric) {
  if (!fabric.spec.management_url.empty()) return {};
  return make_error(Code::unsupported, "InfiniBand fabric " + fabric.meta.name +
                                           " has no management_url: nobody would put the nodes' "
                                           "HCAs into a partition of their own")
      .about("fabric/" + fabric.meta.name)
      .with_remedy("give the fabric its driver and management_url, or take it out of fabrics_file");
}

Result<> draw_partitions(Txn& txn, const Allocation& allocation, const std::string& owner,
                         Network& network) {
  for (const auto& member : allocation.status.nodes) {
    TRY_VOID(check_guids(txn.view(), TRY(get_object(txn, member.node))));
  }
  const Fabric* fabric = find_fabric(txn.view(), FabricTechnology::infiniband);
  if (fabric && any_node(txn, allocation, has_guid)) {
    TRY_VOID(check_driven(*fabric));
    network.status.partition_fabric = fabric->meta.name;
    network.status.pkey = TRY(take_value(txn, fabric->meta.name, "pkey", owner));
  }
  const Fabric* nvlink = find_fabric(txn.view(), FabricTechnology::nvlink);
  const bool in_domain =
      any_node(txn, allocation, [](const Node& node) { return !node.spec.nvlink_domain.empty(); });
  if (nvlink && in_domain) {
    network.status.nvlink_fabric = nvlink->meta.name;
    network.status.nvlink_partition =
        TRY(take_value(txn, nvlink->meta.name, "nvlink_partition", owner));
  }
  return {};
}

/// Where people call: only for clusters that let anybody in.
Result<> draw_gateway(Txn& txn, const std::string& owner, Network& network) {
  const auto prefix = parse_prefix(spec_of(txn.view(), network.status.fabric).access_prefix);
  if (!prefix || network.spec.access.empty()) return {};
  const int value = TRY(take_value(txn, network.status.fabric, "access_address", owner));
  network.status.access_address = render_ipv4(prefix->address + static_cast<std::uint32_t>(value)) +
                                  "/" + std::to_string(prefix->length);
  return {};
}

std::vector<std::string> names_of(const std::vector<StoragePort>& ports) {
  std::set<std::string> out;
  for (const auto& port : ports) out.insert(port.switch_name);
  return {out.begin(), out.end()};
}

/// Prefixes that no network can have. Source: IANA IPv4 Special-Purpose Address Registry, RFC 6890,
/// RFC 5771; checked 2026-11.
struct SpecialPrefix {
  const char* text;
  const char* what;
};
constexpr SpecialPrefix special_prefixes[] = {{"0.0.0.0/8", "addresses of this network"},
                                              {"127.0.0.0/8", "loopback addresses"},
                                              {"169.254.0.0/16", "link-local addresses"},
                                              {"224.0.0.0/4", "multicast addresses"},
                                              {"240.0.0.0/4", "reserved addresses"}};

Result<Prefix> read_prefix(const std::string& text, const std::string& object) {
  const auto refuse = [&](const std::string& why, const std::string& remedy) {
    return make_error(Code::invalid, in_quotes(text) + " is no usable IPv4 prefix" + why)
        .about(object)
        .with_remedy(remedy);
  };
  // Sixteen addresses are the fabric's and the engine's: a /28 has none left for nodes.
  const std::string form = "write the network with a length of 8 to 27, for example 10.10.0.0/24";
  const auto parsed = parse_prefix(text);
  if (const auto network = parse_interface(text); network && !parsed) {
    return refuse(": it has bits set behind its length", "write " + render_prefix(*network));
  }
  if (!parsed) return refuse("", form);
  if (parsed->length == 0) return refuse(": it is the default route", form);
  if (parsed->length < 8 || parsed->length > 27) return refuse(": its length does not fit", form);
  for (const auto& special : special_prefixes) {
    if (!parse_prefix(special.text)->overlaps(*parsed)) continue;
    return refuse(std::string(": ") + special.text + " are " + special.what,
                  "use a private one, for example 10.10.0.0/24");
  }
  return *parsed;
}

/// The address in "10.88.1.7:8000", "https://10.88.2.1" or "ssh://root@10.88.2.1:22".
std::optional<std::uint32_t> address_in(std::string text) {
  if (const auto scheme = text.find("://"); scheme != std::string::npos) text.erase(0, scheme + 3);
  text = text.substr(0, text.find('/'));
  if (const auto user = text.find('@'); user != std::string::npos) text.erase(0, user + 1);
  return parse_ipv4(text.substr(0, text.find(':')));
}

Result<> check_mtu(int mtu, const std::string& object) {
  if (mtu >= 1280 && mtu <= 9162) return {};  // 54 bytes more must fit into 9216
  return make_error(Code::invalid, "MTU " + std::to_string(mtu) + " does not fit the fabric")
      .about(object)
      .with_remedy("use 1280 to 9162: the underlay carries 54 bytes more and 9216 at most");
}

Result<> check_export(const Registry& view, const std::string& fabric,
                      const Allocation& allocation) {
  const Tenant* tenant = view.find(allocation.meta.tenant);
  if (!tenant || spec_of(view, fabric).storage_url.empty()) return {};
  return check_export_name(tenant->meta.name);
}

/// A prefix of the same length that is free of all these, for a person who has to choose one.
std::string free_example(const std::vector<Prefix>& taken, int length) {
  for (const char* text : {"10.70.0.0", "10.128.0.0", "172.20.0.0", "192.168.64.0"}) {
    Prefix prefix{*parse_ipv4(text), length};
    prefix.address &= prefix.mask();
    const bool is_free = std::none_of(taken.begin(), taken.end(), [&](const Prefix& other) {
      return other.overlaps(prefix);
    });
    if (is_free) return ", for example " + render_prefix(prefix);
  }
  return "";
}

}  // namespace

Result<> check_prefixes(const Registry& view, const std::string& fabric,
                        const std::vector<std::string>& prefixes, const std::string& object) {
  struct Taken {
    std::string what, text;
    Prefix prefix;
  };
  std::vector<Taken> taken;
  const auto add = [&](const std::string& what, const std::string& text) {
    if (const auto parsed = parse_prefix(text)) taken.push_back({what, text, *parsed});
  };
  const FabricSpec& spec = spec_of(view, fabric);
  for (const auto& text : spec.underlay) add("underlay", text);
  for (const auto& text : spec.management) add("management", text);
  add("storage", spec.storage_prefix);
  if (!spec.storage_prefix.empty()) add("storage addresses of nodes", spec.storage_node_pool);
  add("access network", spec.access_prefix);
  for (const auto& text : prefixes) {
    const Prefix parsed = TRY(read_prefix(text, object));
    for (const auto& other : taken) {
      if (!other.prefix.overlaps(parsed)) continue;
      std::vector<Prefix> all;
      for (const auto& one : taken) all.push_back(one.prefix);
      return make_error(Code::conflict,
                        "prefix " + text + " overlaps " + other.what + " " + other.text)
          .about(object)
          .with_remedy("choose a prefix outside " + other.text +
                       free_example(all, parsed.length));
    }
    taken.push_back({"prefix", text, parsed});
  }
  return {};
}

namespace {

std::vector<Prefix> out_of_band_addresses(const Registry& view) {
  std::vector<Prefix> out;
  const auto add = [&](const std::string& where) {
    if (const auto address = address_in(where)) out.push_back({*address, 32});
  };
  for (const auto& [id, node] : view.all<Node>()) {
    add(node.spec.oob_address);
    add(node.spec.bmc_address);
  }
  for (const auto& [id, device] : view.all<Switch>()) add(device.spec.management_url);
  return out;
}

}  // namespace

Result<> check_out_of_band(const Registry& view, const std::vector<std::string>& prefixes,
                           const std::string& object) {
  for (const auto& text : prefixes) {
    const auto prefix = parse_prefix(text);
    const auto check = [&](const std::string& whose, const std::string& where) -> Result<> {
      const auto address = address_in(where);
      if (!prefix || !address || !prefix->contains({*address, 32})) return {};
      return make_error(Code::conflict, "prefix " + text + " holds the out-of-band address " +
                                            render_ipv4(*address) + " of " + whose)
          .about(object)
          .with_remedy("choose a prefix outside the out-of-band network" +
                       free_example(out_of_band_addresses(view), prefix->length));
    };
    for (const auto& [id, node] : view.all<Node>()) {
      TRY_VOID(check("node " + node.meta.name, node.spec.oob_address));
      TRY_VOID(check("the BMC of node " + node.meta.name, node.spec.bmc_address));
    }
    for (const auto& [id, device] : view.all<Switch>()) {
      TRY_VOID(check("switch " + device.meta.name, device.spec.management_url));
    }
  }
  return {};
}

Result<Network> draw_network(Txn& txn, const std::string& fabric, const Allocation& allocation,
                             NetworkSpec spec) {
  const std::string object = "cluster/" + allocation.meta.name;
  TRY_VOID(check_prefixes(txn.view(), fabric, spec.prefixes, object));
  TRY_VOID(check_mtu(spec.mtu, object));
  if (spec.storage) TRY_VOID(check_export(txn.view(), fabric, allocation));
  const std::string owner = allocation.cluster.str();
  Network network;
  network.id = txn.make_id<Network>();
  network.meta.name = allocation.meta.name;
  network.meta.tenant = allocation.meta.tenant;
  network.allocation = allocation.id;
  network.spec = std::move(spec);
  auto& status = network.status;
  status.fabric = fabric;
  status.vrf_id = TRY(take_value(txn, fabric, "vrf_id", owner));
  status.l3vni = TRY(take_value(txn, fabric, "l3vni", owner));
  const int vni = TRY(take_value(txn, fabric, "l2vni", owner));
  const auto prefix = *parse_prefix(network.spec.prefixes.front());
  status.segments.push_back(
      {segment_name(vni), vni, render_prefix(prefix),
       render_ipv4(prefix.address + 1) + "/" + std::to_string(prefix.length)});
  std::vector<NodeId> nodes;
  for (const auto& member : allocation.status.nodes) {
    nodes.push_back(member.node);
    const Node node = TRY(get_object(txn, member.node));
    const Port* port = find_port(node, member.interface);
    if (port) TRY_VOID(take_vlan(txn, owner, *port, network));
  }
  TRY_VOID(take_addresses(txn, owner, nodes, network));
  if (has_storage(txn.view(), network)) {
    for (const auto& name : names_of(spec_of(txn.view(), fabric).storage_ports)) {
      TRY_VOID(take_l3vlan(txn, owner, network, numbers_of(network, name)));
    }
  }
  TRY_VOID(draw_partitions(txn, allocation, owner, network));
  TRY_VOID(draw_gateway(txn, owner, network));
  return network;
}

Result<> join_network(Txn& txn, const Allocation& allocation, const NodeId& node_id) {
  const Network* known = txn.view().find(allocation.status.network);
  const AllocationNode* member = find_member(allocation, node_id);
  if (!known || !member) return {};
  Network network = *known;
  const Node node = TRY(get_object(txn, node_id));
  TRY_VOID(check_guids(txn.view(), node));
  const std::string owner = allocation.cluster.str();
  if (const Port* port = find_port(node, member->interface)) {
    TRY_VOID(take_vlan(txn, owner, *port, network));
  }
  const bool has_address =
      std::any_of(network.status.storage.begin(), network.status.storage.end(),
                  [&](const StorageAddress& own) { return own.node == node_id; });
  if (!has_address) TRY_VOID(take_addresses(txn, owner, {node_id}, network));
  ++network.meta.version;
  txn.put(std::move(network));
  return {};
}

void leave_network(Txn& txn, const Allocation& allocation, const AllocationNode& left) {
  const Network* known = txn.view().find(allocation.status.network);
  if (!known) return;
  Network network = *known;
  const std::string owner = allocation.cluster.str();
  const std::string fabric = network.status.fabric;
  const auto base = storage_base(txn.view(), network);
  std::erase_if(network.status.storage, [&](const StorageAddress& own) {
    if (own.node != left.node) return false;
    const auto address = parse_ipv4(own.address);
    if (address) {
      bury_value(txn, {fabric, "storage_address"}, static_cast<int>(*address - base), owner);
    }
    return true;
  });
  std::set<std::string> in_use;
  for (const auto& member : allocation.status.nodes) {
    const Node* node = txn.view().find(member.node);
    const Port* port = node ? find_port(*node, member.interface) : nullptr;
    if (port) in_use.insert(port->switch_name);
  }
  std::set<std::string> storage;
  if (has_storage(txn.view(), network)) {
    for (const auto& name : names_of(spec_of(txn.view(), fabric).storage_ports)) {
      storage.insert(name);
    }
  }
  std::erase_if(network.status.switches, [&](SwitchNumbers& numbers) {
    if (in_use.contains(numbers.switch_name)) return false;
    const std::string scope = fabric + "/" + numbers.switch_name;
    bury_value(txn, {scope, "vlan"}, std::exchange(numbers.vlan, 0), owner);
    if (storage.contains(numbers.switch_name)) return false;
    bury_value(txn, {scope, "l3vlan"}, numbers.l3vlan, owner);
    return true;
  });
  ++network.meta.version;
  txn.put(std::move(network));
}

void touch_network(Txn& txn, const NetworkId& id) {
  const Network* known = txn.view().find(id);
  if (!known) return;
  Network network = *known;
  ++network.meta.version;
  txn.put(std::move(network));
}

void erase_network(Txn& txn, const NetworkId& id) { txn.erase(id); }

OperationPtr record_sync(NetworkId id, std::vector<NetworkSync> sync) {
  return make_operation("record_sync", about(id), [=](Txn& txn) -> Result<> {
    Network network = TRY(get_object(txn, id));
    if (network.status.sync == sync) return {};
    for (const auto& known : network.status.sync) {
      for (const auto& told : sync) {
        const bool same = told.technology == known.technology && told.object == known.object;
        if (!same || told.version >= known.version) continue;
        return make_error(Code::conflict, "network " + network.meta.name + " was seen in version " +
                                              std::to_string(known.version) + " on " +
                                              known.object + " meanwhile");
      }
    }
    network.status.sync = sync;
    txn.put(std::move(network));
    return {};
  });
}

const Network* find_network(const Registry& view, const AllocationId& allocation) {
  const Allocation* found = view.find(allocation);
  return found ? view.find(found->status.network) : nullptr;
}

}  // namespace tundish
