#pragma once
// The arguments of the verb run_checks.
#include <optional>
#include <string>
#include <vector>

#include "model/active.hpp"
#include "model/expectation.hpp"

namespace tundish {

/// Inside a tenant's cluster: the run holds the node as long as the engine grants it as work.
struct CheckWork {
  std::string engine;
  std::string node_name;
  void fields(Fields& f) {
    f(1, "engine", engine, "slurm");
    f(2, "node_name", node_name, "name of the node in the engine");
  }
};

struct RunChecks {
  std::vector<std::string> checks;
  Expectation expect;
  std::vector<std::string> active = {};
  std::int64_t lease_ms = 0;
  PairSide pair = {};
  /// Without passive ones: what a node must pass to serve is asked for by an empty list.
  bool only_active = false;
  std::optional<CheckWork> work = {};
  bool is_leased() const { return lease_ms > 0; }
  void fields(Fields& f) {
    f(1, "checks", checks, "names; empty: all that a node must pass to serve; *: all passive ones");
    f(2, "expect", expect, "what the inventory says");
    f(3, "active", active, "active checks to run under the lease");
    f(4, "lease_ms", lease_ms,
      "milliseconds that they may go on without a pull that names this call; 0: no lease");
    f(5, "pair", pair, "the other node, of checks that two make together");
    f(6, "only_active", only_active, "no passive check is judged beside them");
    f(7, "work", work, "the engine's leave for it; absent: the node is nobody's");
  }
};

}  // namespace tundish
