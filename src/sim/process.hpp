#pragma once
#include <memory>

#include "control/manager.hpp"
#include "sim/checker.hpp"
#include "sim/fake_drivers.hpp"
#include "sim/memory_store.hpp"

namespace tundish::sim {

/// Thrown at a hook to end the simulated process there; caught by the simulation's loop only.
struct Crash {
  std::string hook;
};

class FixedSecrets final : public control::SecretSource {
 public:
  std::string munge_key(const Cluster&) override { return "00"; }
  std::string dbd_password(const Cluster&) override { return "x"; }
  control::StorageKey storage_key(const TenantId&) override { return {"private", "public"}; }
};

struct ProcessParts {
  World& world;
  MemoryStore& store;
  Checker& checker;
  const Trouble& trouble;
  const XidCatalogue& catalogue;
  const RemediationPolicy& policy;
  control::Limits limits;
  std::function<void(const std::string&)> hook;
};

/// tundishd as the simulator runs it: the shipped manager over fake drivers.
struct Process {
  explicit Process(ProcessParts parts);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Checker& checker;
  ProcessScheduler scheduler;
  control::Ledger ledger;
  FakeAgents agents;
  FakeBmc bmc;
  FakeSwitch switches;
  NoFabrics fabrics;
  FakeStorage storage;
  FakeEngine engine;
  FixedSecrets secrets;
  std::unique_ptr<control::Manager> manager;
};

}  // namespace tundish::sim
