#pragma once
// Physical things beside the node: site, rack, SKU, fabric, cable.
#include <string>
#include <vector>

#include "model/meta.hpp"

namespace tundish {

struct Site {
  static constexpr std::string_view kind = "site";
  Id<Site> id;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "meta", meta, "name, version, revision");
  }
};

struct RackSpec {
  std::string site;
  int u_height = 48;
  void fields(Fields& f) {
    f(1, "site", site, "name of the site");
    f(2, "u_height", u_height, "rack units");
  }
};

struct Rack {
  static constexpr std::string_view kind = "rack";
  Id<Rack> id;
  RackSpec spec;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "spec", spec, "declared");
    f(3, "meta", meta, "name, version, revision");
  }
};

/// What a kind of node has. The number 8 is nowhere in code: it comes from here.
struct SkuSpec {
  std::string gpu_model;
  std::string gres_type;
  int gpus = 0;
  int nics = 0;
  int cpus = 0;
  int sockets = 1;
  std::int64_t memory_mib = 0;
  void fields(Fields& f) {
    f(1, "gpu_model", gpu_model, "NVML product name; empty when the node has no GPU");
    f(2, "gres_type", gres_type, "GRES type in Slurm, for example h100");
    f(3, "gpus", gpus, "GPUs per node");
    f(4, "nics", nics, "east-west HCAs per node");
    f(5, "cpus", cpus, "CPUs declared to the engine");
    f(6, "sockets", sockets, "CPU sockets");
    f(7, "memory_mib", memory_mib, "memory declared to the engine, MiB");
  }
};

struct Sku {
  static constexpr std::string_view kind = "sku";
  Id<Sku> id;
  SkuSpec spec;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "spec", spec, "declared");
    f(3, "meta", meta, "name, version, revision");
  }
};

struct CableSpec {
  std::string side_a_device, side_a_port, side_b_device, side_b_port;
  std::string import_scope;
  void fields(Fields& f) {
    f(1, "side_a_device", side_a_device, "node or switch");
    f(2, "side_a_port", side_a_port, "port on side a");
    f(3, "side_b_device", side_b_device, "node or switch");
    f(4, "side_b_port", side_b_port, "port on side b");
    f(5, "import_scope", import_scope, "import that declares it");
  }
};

struct Cable {
  static constexpr std::string_view kind = "cable";
  Id<Cable> id;
  CableSpec spec;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "spec", spec, "declared ends");
    f(3, "meta", meta, "name, version, revision");
  }
};

struct SwitchSpec {
  std::string site, rack, role, driver, management_url;
  std::string import_scope;
  std::string fabric = {};
  std::int64_t asn = 0;
  std::string router_id = {};
  std::string vtep_address = {};
  std::string failure_side = {};
  void fields(Fields& f) {
    f(1, "site", site, "name of the site");
    f(2, "rack", rack, "name of the rack");
    f(3, "role", role, "leaf, spine, core or storage");
    f(4, "driver", driver, "switch driver: flat until the fabric is driven");
    f(5, "management_url", management_url, "where the driver reaches it");
    f(6, "import_scope", import_scope, "import that declares it");
    f(7, "fabric", fabric, "EVPN fabric that it belongs to; empty: access");
    f(8, "asn", asn, "AS number; 0: as the switch shows it");
    f(9, "router_id", router_id, "IPv4; empty: as the switch shows it");
    f(10, "vtep_address", vtep_address, "IPv4 of the tunnel end; empty: as the switch shows it");
    f(11, "failure_side", failure_side, "leaf pair or spine plane; an order changes one at a time");
  }
};

/// What the controller remembers of a switch between looks.
struct SwitchStatus {
  std::vector<Condition> conditions;
  std::vector<std::string> drift;
  Instant drift_since;
  void fields(Fields& f) {
    f(1, "conditions", conditions, "unreachable, miswired, drift, unclear, foreign_conflict");
    f(2, "drift", drift, "what somebody else changed, line by line");
    f(3, "drift_since", drift_since, "when the newest of these changes was first seen");
  }
};

/// A switch. (`Switch` alone collides with nothing, but reads badly beside the keyword.)
struct Switch {
  static constexpr std::string_view kind = "switch";
  Id<Switch> id;
  SwitchSpec spec;
  Meta meta;
  SwitchStatus status;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "spec", spec, "declared");
    f(3, "meta", meta, "name, version, revision");
    f(4, "status", status, "observed");
  }
};

}  // namespace tundish
