#pragma once
// The event loop that owns all state of a daemon: one thread, plus a small pool for blocking calls.
#include <functional>
#include <initializer_list>
#include <memory>

#include "ports/scheduler.hpp"

namespace tundish::net {

class Loop final : public Scheduler {
 public:
  /// `floor`: no Instant below it is ever returned (the newest one in the store).
  explicit Loop(Instant floor = {}, int pool_threads = 4);
  ~Loop() override;

  Instant now() const override;
  void at(Instant at, std::function<void()> task) override;

  /// Before run(): time goes on from here, whatever the wall clock says.
  void begin_at(Instant at);
  /// On the loop thread: forward to the wall clock; never back.
  void believe_wall();

  /// From any thread: run `task` on the loop thread.
  void post(std::function<void()> task);
  /// Runs `work` on a pool thread, then `done` on the loop thread.
  void offload(std::function<void()> work, std::function<void()> done);
  /// Called on the loop thread when one of `signals` arrives.
  void on_signals(std::initializer_list<int> signals, std::function<void(int)> handler);

  void run();   ///< until stop()
  void stop();  ///< from any thread

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tundish::net
