#pragma once
// The rules that hold at every instant, checked on the registry and on the simulated world.
#include <string>
#include <vector>

#include "control/manager.hpp"
#include "sim/fake_drivers.hpp"
#include "sim/world.hpp"

namespace tundish::sim {

/// Permits that were granted, per kind of driver.
struct PermitLog {
  int power = 0, verbs = 0, attach = 0, engine = 0;
  void count(const control::Action& action, const control::Permit& permit);
};

/// Broken invariants of facts/cloud.md 2.1 that apply here, in words; empty: none.
std::vector<std::string> check_always(const Registry& view, const World& world);
/// No driver was called without a permit.
std::vector<std::string> check_permits(const PermitLog& permits, const CallLog& calls);
/// After everything settled: nothing open that should not be, nothing lost, nothing doubled.
std::vector<std::string> check_settled(const Registry& view, const World& world);

}  // namespace tundish::sim
