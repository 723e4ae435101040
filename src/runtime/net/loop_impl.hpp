#pragma once
// Inside of the loop, for the files of this folder only: everybody else sees no Asio type.
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/net/loop.hpp"

namespace tundish::net {

namespace asio = boost::asio;

struct Loop::Impl {
  Impl(Instant floor, int pool_threads);
  ~Impl();

  Instant now() const;
  void go_on_from(Instant at);
  void add(Instant at, std::function<void()> task);
  bool on_other_thread() const;

  /// One thread runs it; other threads only post.
  asio::io_context io{1};

 private:
  friend class Loop;
  struct Job {
    std::function<void()> work;
    std::function<void()> done;
  };
  struct Signals {
    asio::signal_set set;
    std::function<void(int)> handler;
  };

  void arm();
  void run_due();
  void serve_pool();
  void wait_signal(Signals& signals);

  Instant wall_at_start_;
  Duration boot_at_start_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{io.get_executor()};
  asio::steady_timer timer_{io};
  /// Equal keys keep the order of insertion, which is the promised FIFO.
  std::multimap<Instant, std::function<void()>> tasks_;
  Instant armed_;
  std::vector<std::unique_ptr<Signals>> signals_;
  std::mutex pool_guard_;
  std::condition_variable pool_wake_;
  std::deque<Job> pool_queue_;
  bool pool_closed_ = false;
  std::vector<std::thread> pool_;
  std::atomic<std::thread::id> thread_{};
};

}  // namespace tundish::net
