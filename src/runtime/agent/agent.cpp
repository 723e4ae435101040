#include "runtime/agent/agent.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/log.hpp"
#include "base/text.hpp"
#include "runtime/agent/kernel_log_reader.hpp"
#include "runtime/agent/passive_loop.hpp"
#include "runtime/agent/pull.hpp"
#include "runtime/agent/sync.hpp"
#include "runtime/agent/text_metrics.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

/// Anchored to wall time once, then steady: a stepped clock moves nothing.
class ProjectClock {
 public:
  Instant now() const {
    const auto passed = std::chrono::steady_clock::now() - start_;
    return anchor_ +
           microseconds(std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Instant anchor_{std::chrono::duration_cast<std::chrono::microseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count()};
};

/// Two agents on one spool would tell every line twice and tear the files.
Result<int> lock_state(const std::string& state_dir) {
  const std::string path = state_dir + "/lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return make_error(Code::unavailable, "cannot open " + path);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return make_error(Code::conflict, "another agent runs on " + state_dir);
}

Result<> make_folders(const AgentConfig& config) {
  for (const auto& folder :
       {config.state_dir, config.run_dir, config.log_dir, config.etc_dir + "/tundish"}) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) {
      return make_error(Code::unavailable, "cannot make " + folder + ": " + failed.message());
    }
  }
  return {};
}

GatherOptions gather_options(const AgentConfig& config) {
  return {config.probe_program, config.nvml_library, config.sys_dir,
          milliseconds(config.probe_limit_ms)};
}

}  // namespace

struct Agent::Impl {
  Impl(AgentConfig c, Judge judge, std::vector<PassiveCheck> checks, std::string boot)
      : config(std::move(c)),
        boot_id(std::move(boot)),
        gatherer(gather_options(config)),
        events(config.state_dir + "/boot_events.json", config.catalog_dir),
        enrolment(config),
        expectation(config.state_dir + "/expectation.json"),
        samples({config, gatherer, events, boot_id, [this] { return clock.now(); }}),
        tools{config,   paths_of(config), gatherer,
              events,   std::move(judge), [this] { return clock.now(); },
              &samples, std::move(checks), &leases} {}
  ~Impl();

  Result<> open_files();
  void start_threads();
  void watch_kernel_log();
  void store(std::vector<Witness>& batch, const KernelLogReader& reader);
  void watch_hardware();
  Duration look_at_hardware();
  void run_passive_checks();
  GpuLook last_look() const;

  AgentConfig config;
  std::string boot_id;
  ProjectClock clock;
  Gatherer gatherer;
  BootEvents events;
  Enrolment enrolment;
  Sightings sightings;
  VerdictNews verdicts;
  TextMetrics metrics{config.metrics_dir};
  ExpectationBox expectation;
  SampleMaker samples;
  LeaseBox leases;
  VerbTools tools;
  Bell sync_bell;
  Bell stop_bell;
  int lock_fd = -1;
  std::unique_ptr<Spool> spool;
  std::unique_ptr<ResultJournal> journal;
  std::unique_ptr<Executor> executor;
  std::optional<ObservedHardware> last_hardware;
  std::optional<GpuSnapshot> last_gpus;
  mutable std::mutex look_mutex;
  GpuLook look;
  std::atomic<bool> log_flushed{false};
  std::vector<std::thread> threads;
};

Agent::Impl::~Impl() {
  leases.preempt("the agent ends");
  sync_bell.stop();
  stop_bell.stop();
  for (auto& thread : threads) thread.join();
  executor.reset();  // after those who hand it work
  if (lock_fd >= 0) ::close(lock_fd);
}

Result<> Agent::Impl::open_files() {
  lock_fd = TRY(lock_state(config.state_dir));
  const SpoolLimits limits{config.spool_bytes, config.spool_bytes / 2};
  spool = TRY(Spool::open(config.state_dir + "/spool", limits));
  journal = TRY(ResultJournal::open(config.state_dir + "/journal"));
  for (const auto& key : journal->interrupted()) {
    log(LogLevel::warn, "verb_interrupted", {{"key", key}});
  }
  leases.forfeit(journal->interrupted());
  return {};
}

void Agent::Impl::start_threads() {
  ExecutorHooks hooks;
  hooks.run = [this](const VerbCall& call) { return execute(call, tools); };
  hooks.lane = lane_of;
  hooks.is_read_only = [](const VerbCall& call) {
    // That active checks were begun must be known after a crash.
    const bool leased = call.run_checks && call.run_checks->is_leased();
    return is_read_only(call.verb) && !leased;
  };
  hooks.on_result = [this] { sync_bell.ring(); };
  executor = std::make_unique<Executor>(*journal, std::move(hooks), config.workers);
  threads.emplace_back([this] { watch_kernel_log(); });
  threads.emplace_back([this] { watch_hardware(); });
  threads.emplace_back([this] {
    run_sync({config, enrolment, sync_bell, *spool, *journal, sightings, verdicts, expectation,
              *executor, boot_id});
  });
  if (!tools.checks.empty()) threads.emplace_back([this] { run_passive_checks(); });
  threads.emplace_back([this] { run_pull({config, enrolment, stop_bell, *executor, leases}); });
}

