#include "sim/fake_drivers.hpp"

namespace tundish::sim {
namespace {

/// What a broken plan does: a drain is a drain, whoever set it.
void clear_foreign_drains(const EngineObserved& observed, std::vector<EngineCommand>& out) {
  for (const auto& node : observed.nodes) {
    const bool drained =
        std::find(node.states.begin(), node.states.end(), "DRAIN") != node.states.end();
    if (!drained || node.reason.empty() || node.reason.starts_with("tundish:")) continue;
    EngineCommand command;
    command.verb = EngineVerb::update_nodes;
    command.nodes = {node.name};
    command.state = "undrain";
    out.push_back(std::move(command));
  }
}

/// What a broken requeue does: the first running job, of whatever cluster.
void requeue_elsewhere(World& world, const std::string& cluster,
                       const std::vector<EngineCommand>& commands) {
  for (const auto& command : commands) {
    if (command.verb != EngineVerb::requeue_job) continue;
    for (auto& [name, engine] : world.engines) {
      if (name == cluster) continue;
      for (const auto& job : engine.jobs) {
        if (job.state != "RUNNING") continue;
        EngineCommand wrong = command;
        wrong.job = job.id;
        (void)world.apply_engine(name, {wrong});
        return;
      }
    }
  }
}

}  // namespace

// What is carried may happen after the process that asked is dead: it holds the world, never
// anything of the process.

void FakeAgents::start(const NodeId& id, VerbCall call, Duration limit, Done done) {
  const auto name = enum_names(call.verb)[static_cast<std::size_t>(call.verb)];
  checker_.on_call({Driver::verb, id.str(), std::string(name)});
  if (call.run_checks && call.run_checks->is_leased()) {
    return start_leased(id, std::move(call), limit, std::move(done));
  }
  link_.carry<VerbResult>(
      limit,
      [&world = world_, id, call = std::move(call)]() -> Result<VerbResult> {
        SimNode* node = world.find_id(id.str());
        if (!node || !node->reachable()) return make_error(Code::timeout, "agent is away");
        if (world.verb_instead) {
          if (auto told = world.verb_instead(*node, call)) return std::move(*told);
        }
        return world.run_verb(*node, call);
      },
      std::move(done));
}

FakeAgents::~FakeAgents() {
  for (auto& [key, lease] : leased_) lease->held.reset();
}

void FakeAgents::end(Lease& lease, Result<VerbResult> result) {
  lease.held.reset();
  if (lease.done) std::exchange(lease.done, nullptr)(std::move(result));
}

/// The node works for a while before it answers; a lease that is taken back ends that. A run
/// outlives tundishd only as long as its lease.
void FakeAgents::start_leased(const NodeId& id, VerbCall call, Duration limit, Done done) {
  const std::string key = call.key;
  const auto lease = std::make_shared<Lease>();
  lease->done = std::move(done);
  leased_[key] = lease;
  // The heavy ones of an idle node take their time; those that prove a repair end within its limit.
  const Duration most = call.run_checks->only_active ? minutes(20) : seconds(100);
  // As the hub does: a run whose node went away in the middle is told as that.
  world_.scheduler().at(world_.scheduler().now() + limit, [lease, process = process_] {
    if (!process.expired()) end(*lease, make_error(Code::timeout, "no answer in time"));
  });
  const Duration works = world_.random().between(seconds(5), most);
  link_.carry<VerbResult>(
      limit,
      [&world = world_, id, key, works, lease, call = std::move(call),
       process = process_]() -> Result<VerbResult> {
        SimNode* node = world.find_id(id.str());
        if (!node || !node->reachable()) return make_error(Code::timeout, "agent is away");
        if (!lease->held && !process.expired()) {
          return make_error(Code::unavailable, "its lease was taken back before it began");
        }
        world.begin_run(*node, call, lease->held);
        const Instant end_at = world.scheduler().now() + works;
        world.scheduler().at(end_at, [&world, id, key, lease, call, process] {
          SimNode* there = world.find_id(id.str());
          if (!there || there->active_run != key) return;
          there->active_run.clear();
          if (process.expired() || !there->reachable()) return;
          std::optional<Result<VerbResult>> told;
          if (world.verb_instead) told = world.verb_instead(*there, call);
          end(*lease, told ? std::move(*told) : world.run_verb(*there, call));
        });
        return VerbResult{};
      },
      [lease](Result<VerbResult> begun) {
        if (!begun) end(*lease, begun.error());
      });
}

void FakeAgents::stop(const NodeId& id, const std::string& key) {
  if (world_.bug == Bug::lease_kept) return;
  const auto found = leased_.find(key);
  if (found == leased_.end()) return;
  const auto lease = std::move(found->second);
  leased_.erase(found);
  SimNode* node = world_.find_id(id.str());
  if (node && node->active_run == key && node->reachable()) node->active_run.clear();
  end(*lease, make_error(Code::unavailable, "its lease is taken back"));
}

void FakeBmc::start(const std::string& address, PowerVerb verb, Duration limit, Done done) {
  checker_.on_call({Driver::power, address, power_name(verb)});
  link_.carry<void>(
      limit,
      [&world = world_, address, verb]() -> Result<> {
        SimNode* node = world.find(address);
        if (!node) return make_error(Code::not_found, "no BMC at " + address);
        if (world.power_instead) {
          if (auto told = world.power_instead(*node)) return std::move(*told);
        }
        world.power(*node, verb);
        return {};
      },
      std::move(done));
}

void FakeBmc::read(const std::string& address, Duration limit, ReadDone done) {
  SimNode* asked = world_.find(address);
  if (!asked || asked->leak.empty()) {
    return done(make_error(Code::unsupported, "no detector at " + address));
  }
  link_.carry<BmcReading>(
      limit,
      [&world = world_, address]() -> Result<BmcReading> {
        BmcReading out;
        LeakDetector detector;
        detector.name = "1/ColdPlate";
        detector.state = world.find(address)->leak;
        detector.presence = "Enabled";
        out.leaks.push_back(std::move(detector));
        return out;
      },
      std::move(done));
}

void FakeStorage::apply(const StorageRef&, const StorageChange& change, Duration limit, Done done) {
  checker_.on_call({Driver::storage, change.export_name, words_of(change)});
  link_.carry<void>(
      limit, [&world = world_, change]() -> Result<> { return world.change_export(change); },
      std::move(done));
}

void FakeStorage::read(const StorageRef&, Duration limit, ReadDone done) {
  link_.carry<StorageSeen>(
      limit, [&world = world_]() -> Result<StorageSeen> { return world.show_exports(); },
      std::move(done));
}

void FakeSwitch::attach(const PortRef& port, const PortIntent& intent, Duration limit, Done done) {
  const std::string& segment = intent.segment;
  checker_.on_call({Driver::port, port.port, segment});
  link_.carry<void>(
      limit,
      [&world = world_, name = port.port, segment]() -> Result<> {
        if (!world.ports.contains(name)) return make_error(Code::not_found, "no port " + name);
        world.attach(name, segment);
        return {};
      },
      std::move(done));
}

void FakeSwitch::read(const PortRef& port, const SwitchOwnership&, Duration limit, ReadDone done) {
  link_.carry<SwitchReading>(
      limit,
      [&world = world_, name = port.switch_name]() -> Result<SwitchReading> {
        SwitchReading out;
        for (const auto& [port_name, segment] : world.ports) {
          PortObserved seen;
          seen.switch_name = name;
          seen.port = port_name;
          seen.segment = segment;
          seen.link_up = true;
          out.ports.push_back(std::move(seen));
        }
        return out;
      },
      std::move(done));
}

std::vector<EngineCommand> FakeEngine::plan(const DesiredEngine& desired,
                                            const EngineObserved& observed) const {
  auto out = item_.plan(desired, observed);
  if (world_.bug == Bug::clear_foreign_drain) clear_foreign_drains(observed, out);
  return out;
}

void FakeEngine::apply(const std::string& key, const NodeId& controller, const std::string& named,
                       std::vector<EngineCommand> commands, Duration limit, Done done) {
  const std::string cluster = plain_cluster(named);
  checker_.on_call({Driver::engine, named, key});
  link_.carry<void>(
      limit,
      [&world = world_, controller, cluster, commands = std::move(commands)]() -> Result<> {
        const SimNode* node = world.find_id(controller.str());
        if (!node || !node->reachable()) return make_error(Code::timeout, "agent is away");
        if (world.bug == Bug::requeue_of_other_tenant) {
          requeue_elsewhere(world, cluster, commands);
        }
        return world.apply_engine(cluster, commands);
      },
      std::move(done));
}

void FakeEngine::observe(const NodeId& controller, const std::string& named, Duration limit,
                         ObserveDone done) {
  const std::string cluster = plain_cluster(named);
  link_.carry<EngineObserved>(
      limit,
      [&world = world_, controller, cluster]() -> Result<EngineObserved> {
        const SimNode* node = world.find_id(controller.str());
        if (!node || !node->reachable()) return EngineObserved{};
        return world.observe_engine(cluster);
      },
      std::move(done));
}

}  // namespace tundish::sim
