#include "lab/topology.hpp"

#include <cstdint>
#include <cstdio>

#include "codec/json.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

enum class LabRole { gpu, service, login };

constexpr int service_ports = 8;
constexpr int max_nodes = 200;  // last byte of the MAC and BMC addresses
constexpr int max_hcas = 16;    // their GUIDs lie 16 apart within 256

std::string mac(int group, int port, int index) {
  char text[18];
  std::snprintf(text, sizeof text, "02:4c:%02x:00:%02x:%02x", group, port, index);
  return text;
}

std::string numbered(const char* format, int number) {
  char text[32];
  std::snprintf(text, sizeof text, format, number);  // NOLINT: formats are literals below
  return text;
}

/// Rack of gpu node i (1-based): consecutive blocks, so that a rack is a failure domain in names.
int rack_of(const LabSpec& spec, int i) {
  const int per_rack = (spec.nodes + spec.racks - 1) / spec.racks;
  return (i - 1) / per_rack + 1;
}

LabNode base_node(const std::string& name, LabRole role, int index, int rack) {
  static constexpr const char* roles[] = {"gpu", "service", "login"};
  LabNode node;
  node.name = name;
  node.role = roles[static_cast<int>(role)];
  node.rack = numbered("r%02d", rack);
  node.serial = numbered("TND24-%05d", index);
  node.bmc_mac = mac(0xb0, 0, index);
  node.bmc_address = numbered("10.88.1.%d", index);
  node.oob_mac = mac(0x0b, 0, index);
  node.oob_address = numbered("10.88.0.%d", 10 + index);
  node.index = index;
  return node;
}

void add_ports(LabNode& node, int index, int rack, int count, int& next_port) {
  for (int k = 0; k < count; ++k) {
    node.ports.push_back({numbered("eth%d", k), mac(0xe0, k, index), numbered("leaf%d", rack),
                          numbered("swp%d", next_port++)});
  }
}

std::string guid_text(std::uint64_t number) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(number));
  return text;
}

/// On an InfiniBand leaf per rack. Of a flat lab: as many as GPUs, without a fabric behind them.
void add_hcas(const LabSpec& spec, LabNode& node, int rack, int& next_port) {
  const bool is_simulated = spec.fabric == FabricKind::frr;
  const int count = is_simulated ? spec.hcas : spec.gpus;
  for (int k = 0; k < count; ++k) {
    LabHca hca = make_hca(node.index, k);
    if (is_simulated) {
      hca.ib_switch = numbered("ibleaf%d", rack);
      hca.port = next_port++;
    }
    node.hcas.push_back(std::move(hca));
  }
}

}  // namespace

LabHca make_hca(int index, int number) {
  // The vendor's prefix, so that tools show it as an HCA of that make.
  const std::uint64_t guid = 0x0002c90301000000U + static_cast<unsigned>(index) * 256U +
                             static_cast<unsigned>(number) * 16U;
  LabHca hca;
  hca.name = numbered("mlx5_%d", number);
  hca.node_guid = guid_text(guid);
  hca.guid = guid_text(guid + 1);
  return hca;
}

std::span<const std::string_view> enum_names(FabricKind) {
  static constexpr std::string_view names[] = {"flat", "frr"};
  return names;
}

void LabSpec::fields(Fields& f) {
  f(1, "name", name, "Name of the lab; prefix of its control groups.");
  f(2, "root", root, "Folder of the lab.");
  f(3, "bin_dir", bin_dir, "Folder of the programs.");
  f(4, "racks", racks, "Number of racks; one leaf switch each.");
  f(5, "nodes", nodes, "Number of GPU nodes.");
  f(6, "gpus", gpus, "GPUs of a GPU node.");
  f(7, "service_nodes", service_nodes, "Number of service nodes.");
  f(8, "login_nodes", login_nodes, "Number of login nodes.");
  f(9, "power_on", power_on, "Whether nodes are switched on when the lab starts.");
  f(10, "post_delay_ms", post_delay_ms, "Time from power to the first process. Unit: ms.");
  f(11, "cpu_percent", cpu_percent, "CPU quota of a node. Unit: per cent of one core.");
  f(12, "start_daemon", start_daemon, "Whether the supervisor runs tundishd.");
  f(13, "fabric", fabric, "What carries the tenants' network: flat or frr.");
  f(14, "spines", spines, "Number of spine switches of an frr fabric.");
  f(15, "hcas", hcas, "InfiniBand ports of a GPU node in an frr lab; 0: no such fabric.");
  f(16, "storage_box", storage_box, "Whether an frr lab has a machine that exports folders.");
  f(17, "domain_trays", domain_trays, "GPU nodes of one NVLink domain; 0: there is none.");
}

void LabPort::fields(Fields& f) {
  f(1, "interface", interface, "Name inside the node.");
  f(2, "mac", mac, "Hardware address.");
  f(3, "leaf", leaf, "Leaf switch it is plugged into.");
  f(4, "port", port, "Port of the leaf switch.");
}

void LabHca::fields(Fields& f) {
  f(1, "name", name, "Name inside the node.");
  f(2, "node_guid", node_guid, "GUID of the HCA.");
  f(3, "guid", guid, "GUID of its port.");
  f(4, "ib_switch", ib_switch, "InfiniBand switch it is plugged into; empty: none is simulated.");
  f(5, "port", port, "Port of that switch.");
}