/// Until it is on disk nothing more is read: the kernel's ring keeps the rest, and what it cannot
/// keep is told as a blind spot.
void Agent::Impl::store(std::vector<Witness>& batch, const KernelLogReader& reader) {
  if (batch.empty()) return;
  metrics.count(batch);
  if (const auto noted = events.note(batch); !noted) {
    log(LogLevel::error, "boot_events_not_kept", {{"why", noted.error().message()}});
  }
  for (;;) {
    const auto added = spool->add(batch, reader.cursor());
    if (added) break;
    log(LogLevel::error, "spool_write_failed", {{"why", added.error().message()}});
    if (!stop_bell.sleep(seconds(1))) break;
  }
  batch.clear();
  sync_bell.ring();
}

void Agent::Impl::watch_kernel_log() {
  KernelLogReader reader(make_kmsg_source({config.kernel_log, config.boot_id_file}),
                         spool->cursor(), [this] { return clock.now(); });
  std::vector<Witness> batch;
  const auto collect = [&](Witness witness) { batch.push_back(std::move(witness)); };
  while (!stop_bell.is_stopped()) {
    (void)reader.poll(seconds(1), collect);
    store(batch, reader);
  }
  reader.flush(collect);
  store(batch, reader);
  log_flushed = true;
}

Duration Agent::Impl::look_at_hardware() {
  const auto gpus = gatherer.gpus();
  if (gpus && (!last_gpus || !is_same_state(*last_gpus, *gpus))) {
    sightings.set_gpus(*gpus);
    sync_bell.ring();
  }
  if (gpus) last_gpus = *gpus;
  {
    const std::lock_guard lock(look_mutex);
    look.gpus = gpus ? std::optional(*gpus) : std::nullopt;
    look.fault = gpus ? "" : gpus.error().message();
    look.hangs = !gpus && gpus.error().code == Code::timeout;
    look.at = clock.now();
  }
  // A driver that does not answer now has not lost its GPUs: what was seen before stands.
  const GpuSnapshot* const known = last_gpus ? &*last_gpus : nullptr;
  const auto hardware = read_hardware(config.sys_dir, known, clock.now());
  if (!last_hardware || !is_same_hardware(*last_hardware, hardware)) {
    sightings.set_hardware(hardware);
    last_hardware = hardware;
    sync_bell.ring();
  }
  const Duration pause = milliseconds(config.snapshot_interval_ms);
  const bool no_driver = !gpus && gpus.error().code == Code::unsupported;
  return no_driver ? pause * 6 : pause;
}

GpuLook Agent::Impl::last_look() const {
  const std::lock_guard lock(look_mutex);
  return look;
}

void Agent::Impl::run_passive_checks() {
  PassiveLoop loop({config, samples, gatherer, expectation, verdicts, tools.judge, tools.checks,
                    [this] { return last_look(); }, [this] { return clock.now(); },
                    [this] { sync_bell.ring(); }, [this] { return leases.is_busy(); },
                    [this] { return events.noted(); }});
  // The first look at the GPUs comes first: without it every check of theirs would be unknown.
  for (int i = 0; i < 100 && !last_look().at.is_set(); ++i) {
    if (!stop_bell.sleep(milliseconds(100))) return;
  }
  const auto wait = [&](Duration pause) {
    constexpr Duration slice = seconds(2);
    for (; pause.us > 0 && !loop.is_overtaken(); pause = pause - slice) {
      if (!stop_bell.sleep(std::min(pause, slice))) return false;
    }
    return true;
  };
  while (wait(loop.step())) {
    if (const auto written = metrics.write(verdicts.all(), clock.now()); !written) {
      log(LogLevel::warn, "metrics_not_written", {{"why", written.error().message()}});
    }
  }
}

void Agent::Impl::watch_hardware() {
  while (stop_bell.sleep(look_at_hardware())) {
  }
}

Agent::Agent(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::start(AgentConfig config, Judge judge,
                                            std::vector<PassiveCheck> checks) {
  TRY_VOID(make_folders(config));
  const std::string boot_id(trim(TRY(process::read_file(config.boot_id_file))));
  auto impl =
      std::make_unique<Impl>(std::move(config), std::move(judge), std::move(checks), boot_id);
  TRY_VOID(impl->open_files());
  impl->start_threads();
  return std::unique_ptr<Agent>(new Agent(std::move(impl)));
}

void Agent::flush() {
  impl_->stop_bell.stop();
  for (int i = 0; i < 150 && !impl_->log_flushed; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace tundish::agent
