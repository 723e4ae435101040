#pragma once
// A small site on a registry, and what the manager does with its health: for tests.
#include <gtest/gtest.h>

#include "control/health/gather.hpp"
#include "control/health/reconcile_health.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/blame_ops.hpp"
#include "model/ops/health_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::control::health {

/// Nodes n1 .. n6 on leaf1; n1 .. n4 are tenant acme's cluster "train".
class HealthSite : public testing::Test {
 protected:
  static constexpr int nodes = 6;

  void SetUp() override {
    must(put_sku("gpu", {"GPU", "gpu", 8, 0, 8, 1, 2000}));
    for (int i = 1; i <= nodes; ++i) admit(i, "");
    NodeSpec service;
    service.role = NodeRole::service;
    service.ports.push_back({"eth0", PortRole::access, "", "leaf9", "x", -1});
    must(admit_node("svc", service));
    must(create_tenant("acme", {64}));
    order_cluster(4);
    look();
  }
  void admit(int i, const std::string& domain) {
    NodeSpec spec;
    spec.sku = "gpu";
    spec.rack = "r1";
    spec.nvlink_domain = domain;
    spec.bmc_mac = "02:00:00:00:01:" + std::to_string(10 + i);
    spec.ports.push_back({"eth0", PortRole::access, "", "leaf1", "swp" + std::to_string(i), -1});
    const std::string name = "n" + std::to_string(i);
    must(admit_node(name, spec));
    must(set_node_phase(node(i), NodePhase::expected, NodePhase::ready));
    must(record_boot(node(i), "boot"));
    hear(i);
    HealthReport all_well;
    all_well.boot_id = "boot";
    all_well.seq = ++seq_;
    all_well.complete = true;
    must(record_verdicts(node(i), all_well));
  }
  void order_cluster(int count) {
    ClusterOrder order;
    order.tenant = reg_.find_named<Tenant>("acme")->id;
    order.name = "train";
    order.spec.sku = "gpu";
    order.spec.nodes = count;
    for (int i = 1; i <= count; ++i) order.members.push_back(node(i));
    order.controller = reg_.find_named<Node>("svc")->id;
    must(create_cluster(order));
    Txn txn(reg_, now_, "test");
    Allocation held = allocation();
    for (auto& member : held.status.nodes) member.joined = true;
    held.status.phase = AllocationPhase::active;
    txn.put(held);
  }
  const Allocation& allocation() { return reg_.all<Allocation>().begin()->second; }
  NodeId node(int i) { return reg_.find_named<Node>("n" + std::to_string(i))->id; }
  const Node& at(int i) { return *reg_.find(node(i)); }
  void hear(int i) {
    Presence& presence = seen_.presence[node(i)];
    presence.last_heard = now_;
    presence.boot_id = "boot";
  }

  void must(const OperationPtr& operation) {
    Txn txn(reg_, now_, "test");
    const auto done = operation->perform(txn);
    ASSERT_TRUE(done) << operation->name() << ": " << done.error().message();
  }
  /// A check of node `i` says it; `ok` takes it back.
  void says(int i, const std::string& check, Resource part, VerdictState state,
            Locality locality = Locality::symptom, const std::string& device = "",
            Duration age = {}) {
    Verdict verdict;
    verdict.check = check;
    verdict.state = state;
    verdict.reason = state == VerdictState::unknown ? "starved: it waited 80 % of the time" : "bad";
    verdict.watches = part;
    verdict.locality = locality;
    verdict.device = device;
    verdict.at = now_ - age;
    HealthReport report;
    report.boot_id = "boot";
    report.seq = ++seq_;
    report.verdicts = {verdict};
    must(record_verdicts(node(i), report));
  }
  /// Its BMC does.
  void leaks(int i, VerdictState state) {
    Verdict verdict;
    verdict.check = "leak";
    verdict.state = state;
    verdict.reason = "a detector of leaks is wet";
    verdict.watches = Resource::cooling;
    verdict.locality = Locality::device_local;
    verdict.device = "1/ColdPlate";
    verdict.at = now_;
    must(record_bmc_verdicts(node(i), {verdict}));
  }
  void hangs(int i) { says(i, "storage_mount", Resource::storage_client, VerdictState::fail); }
  void writes(int i, KernelEvent event, Provenance provenance = Provenance::kernel) {
    Witness witness;
    witness.id = "w" + std::to_string(++seq_);
    witness.source = "kmsg";
    witness.boot_id = "boot";
    witness.seq = seq_;
    witness.observed_at = now_;
    witness.provenance = provenance;
    witness.event = std::move(event);
    must(record_witnesses(node(i), {witness}, catalogue_));
  }

  View view() { return {reg_, seen_, policy_, limits_, now_}; }
  std::set<NodeId> unwell() {
    std::set<NodeId> out;
    for (const auto& [id, one] : reg_.all<Node>()) {
      if (is_unwell(reg_, id)) out.insert(id);
    }
    return out;
  }
  /// As the manager: until nothing more follows.
  Outcome look() {
    Outcome last;
    for (int round = 0; round < 10; ++round) {
      last = reconcile_health(view(), unwell());
      const std::int64_t before = reg_.revision();
      for (const auto& operation : last.operations) must(operation);
      if (reg_.revision() == before) return last;
    }
    ADD_FAILURE() << "it does not settle";
    return last;
  }
  Outcome pass(Duration time) {
    now_ = now_ + time;
    for (int i = 1; i <= nodes; ++i) hear(i);
    return look();
  }
  int claims() {
    int count = 0;
    for (const auto& [id, claim] : reg_.all<Claim>()) count += claim.state == ClaimState::active;
    return count;
  }
  const Incident* open() {
    for (const auto& [id, incident] : reg_.all<Incident>()) {
      if (incident.state == IncidentState::open) return &incident;
    }
    return nullptr;
  }
  int count_open() {
    int count = 0;
    for (const auto& [id, one] : reg_.all<Incident>()) count += one.state == IncidentState::open;
    return count;
  }

  Registry reg_;
  Observations seen_;
  RemediationPolicy policy_;
  Limits limits_;
  XidCatalogue catalogue_;  ///< what the lines mean; set by the test
  Instant now_{1'700'000'000'000'000};
  std::int64_t seq_ = 0;
};

}  // namespace tundish::control::health