void LabNode::fields(Fields& f) {
  f(1, "name", name, "Name of the node.");
  f(2, "role", role, "gpu, service or login.");
  f(3, "rack", rack, "Rack.");
  f(4, "serial", serial, "Serial number of the chassis.");
  f(5, "bmc_mac", bmc_mac, "Hardware address of the BMC.");
  f(6, "bmc_address", bmc_address, "Address of the BMC; Redfish on port 8000.");
  f(7, "oob_mac", oob_mac, "Hardware address of oob0.");
  f(8, "oob_address", oob_address, "Address of oob0.");
  f(9, "ports", ports, "Ports on the tenant network.");
  f(10, "gpus", gpus, "Number of GPUs.");
  f(11, "index", index, "Place among all nodes of the lab, from 1.");
  f(12, "hcas", hcas, "InfiniBand ports.");
  f(13, "nvlink_clique", nvlink_clique, "NVLink domain beyond the node; 0: none.");
}

std::vector<LabNode> hardware_of(const LabSpec& spec) {
  std::vector<LabNode> all;
  std::vector<int> next_port(static_cast<std::size_t>(spec.racks) + 1, 1);
  std::vector<int> next_ib_port = next_port;
  int index = 0;
  for (int i = 1; i <= spec.nodes; ++i) {
    const int rack = rack_of(spec, i);
    LabNode node = base_node(numbered("n%02d", i), LabRole::gpu, ++index, rack);
    add_ports(node, index, rack, 1, next_port[static_cast<std::size_t>(rack)]);
    node.gpus = spec.gpus;
    node.nvlink_clique = i <= spec.domain_trays ? 1 : 0;
    add_hcas(spec, node, rack, next_ib_port[static_cast<std::size_t>(rack)]);
    all.push_back(std::move(node));
  }
  for (int i = 1; i <= spec.service_nodes; ++i) {
    LabNode node = base_node(numbered("svc%02d", i), LabRole::service, ++index, 1);
    add_ports(node, index, 1, service_ports, next_port[1]);
    all.push_back(std::move(node));
  }
  for (int i = 1; i <= spec.login_nodes; ++i) {
    LabNode node = base_node(numbered("login%02d", i), LabRole::login, ++index, 1);
    add_ports(node, index, 1, 1, next_port[1]);
    all.push_back(std::move(node));
  }
  return all;
}

Result<> validate(const LabSpec& spec) {
  for (const char c : spec.name) {
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-') {
      return make_error(Code::invalid,
                        "lab name " + spec.name + " has a character beside a-z 0-9 -");
    }
  }
  if (spec.name.empty()) return make_error(Code::invalid, "lab name is empty");
  if (spec.racks < 1 || spec.racks > 32) return make_error(Code::invalid, "racks must be 1 to 32");
  if (spec.nodes < 0 || spec.service_nodes < 0 || spec.login_nodes < 0 ||
      spec.nodes + spec.service_nodes + spec.login_nodes > max_nodes) {
    return make_error(Code::invalid, "a lab has at most 200 nodes of all kinds");
  }
  if (spec.spines < 1 || spec.spines > 8) {
    return make_error(Code::invalid, "spines must be 1 to 8");
  }
  if (spec.gpus < 0 || spec.gpus > 16) return make_error(Code::invalid, "gpus must be 0 to 16");
  if (spec.hcas < 0 || spec.hcas > max_hcas) {
    return make_error(Code::invalid, "hcas must be 0 to 16");
  }
  if (spec.cpu_percent < 1) return make_error(Code::invalid, "cpu_percent must be at least 1");
  if (spec.bin_dir.empty()) return make_error(Code::invalid, "bin_dir is empty");
  return {};
}

std::vector<LabLeaf> leaves_of(const LabSpec& spec) {
  std::vector<LabLeaf> all;
  for (int i = 1; i <= spec.racks; ++i) {
    all.push_back({numbered("leaf%d", i), numbered("10.88.2.%d", i)});
  }
  return all;
}

std::string oob_peer(const std::string& node) { return "p-" + node + "-oob"; }

std::string port_peer(const std::string& node, const std::string& interface) {
  return "p-" + node + "-" + interface;
}

std::string segment_bridge(const std::string& segment) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : segment) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  char text[16];
  std::snprintf(text, sizeof text, "seg-%08x", hash);
  return text;
}

std::string default_root(const std::string& name) { return "/var/lib/tundish-lab/" + name; }

LabPaths paths_of(const LabSpec& spec) {
  return {spec.root.empty() ? default_root(spec.name) : spec.root};
}

/// Labs of one name may run side by side in different folders.
std::string cgroup_name(const LabSpec& spec) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : paths_of(spec).root) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return "tundish-" + spec.name + "-" + std::to_string(hash);
}

Result<LabSpec> load_spec(const std::string& file) {
  const std::string text = TRY(process::read_file(file));
  LabSpec spec;
  TRY_VOID(parse_json(text, spec));
  TRY_VOID(validate(spec));
  return spec;
}

}  // namespace tundish::lab
