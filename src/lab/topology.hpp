#pragma once
// What the virtual data centre consists of: a pure function of the LabSpec, so that inventories,
// simulators and tests agree on every address and serial number without asking each other.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.hpp"
#include "base/result.hpp"

namespace tundish::lab {

/// CPU time of one node. Unit: per cent of one core. Source: facts/lab.md section 6.
inline constexpr int default_cpu_percent = 100;
inline constexpr int agent_port = 7443;  ///< of tundishd, on 10.88.0.1

/// What carries the tenants' network.
enum class FabricKind {
  flat,  ///< one simulated switch program (leaf_sim)
  frr,   ///< leaves and spines that run FRR in namespaces of their own
};
std::span<const std::string_view> enum_names(FabricKind);

struct LabSpec {
  std::string name = "lab";
  std::string root;     ///< empty: /var/lib/tundish-lab/<name>
  std::string bin_dir;  ///< tundish, tundishd, tundish-agent, nvidia-smi; ../lib has libnvidia-ml
  int racks = 2;
  int nodes = 12;
  int gpus = 8;
  int service_nodes = 1;
  int login_nodes = 2;
  bool power_on = true;
  int post_delay_ms = 1500;
  int cpu_percent = default_cpu_percent;
  bool start_daemon = true;
  FabricKind fabric = FabricKind::flat;
  int spines = 2;           ///< of an frr fabric
  int hcas = 1;             ///< InfiniBand ports of a GPU node in an frr lab; 0: no such fabric
  bool storage_box = true;  ///< of an frr lab: a machine that exports folders
  int domain_trays = 0;  ///< GPU nodes of the one NVLink domain, from n01; 0: each is its own

  void fields(Fields& f);
};

struct LabPort {
  std::string interface;  ///< name inside the node, eth0
  std::string mac;
  std::string leaf;  ///< leaf1, leaf2
  std::string port;  ///< swp3

  void fields(Fields& f);
};

/// An InfiniBand port; every HCA has one.
struct LabHca {
  std::string name;       ///< mlx5_0
  std::string node_guid;  ///< 0x and 16 hex digits
  std::string guid;       ///< of the port
  std::string ib_switch;  ///< ibleaf1; empty: nothing simulates its fabric
  int port = 0;           ///< of the switch

  void fields(Fields& f);
};

struct LabNode {
  std::string name;
  std::string role;  ///< gpu, service or login
  std::string rack;
  std::string serial;
  std::string bmc_mac;
  std::string bmc_address;
  std::string oob_mac;
  std::string oob_address;
  std::vector<LabPort> ports;
  int gpus = 0;
  int index = 0;  ///< 1-based over all nodes of the lab
  std::vector<LabHca> hcas;
  int nvlink_clique = 0;  ///< NVLink domain beyond the node; 0: none

  void fields(Fields& f);
};

/// Every node in its fixed order: gpu nodes, service nodes, login nodes.
std::vector<LabNode> hardware_of(const LabSpec& spec);
/// HCA `number` of the machine with this index. GUIDs of HCAs lie 16 apart, because ibsim makes a
/// port's from its HCA's. Source: facts/lab.md section 3; checked 2026-11.
LabHca make_hca(int index, int number);
/// Refuses what names, addresses or switches cannot express.
Result<> validate(const LabSpec& spec);

struct LabLeaf {
  std::string name;
  std::string address;
};
std::vector<LabLeaf> leaves_of(const LabSpec& spec);

/// Names of interfaces in the lab's root network: at most 15 characters, a limit of the kernel.
std::string oob_peer(const std::string& node);
std::string port_peer(const std::string& node, const std::string& interface);
/// The bridge that carries a segment; the segment's own name may be longer than an interface's.
std::string segment_bridge(const std::string& segment);

/// Where things lie below the lab's root folder.
struct LabPaths {
  std::string root;
  std::string spec_file() const { return root + "/run/spec.json"; }
  std::string state_file() const { return root + "/run/state"; }
  std::string pid_file() const { return root + "/run/supervisor.pid"; }
  std::string start_file() const { return root + "/run/supervisor.start"; }
  std::string socket_file() const { return root + "/run/lab.sock"; }
  std::string host_proc() const { return root + "/run/hostproc"; }
  std::string sysfs() const { return root + "/run/sysfs"; }
  std::string kmsg() const { return root + "/run/kmsg"; }
  std::string storage() const { return root + "/storage"; }
  std::string log() const { return root + "/log"; }
  std::string ib_net() const { return root + "/run/ib.net"; }
  std::string ib_printed() const { return root + "/log/ibsim.log"; }
  std::string bmc_password() const { return root + "/secrets/bmc_password"; }
  std::string switch_key() const { return root + "/secrets/switch_key"; }
  std::string switch_known_hosts() const { return root + "/secrets/switch_known_hosts"; }
  std::string daemon_config() const { return root + "/tundishd.yaml"; }
  std::string node(const std::string& name) const { return root + "/nodes/" + name; }
  std::string switch_box(const std::string& name) const { return root + "/switches/" + name; }
};
std::string default_root(const std::string& name);
LabPaths paths_of(const LabSpec& spec);
std::string cgroup_name(const LabSpec& spec);

Result<LabSpec> load_spec(const std::string& file);

}  // namespace tundish::lab
