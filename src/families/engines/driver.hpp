#pragma once
// Turns an item into the port: commands and observations travel as verbs of the agent that runs
// the engine's controller.
#include "families/engines/engine_driver.hpp"
#include "ports/drivers.hpp"

namespace tundish::engines {

/// `agents` and `item` outlive it. Its callbacks run where those of `agents` run.
class AgentEngine final : public Engine {
 public:
  AgentEngine(Agents& agents, const EngineDriver& item) : agents_(agents), item_(item) {}

  std::vector<EngineCommand> plan(const DesiredEngine& desired,
                                  const EngineObserved& observed) const override;
  std::vector<EngineFile> render(const DesiredEngine& desired) const override;
  void apply(const std::string& key, const NodeId& controller, const std::string& cluster,
             std::vector<EngineCommand> commands, Duration limit, Done done) override;
  /// An agent or a controller that does not answer is an observation (`reachable` false), never
  /// an Error: silence is not a fault of any node.
  void observe(const NodeId& controller, const std::string& cluster, Duration limit,
               ObserveDone done) override;

 private:
  Agents& agents_;
  const EngineDriver& item_;
  std::uint64_t observations_ = 0;
};

}  // namespace tundish::engines
