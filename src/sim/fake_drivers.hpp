#pragma once
// Fakes of every port of tundishd: late, lossy, repeated, done-but-timed-out.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "families/engines/engine_driver.hpp"
#include "ports/drivers.hpp"
#include "sim/checker.hpp"
#include "sim/world.hpp"

namespace tundish::sim {

/// How often the outside world misbehaves, per mille of calls.
struct Trouble {
  int lost_request = 0;  ///< never arrives: timeout
  int lost_answer = 0;   ///< done, but reported as timeout
  int refused = 0;       ///< fails at once
  Duration slowest = milliseconds(200);
};

/// Shared plumbing: `act` happens after a delay, the answer after another one.
class Link {
 public:
  Link(World& world, const Trouble& trouble, std::weak_ptr<int> process)
      : world_(world), trouble_(trouble), process_(std::move(process)) {}

  template <class T>
  void carry(Duration limit, std::function<Result<T>()> act, std::function<void(Result<T>)> done) {
    SimRandom& random = world_.random();
    const bool lose_request = random.chance(trouble_.lost_request);
    const bool lose_answer = random.chance(trouble_.lost_answer);
    const bool refuse = random.chance(trouble_.refused);
    const Instant now = world_.scheduler().now();
    const Instant there = now + random.between(milliseconds(1), trouble_.slowest);
    // Shared: what is carried is large, and three tasks know of it.
    struct Trip {
      std::weak_ptr<int> process;
      std::function<Result<T>()> act;
      std::function<void(Result<T>)> done;
      bool answered = false;
      void answer(Result<T> result) {
        if (answered || process.expired()) return;
        answered = true;
        done(std::move(result));
      }
    };
    const auto trip = std::make_shared<Trip>(Trip{process_, std::move(act), std::move(done)});
    world_.scheduler().at(now + limit,
                          [trip] { trip->answer(make_error(Code::timeout, "no answer")); });
    if (refuse) {
      world_.scheduler().at(there,
                            [trip] { trip->answer(make_error(Code::unavailable, "refused")); });
      return;
    }
    if (lose_request) return;
    world_.scheduler().at(there, [this_world = &world_, trip, lose_answer, there] {
      auto result = std::make_shared<Result<T>>(trip->act());
      if (lose_answer) return;
      this_world->scheduler().at(there + milliseconds(1),
                                 [trip, result] { trip->answer(std::move(*result)); });
    });
  }

 private:
  World& world_;
  const Trouble& trouble_;
  std::weak_ptr<int> process_;
};

class FakeAgents final : public Agents {
 public:
  FakeAgents(World& world, const Trouble& trouble, std::weak_ptr<int> process, Checker& checker)
      : world_(world), process_(process), link_(world, trouble, process), checker_(checker) {}
  void start(const NodeId& node, VerbCall call, Duration limit, Done done) override;
  void stop(const NodeId& node, const std::string& key) override;
  ~FakeAgents() override;

 private:
  /// Held until the run is answered, stopped, or tundishd dies.
  struct Lease {
    Done done;
    std::shared_ptr<int> held = std::make_shared<int>(0);
  };
  static void end(Lease& lease, Result<VerbResult> result);
  void start_leased(const NodeId& node, VerbCall call, Duration limit, Done done);

  World& world_;
  std::weak_ptr<int> process_;
  Link link_;
  Checker& checker_;
  std::map<std::string, std::shared_ptr<Lease>> leased_;  ///< by key of the run
};

class FakeBmc final : public Bmc {
 public:
  FakeBmc(World& world, const Trouble& trouble, std::weak_ptr<int> process, Checker& checker)
      : world_(world), link_(world, trouble, std::move(process)), checker_(checker) {}
  void start(const std::string& bmc_address, PowerVerb verb, Duration limit, Done done) override;
  void read(const std::string& bmc_address, Duration limit, ReadDone done) override;

 private:
  World& world_;
  Link link_;
  Checker& checker_;
};

/// The simulated site has no InfiniBand.
class NoFabrics final : public FabricManager {
 public:
  void apply(const FabricRef& ref, const FabricState&, Duration, Done done) override {
    done(make_error(Code::unsupported, "no fabric " + ref.name));
  }
  void read(const FabricRef& ref, Duration, ReadDone done) override {
    done(make_error(Code::unsupported, "no fabric " + ref.name));
  }
};

class FakeStorage final : public StorageDriver {
 public:
  FakeStorage(World& world, const Trouble& trouble, std::weak_ptr<int> process, Checker& checker)
      : world_(world), link_(world, trouble, std::move(process)), checker_(checker) {}
  void apply(const StorageRef& ref, const StorageChange& change, Duration limit,
             Done done) override;
  void read(const StorageRef& ref, Duration limit, ReadDone done) override;

 private:
  World& world_;
  Link link_;
  Checker& checker_;
};

class FakeSwitch final : public SwitchDriver {
 public:
  FakeSwitch(World& world, const Trouble& trouble, std::weak_ptr<int> process, Checker& checker)
      : world_(world), link_(world, trouble, std::move(process)), checker_(checker) {}
  void attach(const PortRef& port, const PortIntent& intent, Duration limit, Done done) override;
  void read(const PortRef& any_port_of_switch, const SwitchOwnership& ownership, Duration limit,
            ReadDone done) override;

 private:
  World& world_;
  Link link_;
  Checker& checker_;
};

/// The shipped engine item plans and renders; only its transport is faked.
class FakeEngine final : public Engine {
 public:
  FakeEngine(World& world, const Trouble& trouble, std::weak_ptr<int> process, Checker& checker,
             const engines::EngineDriver& item)
      : world_(world), link_(world, trouble, std::move(process)), checker_(checker), item_(item) {}
  std::vector<EngineCommand> plan(const DesiredEngine& desired,
                                  const EngineObserved& observed) const override;
  std::vector<EngineFile> render(const DesiredEngine& desired) const override {
    return item_.render(desired);
  }
  void apply(const std::string& key, const NodeId& controller, const std::string& cluster,
             std::vector<EngineCommand> commands, Duration limit, Done done) override;
  void observe(const NodeId& controller, const std::string& cluster, Duration limit,
               ObserveDone done) override;

 private:
  World& world_;
  Link link_;
  Checker& checker_;
  const engines::EngineDriver& item_;
};

}  // namespace tundish::sim
