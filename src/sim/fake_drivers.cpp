#include "sim/fake_drivers.hpp"

namespace tundish::sim {

void FakeAgents::start(const NodeId& id, VerbCall call, Duration limit, Done done) {
  ++calls_.verbs;
  link_.carry<VerbResult>(
      limit,
      [this, id, call]() -> Result<VerbResult> {
        SimNode* node = world_.find_id(id.str());
        if (!node || !node->reachable()) return make_error(Code::timeout, "agent is away");
        return world_.run_verb(*node, call);
      },
      std::move(done));
}

void FakeBmc::start(const std::string& address, PowerVerb verb, Duration limit, Done done) {
  ++calls_.power;
  link_.carry<void>(
      limit,
      [this, address, verb]() -> Result<> {
        SimNode* node = world_.find(address);
        if (!node) return make_error(Code::not_found, "no BMC at " + address);
        world_.power(*node, verb);
        return {};
      },
      std::move(done));
}

void FakeSwitch::attach(const PortRef& port, const std::string& segment, Duration limit,
                        Done done) {
  ++calls_.attach;
  link_.carry<void>(
      limit,
      [this, name = port.port, segment]() -> Result<> {
        const auto port_found = world_.ports.find(name);
        if (port_found == world_.ports.end()) return make_error(Code::not_found, "no port " + name);
        port_found->second = segment;
        return {};
      },
      std::move(done));
}

void FakeSwitch::read(const PortRef& port, Duration limit, ReadDone done) {
  link_.carry<std::vector<PortObserved>>(
      limit,
      [this, name = port.switch_name]() -> Result<std::vector<PortObserved>> {
        std::vector<PortObserved> out;
        for (const auto& [port_name, segment] : world_.ports) {
          PortObserved seen;
          seen.switch_name = name;
          seen.port = port_name;
          seen.segment = segment;
          seen.link_up = true;
          out.push_back(std::move(seen));
        }
        return out;
      },
      std::move(done));
}

void FakeEngine::apply(const std::string&, const NodeId& controller, const std::string& cluster,
                       std::vector<EngineCommand> commands, Duration limit, Done done) {
  ++calls_.engine;
  link_.carry<void>(
      limit,
      [this, controller, cluster, commands]() -> Result<> {
        const SimNode* node = world_.find_id(controller.str());
        if (!node || !node->reachable()) return make_error(Code::timeout, "agent is away");
        return world_.apply_engine(cluster, commands);
      },
      std::move(done));
}

void FakeEngine::observe(const NodeId& controller, const std::string& cluster, Duration limit,
                         ObserveDone done) {
  link_.carry<EngineObserved>(
      limit,
      [this, controller, cluster]() -> Result<EngineObserved> {
        const SimNode* node = world_.find_id(controller.str());
        if (!node || !node->reachable()) return EngineObserved{};
        return world_.observe_engine(cluster);
      },
      std::move(done));
}

}  // namespace tundish::sim
