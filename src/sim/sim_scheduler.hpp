#pragma once
#include <functional>
#include <map>
#include <memory>

#include "ports/scheduler.hpp"
#include "sim/sim_random.hpp"

namespace tundish::sim {

/// Virtual time. Tasks of one instant run in a seeded order, so that orders which production
/// could show are explored.
class SimScheduler final : public Scheduler {
 public:
  SimScheduler(Instant start, SimRandom& random) : now_(start), random_(random) {}
  Instant now() const override { return now_; }
  void at(Instant at, std::function<void()> task) override {
    tasks_.emplace(Key{std::max(at, now_), random_.next(), ++count_}, std::move(task));
  }
  /// Runs the next task; false when none is left or it lies after `limit`.
  bool step(Instant limit) {
    if (tasks_.empty() || tasks_.begin()->first.at > limit) return false;
    const auto first = tasks_.begin();
    now_ = first->first.at;
    const auto task = std::move(first->second);
    tasks_.erase(first);
    task();
    return true;
  }

 private:
  struct Key {
    Instant at;
    std::uint64_t tie;
    std::uint64_t count;
    auto operator<=>(const Key&) const = default;
  };
  Instant now_;
  SimRandom& random_;
  std::uint64_t count_ = 0;
  std::map<Key, std::function<void()>> tasks_;
};

/// The scheduler of one simulated process: when the process dies, its tasks die with it.
class ProcessScheduler final : public Scheduler {
 public:
  explicit ProcessScheduler(SimScheduler& world) : world_(world) {}
  Instant now() const override { return world_.now(); }
  void at(Instant at, std::function<void()> task) override {
    const std::weak_ptr<int> alive = alive_;
    world_.at(at, [alive, task = std::move(task)] {
      if (!alive.expired()) task();
    });
  }
  std::weak_ptr<int> alive() const { return alive_; }

 private:
  SimScheduler& world_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace tundish::sim
