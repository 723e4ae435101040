#pragma once
// A prepared store: a fleet at rest, as it is after months of service.
#include <chrono>
#include <cstdio>
#include <string>

#include "base/check.hpp"
#include "control/ledger.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"
#include "runtime/secret_box.hpp"
#include "runtime/store_sqlite/sqlite_store.hpp"

namespace tundish::bench {

struct FleetSize {
  int gpu_nodes = 0;
  int service_nodes = 0;
  int incidents = 0;  ///< open ones, each with a claim
};

inline std::string pad(int number) {
  const std::string text = std::to_string(number);
  return std::string(text.size() < 5 ? 5 - text.size() : 0, '0') + text;
}
inline std::string node_name(int number) { return "n" + pad(number); }
inline std::string boot_id(int number) { return "5b3a1c7e-0000-4000-8000-0000000" + pad(number); }
/// What the simulated agent of node `number` says: its identity.
inline std::string agent_secret(int number) {
  return "bench-agent-identity-of-32-bytes-or-more-" + pad(number);
}
constexpr const char* operator_token = "bench-operator-token-of-32-bytes-or-more";

class SteadyScheduler final : public Scheduler {
 public:
  Instant now() const override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
  }
  void at(Instant, std::function<void()>) override {}
};

inline std::string make_mac(int group, int number) {
  char text[18];
  std::snprintf(text, sizeof text, "02:4c:%02x:00:%02x:%02x", group & 0xff, (number >> 8) & 0xff,
                number & 0xff);
  return text;
}

/// As an agent reports it: eight GPUs, ten ports.
inline Node make_node(const NodeId& id, int number, NodeRole role, Instant now) {
  Node node;
  node.id = id;
  node.meta.name = role == NodeRole::gpu ? node_name(number) : "svc" + pad(number);
  node.spec.role = role;
  node.spec.site = "bench";
  node.spec.rack = "r" + pad(number / 8);
  node.spec.leaf_group = "leaf" + pad(number / 32);
  node.spec.sku = role == NodeRole::gpu ? "hgx-h100" : "";
  node.spec.bmc_mac = make_mac(0xb0, number);
  node.spec.bmc_address = "127.0.0.1:9";
  for (int i = 0; i < 10; ++i) {
    const std::string mac = make_mac(0xe0 + i, number);
    node.spec.ports.push_back({"eth" + std::to_string(i), PortRole::access, mac,
                               node.spec.leaf_group, node.meta.name + "/" + std::to_string(i), i});
    node.status.hardware.nic_macs.push_back(mac);
  }
  for (int i = 0; role == NodeRole::gpu && i < 8; ++i) {
    const std::string last = std::to_string(i);
    node.status.hardware.gpus.push_back({i, "GPU-8f6c4f0e-3d0c-4b52-9a7e-00000000000" + last,
                                         "16504230" + last, "NVIDIA H100 80GB HBM3",
                                         "0000:1" + last + ":00"});
  }
  node.status.accepted_gpus = node.status.hardware.gpus;
  node.status.hardware.at = node.status.revalidated_at = node.status.phase_since = now;
  node.status.phase = NodePhase::ready;
  node.status.boot_id = boot_id(number);
  node.status.enrolled = true;
  return node;
}

/// The node of number k is the k-th; its agent's identity is agent_secret(k).
inline OperationPtr put_nodes(FleetSize size) {
  return make_operation("put_fleet", "site/bench", [size](Txn& txn) -> Result<> {
    for (int i = 1; i <= size.gpu_nodes + size.service_nodes; ++i) {
      const NodeRole role = i <= size.gpu_nodes ? NodeRole::gpu : NodeRole::service;
      Node node = make_node(txn.make_id<Node>(), i, role, txn.now());
      Token token;
      token.id = txn.make_id<Token>();
      token.meta.name = "agent-" + node.meta.name;
      token.role = Role::agent;
      token.node = node.id.str();
      token.hash = hash_token(agent_secret(i));
      txn.put(std::move(node));
      txn.put(std::move(token));
    }
    return {};
  });
}

inline Witness make_witness(int number, std::int64_t seq, Instant now) {
  Witness witness;
  witness.source = "kmsg";
  witness.boot_id = boot_id(number);
  witness.seq = seq;
  witness.id = witness.boot_id + "/kmsg/" + std::to_string(seq);
  witness.observed_at = now;
  witness.event.kind = KernelEventKind::xid;
  witness.event.code = 79;
  witness.event.device = "0000:10:00";
  witness.event.text = "NVRM: Xid (PCI:0000:10:00): 79, GPU has fallen off the bus.";
  return witness;
}

/// Writes FOLDER/store.sqlite; tundishd with that state_dir finds its fleet.
inline void make_store(const std::string& folder, FleetSize size, const XidCatalogue& xids) {
  auto store = SqliteStore::open(folder + "/store.sqlite");
  check(store.has_value(), "the store of the benchmark must open");
  SteadyScheduler clock;
  control::Ledger ledger(**store, clock);
  check(ledger.load().has_value(), "the store of the benchmark must load");
  const auto perform = [&](const OperationPtr& operation) {
    const auto done = ledger.perform(*operation, "system", "bench");
    check(done.has_value(), "an operation of the benchmark must succeed");
  };
  Token token;
  token.meta.name = "first-operator";
  token.role = Role::operator_;
  token.hash = hash_token(operator_token);
  perform(create_token(std::move(token)));
  perform(put_site("bench"));
  perform(put_sku("hgx-h100", {"NVIDIA H100 80GB HBM3", "h100", 8, 8, 8, 1, 2000}));
  perform(create_tenant("acme", {8 * size.gpu_nodes}));
  perform(put_nodes(size));
  int number = 0;
  for (const auto& [id, node] : ledger.view().all<Node>()) {
    if (++number > size.incidents) break;
    perform(record_witnesses(id, {make_witness(number, 1, clock.now())}, xids));
  }
  check(ledger.flush().has_value(), "the store of the benchmark must take its fleet");
}

}  // namespace tundish::bench
