#pragma once
// One item per kind of engine: pure text in, text out. The machinery runs what an item plans.
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/engine.hpp"

namespace tundish::engines {

struct EngineDriver {
  std::string_view name;
  std::string_view doc;
  /// Files of the whole cluster, the same for every machine in it. What only a machine knows
  /// (state folders, sockets, passwords) is added by its agent.
  std::vector<EngineFile> (*render)(const DesiredEngine&);
  /// Commands in the order to run them; empty: in step, or nothing is known.
  std::vector<EngineCommand> (*plan)(const DesiredEngine&, const EngineObserved&);
  /// Total: any text gives an error or an observation, never a crash.
  Result<EngineObserved> (*parse_status)(std::string_view text);
};

/// The item of that name, or nothing.
const EngineDriver* find_engine(std::string_view name);

}  // namespace tundish::engines
