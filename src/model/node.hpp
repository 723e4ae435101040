#pragma once
// A node: one GPU server, NVL72 compute tray or service node. It may have no GPU.
#include <optional>
#include <string>
#include <vector>

#include "model/meta.hpp"
#include "model/pressure.hpp"
#include "model/step.hpp"
#include "model/verdict.hpp"

namespace tundish {

struct Node;
struct Rack;
struct Sku;
struct Allocation;
using NodeId = Id<Node>;
using AllocationId = Id<Allocation>;

enum class NodeRole { gpu, service, login };
inline std::span<const std::string_view> enum_names(NodeRole) {
  static constexpr std::string_view names[] = {"gpu", "service", "login"};
  return names;
}

/// Out of service is not a phase: it is a claim set that is not empty.
enum class NodePhase {
  expected,      ///< declared, never seen
  discovered,    ///< its agent was admitted
  inspecting,    ///< hardware compared with the declaration, checks running
  ready,         ///< clean, proved, free
  reserved,      ///< locked for an allocation
  provisioning,  ///< being set up for it
  assigned,      ///< in the hands of its allocation
  wiping,
  revalidating,
  retired
};
inline std::span<const std::string_view> enum_names(NodePhase) {
  static constexpr std::string_view names[] = {
      "expected",     "discovered", "inspecting", "ready",        "reserved",
      "provisioning", "assigned",   "wiping",     "revalidating", "retired"};
  return names;
}

enum class PortRole { access, east_west, storage, oob };
inline std::span<const std::string_view> enum_names(PortRole) {
  static constexpr std::string_view names[] = {"access", "east_west", "storage", "oob"};
  return names;
}

struct Port {
  std::string name;
  PortRole role = PortRole::access;
  std::string mac;
  std::string switch_name;
  std::string switch_port;
  int rail = -1;
  std::string guid = {};
  void fields(Fields& f) {
    f(1, "name", name, "interface name on the node");
    f(2, "role", role, "access, east_west, storage or oob");
    f(3, "mac", mac, "lower-case colon notation");
    f(4, "switch_name", switch_name, "far end of the cable; empty when not cabled");
    f(5, "switch_port", switch_port, "far end of the cable");
    f(6, "rail", rail, "rail index for east_west ports; -1 when it has none");
    f(7, "guid", guid, "InfiniBand port GUID, 0x and 16 lower-case hex digits; empty: Ethernet");
  }
};

/// Declared by the operator. Observation never overwrites it.
struct NodeSpec {
  NodeRole role = NodeRole::gpu;
  std::string site;
  std::string rack;
  int position = 0;
  std::string sku;
  std::string serial;
  std::string bmc_mac;
  std::string bmc_address;
  std::string oob_address;
  std::string leaf_group;
  std::string nvlink_domain;
  std::vector<Port> ports;
  std::string import_scope;
  void fields(Fields& f) {
    f(1, "role", role, "gpu, service or login");
    f(2, "site", site, "name of the site");
    f(3, "rack", rack, "name of the rack");
    f(4, "position", position, "lowest rack unit; 0 when unknown");
    f(5, "sku", sku, "name of the SKU, which says how many GPUs and rails it has");
    f(6, "serial", serial, "chassis serial as declared; an attribute, not the identity");
    f(7, "bmc_mac", bmc_mac, "MAC of the BMC: identity of the node with our id");
    f(8, "bmc_address", bmc_address, "host or host:port of the BMC on the out-of-band network");
    f(9, "oob_address", oob_address, "address of the node on the out-of-band network");
    f(10, "leaf_group", leaf_group, "leaf switch or scalable unit; placement keeps gangs inside");
    f(11, "nvlink_domain", nvlink_domain, "NVLink domain beyond the node; empty: none");
    f(12, "ports", ports, "network ports and their cables");
    f(13, "import_scope", import_scope, "import that declares it; missing rows are judged in it");
  }
};

struct ObservedGpu {
  int index = 0;
  std::string uuid;
  std::string serial;
  std::string model;
  std::string pci;
  void fields(Fields& f) {
    f(1, "index", index, "NVML index");
    f(2, "uuid", uuid, "NVML UUID");
    f(3, "serial", serial, "board serial");
    f(4, "model", model, "NVML product name");
    f(5, "pci", pci, "domain:bus:device, lower case");
  }
};

/// What the agent saw when it last looked. A witness that may lie: it harms only its own node.
struct ObservedHardware {
  std::string serial;
  std::vector<ObservedGpu> gpus;
  std::vector<std::string> nic_macs;
  std::int64_t memory_bytes = 0;
  Instant at;
  bool network_namespaces = false;
  void fields(Fields& f) {
    f(1, "serial", serial, "chassis serial from DMI");
    f(2, "gpus", gpus, "GPUs that NVML lists");
    f(3, "nic_macs", nic_macs, "MACs of network interfaces");
    f(4, "memory_bytes", memory_bytes, "installed memory in bytes");
    f(5, "at", at, "when it was seen");
    f(6, "network_namespaces", network_namespaces,
      "it can give each cluster a network of its own, so that equal prefixes stay apart");
  }
};

struct NodeStatus {
  NodePhase phase = NodePhase::expected;
  Instant phase_since;
  AllocationId allocation;
  std::string boot_id;
  bool enrolled = false;
  ObservedHardware hardware;
  std::vector<Verdict> verdicts;
  std::vector<Condition> conditions;
  std::optional<Step> step;
  int attempts = 0;
  Instant revalidated_at;
  std::vector<ObservedGpu> accepted_gpus;
  std::string accepted_serial;
  std::vector<Verdict> check_run;
  std::optional<Pressure> pressure;
  std::string verdicts_boot;
  std::int64_t verdicts_seq = 0;
  std::vector<Verdict> active_verdicts;
  std::vector<Verdict> bmc_verdicts;
  void fields(Fields& f) {
    f(1, "phase", phase, "where it is in its life cycle");
    f(2, "phase_since", phase_since, "when it entered the phase");
    f(3, "allocation", allocation, "allocation that holds it; empty: free");
    f(4, "boot_id", boot_id, "boot id last reported by its agent");
    f(5, "enrolled", enrolled, "whether its agent holds an identity");
    f(6, "hardware", hardware, "hardware as last observed");
    f(7, "verdicts", verdicts, "what passive checks say now; those that are ok are left out");
    f(8, "conditions", conditions, "drift, board_swap, missing_from_import, agent_silent ...");
    f(9, "step", step, "act of the life cycle that runs or ran last");
    f(10, "attempts", attempts, "tries of the current phase");
    f(11, "revalidated_at", revalidated_at, "when it last passed every check");
    f(12, "accepted_gpus", accepted_gpus,
      "GPUs on record since the inspection; later ones must match");
    f(13, "accepted_serial", accepted_serial,
      "board first seen, or last confirmed by a person; another one is a board swap");
    f(14, "check_run", check_run, "of the checks that were last asked for, to serve or to return");
    f(15, "pressure", pressure, "what waited on the node when a share last crossed 20 percent");
    f(16, "verdicts_boot", verdicts_boot, "boot that the verdicts are of");
    f(17, "verdicts_seq", verdicts_seq, "of the newest verdicts; older ones that come late differ");
    f(18, "active_verdicts", active_verdicts, "of each active check, what it last found");
    f(19, "bmc_verdicts", bmc_verdicts, "what its BMC shows; those that are ok are left out");
  }
};

struct Node {
  static constexpr std::string_view kind = "node";
  NodeId id;
  NodeSpec spec;
  NodeStatus status;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours; with bmc_mac it survives a board swap");
    f(2, "spec", spec, "declared");
    f(3, "status", status, "observed");
    f(4, "meta", meta, "name, version, revision");
  }
};

}  // namespace tundish
