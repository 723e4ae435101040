#include "runtime/net/loop.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <ctime>

#include "base/check.hpp"
#include "base/log.hpp"
#include "runtime/net/loop_impl.hpp"

namespace tundish::net {
namespace {

/// The timer runs on CLOCK_MONOTONIC, the project clock on CLOCK_BOOTTIME: after a suspend a
/// longer wait than this would be late by the time asleep.
constexpr Duration timer_wait_max = seconds(60);

Duration read_clock(clockid_t clock) {
  timespec at{};
  clock_gettime(clock, &at);
  return microseconds(static_cast<std::int64_t>(at.tv_sec) * 1000000 + at.tv_nsec / 1000);
}

/// A task that throws has left state half changed: end the process, the state is in the store.
void run_guarded(const std::function<void()>& task) {
  std::string why;
  try {
    task();
    return;
  } catch (const std::exception& e) {
    why = e.what();
  } catch (...) {
    why = "not a std::exception";
  }
  log(LogLevel::error, "loop_task_threw", {{"what", why}});
  check(false, "no exception leaves a module");
}

}  // namespace

Loop::Impl::Impl(Instant floor, int pool_threads)
    : wall_at_start_(std::max(Instant{read_clock(CLOCK_REALTIME).us}, floor)),
      boot_at_start_(read_clock(CLOCK_BOOTTIME)) {
  for (int i = 0; i < pool_threads; ++i) pool_.emplace_back([this] { serve_pool(); });
}

Loop::Impl::~Impl() {
  {
    const std::lock_guard lock(pool_guard_);
    pool_closed_ = true;
    pool_queue_.clear();
  }
  pool_wake_.notify_all();
  for (auto& thread : pool_) thread.join();
}

Instant Loop::Impl::now() const {
  return wall_at_start_ + (read_clock(CLOCK_BOOTTIME) - boot_at_start_);
}

void Loop::Impl::go_on_from(Instant at) {
  boot_at_start_ = read_clock(CLOCK_BOOTTIME);
  wall_at_start_ = at;
  armed_ = {};
  arm();
}

bool Loop::Impl::on_other_thread() const {
  const auto id = thread_.load();
  return id != std::thread::id{} && id != std::this_thread::get_id();
}

void Loop::Impl::add(Instant at, std::function<void()> task) {
  tasks_.emplace(at, std::move(task));
  arm();
}

void Loop::Impl::arm() {
  if (tasks_.empty() || tasks_.begin()->first == armed_) return;
  armed_ = tasks_.begin()->first;
  const Duration wait = std::clamp(armed_ - now(), Duration{}, timer_wait_max);
  timer_.expires_after(std::chrono::microseconds(wait.us));
  timer_.async_wait([this](const boost::system::error_code& failed) {
    if (!failed) run_due();
  });
}

void Loop::Impl::run_due() {
  // Only what is due on entry: a task that schedules itself "now" must not starve the sockets.
  const auto due_end = tasks_.upper_bound(now());
  auto due = std::distance(tasks_.begin(), due_end);
  for (; due > 0 && !io.stopped(); --due) {
    const auto first = tasks_.extract(tasks_.begin());
    run_guarded(first.mapped());
  }
  armed_ = {};
  arm();
}

void Loop::Impl::serve_pool() {
  std::unique_lock lock(pool_guard_);
  for (;;) {
    pool_wake_.wait(lock, [this] { return pool_closed_ || !pool_queue_.empty(); });
    if (pool_closed_) return;
    Job job = std::move(pool_queue_.front());
    pool_queue_.pop_front();
    lock.unlock();
    run_guarded(job.work);
    job.work = nullptr;
    asio::post(io, [done = std::move(job.done)] { run_guarded(done); });
    lock.lock();
  }
}

void Loop::Impl::wait_signal(Signals& signals) {
  signals.set.async_wait([this, &signals](const boost::system::error_code& failed, int number) {
    if (failed) return;
    run_guarded([&] { signals.handler(number); });
    wait_signal(signals);
  });
}

Loop::Loop(Instant floor, int pool_threads) : impl_(std::make_unique<Impl>(floor, pool_threads)) {}

Loop::~Loop() = default;

Instant Loop::now() const { return impl_->now(); }

void Loop::begin_at(Instant at) { impl_->go_on_from(at); }

void Loop::believe_wall() {
  impl_->go_on_from(std::max(now(), Instant{read_clock(CLOCK_REALTIME).us}));
}

void Loop::at(Instant at, std::function<void()> task) {
  if (impl_->on_other_thread()) {
    post([this, at, task = std::move(task)]() mutable { impl_->add(at, std::move(task)); });
  } else {
    impl_->add(at, std::move(task));
  }
}

void Loop::post(std::function<void()> task) {
  asio::post(impl_->io, [task = std::move(task)] { run_guarded(task); });
}

void Loop::offload(std::function<void()> work, std::function<void()> done) {
  {
    const std::lock_guard lock(impl_->pool_guard_);
    impl_->pool_queue_.push_back({std::move(work), std::move(done)});
  }
  impl_->pool_wake_.notify_one();
}

void Loop::on_signals(std::initializer_list<int> signals, std::function<void(int)> handler) {
  auto entry = std::unique_ptr<Impl::Signals>(
      new Impl::Signals{asio::signal_set(impl_->io), std::move(handler)});
  for (const int number : signals) entry->set.add(number);
  impl_->wait_signal(*entry);
  impl_->signals_.push_back(std::move(entry));
}

void Loop::run() {
  impl_->thread_ = std::this_thread::get_id();
  impl_->io.run();
  impl_->thread_ = std::thread::id{};
  // Not before run(): a stop() that came first must still count.
  impl_->io.restart();
}

void Loop::stop() { impl_->io.stop(); }

}  // namespace tundish::net
