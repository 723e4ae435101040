#pragma once
// Bodies of the network calls: desired beside observed, the exact difference, proof on the wire.
#include <string>
#include <vector>

#include "base/describe.hpp"
#include "model/switch_state.hpp"

namespace tundish::edge {

enum class NetworkRowState { same, differs, missing, foreign, unknown };
inline std::span<const std::string_view> enum_names(NetworkRowState) {
  static constexpr std::string_view names[] = {"same", "differs", "missing", "foreign", "unknown"};
  return names;
}

struct NetworkRow {
  std::string object, item, wanted, observed;
  NetworkRowState state = NetworkRowState::unknown;
  std::int64_t age_ms = -1;
  void fields(Fields& f) {
    f(1, "object", object, "switch or fabric");
    f(2, "item", item, "VRF, segment, port, list or partition");
    f(3, "wanted", wanted, "as the registry wants it");
    f(4, "observed", observed, "as it was read; empty: not there");
    f(5, "state", state, "same, differs, missing, foreign or unknown (not read lately)");
    f(6, "age_ms", age_ms, "of the observation; -1: never read");
  }
};

struct NetworkReport {
  std::string network, tenant, vrf, segment, prefix, gateway, partition;
  int vni = 0, l3vni = 0;
  bool in_step = false;
  std::vector<NetworkRow> rows;
  std::vector<std::string> firewall, access;
  std::string access_address;
  std::vector<std::string> reasons;
  void fields(Fields& f) {
    f(1, "network", network, "name of the cluster");
    f(2, "tenant", tenant, "name of the tenant");
    f(3, "vrf", vrf, "VRF");
    f(4, "segment", segment, "segment");
    f(5, "prefix", prefix, "IPv4 prefix");
    f(6, "gateway", gateway, "anycast gateway");
    f(7, "partition", partition, "InfiniBand partition; empty: none");
    f(8, "vni", vni, "L2VNI");
    f(9, "l3vni", l3vni, "VNI of the VRF");
    f(10, "in_step", in_step, "every row is the same, as seen lately, and nothing else is amiss");
    f(11, "rows", rows, "desired and observed side by side; a tenant is shown none");
    f(12, "firewall", firewall, "rules in order; empty: nothing leaves but to the storage");
    f(13, "access", access, "who may come in to the login node");
    f(14, "access_address", access_address, "of the gateway; empty: none");
    f(15, "reasons", reasons, "why a switch or fabric is not in step, beside the rows");
  }
};

struct NetworkPlanStep {
  std::string object, what, file, text;
  void fields(Fields& f) {
    f(1, "object", object, "switch or fabric");
    f(2, "what", what, "for people");
    f(3, "file", file, "which tool or file takes it");
    f(4, "text", text, "exact commands");
  }
};
struct NetworkPlanFile {
  std::string object, name, text;
  std::string about = {};
  void fields(Fields& f) {
    f(1, "object", object, "switch or fabric");
    f(2, "name", name, "as the switch calls it");
    f(3, "text", text, "everything of ours, complete");
    f(4, "about", about, "what takes it: commands, a configuration or a description");
  }
};

/// One switch's part, from its driver's item.
struct SwitchPlan {
  std::vector<NetworkPlanStep> steps;
  std::vector<NetworkPlanFile> files;
  SwitchState read_back;  ///< what the rendered text reads back as
};

/// What would be done to bring the switches in step, and the whole text of ours for a pipeline that
/// is not Tundish's.
struct NetworkPlan {
  std::vector<NetworkPlanStep> steps;
  std::vector<NetworkPlanFile> files;
  std::vector<std::string> findings, unknown;
  void fields(Fields& f) {
    f(1, "steps", steps, "in the order to run them");
    f(2, "files", files, "rendered configuration of ours");
    f(3, "findings", findings, "what the audit of the result says; empty: nothing");
    f(4, "unknown", unknown,
      "what was not read lately, or has no driver that renders a configuration");
  }
};

/// A kind of switch that can be driven, and how far that is proved.
struct SwitchDriverInfo {
  std::string name, doc, proof, proof_by;
  bool confirmed_commit = false, session_diff = false;
  void fields(Fields& f) {
    f(1, "name", name, "as switches name it in `driver`");
    f(2, "doc", doc, "what it drives");
    f(3, "proof", proof, "wire, emulator or self-consistent");
    f(4, "proof_by", proof_by, "test that proves it");
    f(5, "confirmed_commit", confirmed_commit, "the switch undoes what nobody confirms");
    f(6, "session_diff", session_diff, "it shows its own difference before the commit");
  }
};

struct ProbeRequest {
  std::vector<std::string> clusters, services;
  void fields(Fields& f) {
    f(1, "clusters", clusters, "names or ids; empty: every active cluster");
    f(2, "services", services, "NAME=ADDRESS:PORT, tried by every node");
  }
};

}  // namespace tundish::edge
