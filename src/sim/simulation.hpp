#pragma once
// One seeded run: a fleet, tenants with jobs, faults, crashes of tundishd at any hook, and the
// shipped controllers in between.
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/manager.hpp"
#include "sim/checker.hpp"
#include "sim/fake_drivers.hpp"
#include "sim/memory_store.hpp"

namespace tundish::sim {

struct SimOptions {
  std::uint64_t seed = 1;
  int nodes = 12;
  int gpus = 8;
  Duration length = hours(2);
  Duration settle = hours(3);   ///< then nothing may be open
  int faults = 6;
  int sticky_per_mille = 150;
  int decoys = 10;
  int crashes = 4;               ///< at random hooks
  Trouble trouble = {20, 20, 20, milliseconds(300)};
  std::string crash_at;          ///< a hook; with crash_nth: exactly there, nowhere else
  int crash_nth = 1;
  bool tell = false;             ///< end_state tells every incident
  bool cut_agents = false;       ///< all agents away for ten minutes
  const XidCatalogue* catalogue = nullptr;
  const RemediationPolicy* policy = nullptr;
};

struct SimReport {
  std::vector<std::string> broken;   ///< empty: every rule held
  std::set<std::string> hooks;       ///< every hook that was passed
  std::string digest;                ///< equal for equal seeds
  std::int64_t events = 0;
  int crashes = 0;
  int incidents = 0, resolved = 0, rma = 0;
  Duration simulated;
  bool crash_hit = false;
  std::string end_state;             ///< what must not depend on crashes
};

SimReport run_simulation(const SimOptions& options);

}  // namespace tundish::sim
