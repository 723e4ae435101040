#include "runtime/agent/check_job.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/log.hpp"
#include "base/text.hpp"
#include "runtime/agent/deadline.hpp"
#include "runtime/agent/slurm/place.hpp"

namespace tundish::agent {
namespace {
using process::Fd;

/// What the job says when it was told to end.
constexpr char end_word = 't';
/// A killed check is dead within a second of its leash's end.
constexpr int last_wait_ms = 1500;
constexpr Duration client_limit = seconds(10);
constexpr Duration completing_limit = seconds(5);

Error system_error(const std::string& what) {
  return make_error(Code::unavailable, what + ": " + std::strerror(errno));
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  if (path.size() >= sizeof out.sun_path) {
    return make_error(Code::invalid, "the path of a socket is too long: " + path);
  }
  std::copy(path.begin(), path.end(), out.sun_path);
  return out;
}

Result<Fd> listen_at(const std::string& path) {
  const sockaddr_un address = TRY(address_of(path));
  ::unlink(path.c_str());
  Fd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (!out || ::bind(out.get(), generic, sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(out.get(), 4) != 0) {
    return system_error("no socket for the engine's job");
  }
  return out;
}

/// The job runs as we do; a user's process is not it.
bool is_ours(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

/// This very program, also when an upgrade has put another one in its place since it began.
std::string program_of(const AgentConfig& config) {
  if (config.probe_program != "/proc/self/exe") return config.probe_program;
  return "/proc/" + std::to_string(::getpid()) + "/exe";
}

process::Command client(const AgentConfig& config, std::vector<std::string> argv) {
  process::Command out;
  out.argv = std::move(argv);
  out.env = {"SLURM_CONF=" + config.etc_dir + "/slurm/slurm.conf", "LC_ALL=C"};
  out.limit = client_limit;
  return out;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 12 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Of "scontrol -o show job".
std::string job_state(const std::string& shown) {
  constexpr std::string_view key = " JobState=";
  const auto at = shown.find(key);
  if (at == std::string::npos) return "";
  const std::string rest = shown.substr(at + key.size());
  return rest.substr(0, rest.find(' '));
}

/// Gone with this object.
class SocketFile {
 public:
  explicit SocketFile(std::string path) : path_(std::move(path)) {}
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;
  ~SocketFile() { ::unlink(path_.c_str()); }

 private:
  std::string path_;
};

std::string check_folder(const AgentConfig& config) { return config.run_dir + "/tundish-check"; }

std::string socket_path(const AgentConfig& config) {
  static std::atomic<int> number{0};
  return check_folder(config) + "/" + std::to_string(::getpid()) + "-" +
         std::to_string(++number) + ".sock";
}

}  // namespace

Result<std::unique_ptr<CheckJob>> CheckJob::begin(const CheckJobPlan& plan,
                                                  const AgentConfig& config,
                                                  process::Leash& leash) {
  if (plan.work.engine != "slurm") {
    return make_error(Code::unsupported, "engine " + plan.work.engine +
                                             " has no work that gives way: no check in a cluster");
  }
  TRY_VOID(slurm::check_name(plan.work.node_name, "node"));
  TRY_VOID(slurm::make_folder(check_folder(config), {"root", 0700}));
  const std::string path = socket_path(config);
  const Fd listener = TRY(listen_at(path));
  const SocketFile file(path);
  std::unique_ptr<CheckJob> job(new CheckJob(config, leash));
  TRY_VOID(job->submit(plan, path));
  if (const auto started = job->await_start(listener.get(), plan.patience); !started) {
    job->cancel();
    return started.error();
  }
  job->stop_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  job->watcher_ = std::thread([raw = job.get()] { raw->watch(); });
  log(LogLevel::info, "check_job_started", {{"job", job->id_}});
  return job;
}

Result<> CheckJob::submit(const CheckJobPlan& plan, const std::string& socket) {
  const std::string program = program_of(config_);
  const std::string name(check_work_name);
  const std::int64_t minutes = plan.limit.us / 60'000'000 + 2;
  std::vector<std::string> argv = {"sbatch",
                                   "--parsable",
                                   "--job-name=" + name,
                                   "--account=" + name,
                                   "--partition=" + name,
                                   "--nodes=1",
                                   "--nodelist=" + plan.work.node_name,
                                   "--exclusive",
                                   "--no-requeue",
                                   "--time=" + std::to_string(minutes),
                                   "--output=/dev/null",
                                   "--chdir=/",
                                   // NONE would have slurmd log in as root for an environment.
                                   "--export=PATH"};
  if (plan.gpus > 0) argv.push_back("--gpus-per-node=" + std::to_string(plan.gpus));
  process::Command command = client(config_, std::move(argv));
  command.input = "#!/bin/sh\nexec '" + program + "' --hold-check '" + socket + "'\n";
  const auto ran = TRY(process::run(command));
  if (!ran.ok()) return make_error(Code::unavailable, "sbatch: " + ran.summary());
  // "12;cluster" where there are several clusters.
  const std::string told(trim(ran.out));
  id_ = told.substr(0, told.find(';'));
  if (is_number(id_)) return {};
  id_.clear();
  return make_error(Code::unavailable, "sbatch told no job: " + told.substr(0, 80));
}

Result<> CheckJob::await_start(int listener, Duration patience) {
  const Deadline deadline(patience);
  for (;;) {
    if (const std::string why = leash_.fault(); !why.empty()) {
      return make_error(Code::exhausted, why);
    }
    const std::int64_t left = deadline.left().ms();
    if (left <= 10) {  // it never says less
      return make_error(Code::exhausted,
                        "the engine had no room for job " + id_ + " within " +
                            std::to_string(patience.ms() / 1000) + " s: the node is at work");
    }
    std::array<pollfd, 2> polled{{{listener, POLLIN, 0}, {leash_.wake_fd(), POLLIN, 0}}};
    (void)::poll(polled.data(), polled.size(), static_cast<int>(std::min<std::int64_t>(left, 500)));
    Fd connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection || !is_ours(connection.get())) continue;
    connection_ = std::move(connection);
    return {};
  }
}

void CheckJob::watch() {
  for (;;) {
    std::array<pollfd, 2> polled{{{connection_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) continue;
    // What the job says first counts also when we are about to end it ourselves.
    if (polled[0].revents == 0) return;
    leash_.pull("the engine wants the node: it ended job " + id_);
    return;
  }
}

bool CheckJob::is_ended() const {
  pollfd polled{connection_.get(), POLLIN, 0};
  return !connection_ || (::poll(&polled, 1, 0) > 0 && polled.revents != 0);
}

void CheckJob::end(CheckJobEnd how) {
  if (!watcher_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  watcher_.join();
  const char code = static_cast<char>(how);
  (void)!::send(connection_.get(), &code, 1, MSG_NOSIGNAL);
  connection_.reset();
}

std::string CheckJob::ended_why() const {
  const Deadline deadline(completing_limit);
  for (;;) {
    const auto ran = process::run(client(config_, {"scontrol", "-o", "show", "job", id_}));
    const std::string state = ran && ran->ok() ? job_state(ran->out) : "";
    // Why it ended is told once the node is clean.
    const bool waits = state == "COMPLETING" || state == "RUNNING";
    if (waits && deadline.left() > milliseconds(10)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      continue;
    }
    return "Slurm ended job " + id_ + ": " + (state.empty() ? "it does not say why" : state);
  }
}

void CheckJob::cancel() const {
  if (id_.empty()) return;
  const auto ran = process::run(client(config_, {"scancel", id_}));
  if (ran && ran->ok()) return;
  log(LogLevel::warn, "check_job_not_cancelled",
      {{"job", id_}, {"why", ran ? ran->summary() : ran.error().message()}});
}

CheckJob::~CheckJob() { end(CheckJobEnd::unknown); }

int hold_check(const std::string& socket) {
  constexpr int unknown = static_cast<int>(CheckJobEnd::unknown);
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, signal);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  const Fd signals(::signalfd(-1, &ends, SFD_CLOEXEC));
  const Fd agent(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = address_of(socket);
  if (!signals || !agent || !address) return unknown;
  const auto* generic = reinterpret_cast<const sockaddr*>(&*address);
  if (::connect(agent.get(), generic, sizeof *address) != 0) return unknown;
  std::array<pollfd, 2> polled{{{agent.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}}};
  while (::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) {
  }
  if (polled[0].revents == 0) {
    // The engine ends us: the node is free when the agent has killed what runs.
    (void)!::send(agent.get(), &end_word, 1, MSG_NOSIGNAL);
    (void)::poll(polled.data(), 1, last_wait_ms);
  }
  char code = unknown;
  return ::recv(agent.get(), &code, 1, MSG_DONTWAIT) == 1 ? code : unknown;
}

}  // namespace tundish::agent
