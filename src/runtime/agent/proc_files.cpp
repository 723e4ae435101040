#include "runtime/agent/proc_files.hpp"

#include <sys/timex.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "runtime/agent/mounts.hpp"
#include "runtime/agent/sys_files.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

/// Of a look of milliseconds some are waited on every busy node, and no symptom comes of that.
constexpr Duration shortest_look = seconds(1);

std::string read_all(const std::string& path) {
  const auto text = process::read_file(path);
  return text ? *text : std::string();
}

/// "pid (name) S ppid ...": the name may hold brackets and spaces.
struct StatLine {
  std::string name;
  char state = '?';
  std::int64_t started = 0;
  std::int64_t threads = 1;
};

std::optional<StatLine> parse_stat(const std::string& text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= text.size()) {
    return std::nullopt;
  }
  StatLine out;
  out.name = text.substr(open + 1, close - open - 1);
  const auto words = split(trim(std::string_view(text).substr(close + 1)), ' ');
  // Source: proc_pid_stat(5), fields 3 (state), 20 (threads) and 22 (start); checked 2026-11
  if (words.size() < 20 || words[0].size() != 1) return std::nullopt;
  out.state = words[0][0];
  out.threads = parse_integer(words[17]).value_or(1);
  out.started = parse_integer(words[19]).value_or(0);
  return out;
}

/// A name that a program chose, as evidence: printable, short.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 64)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out;
}

void note_waiting(const std::string& folder, std::int64_t pid, const StatLine& stat,
                  std::map<std::int64_t, WaitingTask>& waiting, Instant now, ProcessLook& out) {
  WaitingTask& task = waiting[pid];
  if (task.started != stat.started || !task.since.is_set()) {
    task = {stat.started, now};
    return;  // seen once: every disk read looks so
  }
  StuckTask stuck;
  stuck.pid = pid;
  stuck.name = printable(stat.name);
  stuck.wait_channel = printable(read_line(folder + "/wchan"));
  stuck.seconds = (now - task.since).s();
  out.counts.stuck.push_back(std::move(stuck));
}

}  // namespace

std::optional<std::int64_t> parse_pressure(std::string_view text, std::string_view word) {
  for (const auto& line : split(text, '\n')) {
    if (!line.starts_with(std::string(word) + " avg10=")) continue;
    const std::string number =
        line.substr(word.size() + 7, line.find(' ', word.size() + 7) - (word.size() + 7));
    const std::size_t dot = number.find('.');
    const auto whole = parse_integer(number.substr(0, dot));
    if (!whole || *whole < 0 || *whole > 100) return std::nullopt;
    std::string rest = dot == std::string::npos ? "" : number.substr(dot + 1, 2);
    rest.resize(2, '0');
    const auto part = parse_integer(rest);
    if (!part) return std::nullopt;
    return *whole * 100 + *part;
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_run_queue_wait(std::string_view schedstat) {
  const auto words = split(trim(schedstat), ' ');
  if (words.size() != 3) return std::nullopt;
  const auto waited = parse_integer(words[1]);
  if (!waited) return std::nullopt;
  return *waited / 1000;
}

std::optional<std::int64_t> PressureMeter::waited() const {
  // The thread that gathers, not the process's first one.
  return parse_run_queue_wait(read_line(proc_ + "/thread-self/schedstat"));
}

std::optional<PressureMeter::CpuTimes> PressureMeter::read_times() const {
  std::istringstream line(read_line(proc_ + "/stat"));
  std::string word;
  if (!(line >> word) || word != "cpu") return std::nullopt;
  CpuTimes out;
  // user nice system idle iowait irq softirq steal. Source: proc_stat(5); checked 2026-11
  std::int64_t value = 0;
  for (int i = 0; i < 8 && line >> value; ++i) {
    out.all += value;
    if (i == 7) out.steal = value;
  }
  return out;
}

void PressureMeter::begin(Instant at) {
  begun_ = at;
  child_wait_ = {};
  wait_before_ = waited();
}

std::string PressureMeter::read_share(const std::string& name) const {
  std::string text = read_all(pressure_ + "/" + name);
  if (text.empty()) text = read_all(pressure_ + "/" + name + ".pressure");
  if (text.empty()) text = read_all(pressure_ + "/unified/" + name + ".pressure");
  return text;
}

Pressure PressureMeter::read(Instant at) {
  Pressure out;
  const auto share = [&](const char* name, std::optional<std::int64_t>& some,
                         std::optional<std::int64_t>* full) {
    const std::string text = read_share(name);
    some = parse_pressure(text, "some");
    if (full != nullptr) *full = parse_pressure(text, "full");
    if (!some) out.fault = "the kernel shows no pressure (CONFIG_PSI)";
  };
  share("cpu", out.cpu_some, &out.cpu_full);
  share("io", out.io_some, &out.io_full);
  share("memory", out.memory_some, &out.memory_full);
  const auto waited_now = waited();
  const Duration took = at - begun_;
  if (wait_before_ && waited_now && begun_.is_set() && took.us > 0) {
    const std::int64_t us = *waited_now - *wait_before_ + child_wait_.us;
    out.run_queue_wait =
        std::clamp<std::int64_t>(us * 10000 / std::max(took, shortest_look).us, 0, 10000);
  }
  const auto times = read_times();
  if (times && times_before_ && times->all > times_before_->all) {
    const std::int64_t stolen = times->steal - times_before_->steal;
    out.steal =
        std::clamp<std::int64_t>(stolen * 10000 / (times->all - times_before_->all), 0, 10000);
  }
  times_before_ = times;
  return out;
}

std::vector<MountReading> parse_mount_table(const std::string& mountinfo) {
  std::vector<MountReading> out;
  for (const auto& point : parse_mounts(mountinfo)) {
    if (point.target.empty()) continue;
    MountReading mount;
    mount.target = point.target;
    mount.type = point.type;
    for (const auto& option : split(point.options, ',')) {
      if (option == "ro") mount.read_only = true;
    }
    out.push_back(std::move(mount));
  }
  return out;
}

ProcessLook look_at_processes(const std::string& proc, const WatchedNames& names,
                              std::map<std::int64_t, WaitingTask>& waiting, Instant now) {
  ProcessLook out;
  std::set<std::int64_t> still;
  std::map<std::string, ServiceReading> services;
  for (const auto& entry : list_folder(proc)) {
    const auto pid = parse_integer(entry);
    if (!pid) continue;
    const std::string folder = proc + "/" + entry;
    const auto stat = parse_stat(read_line(folder + "/stat"));
    if (!stat) continue;  // it has just ended
    if (stat->state == 'Z') ++out.counts.zombies;
    if (stat->state != 'Z') out.counts.tasks += stat->threads;
    if (stat->state == 'D') {
      still.insert(*pid);
      note_waiting(folder, *pid, *stat, waiting, now, out);
    }
    for (const auto& name : names.services) {
      // The kernel keeps 15 characters of a name.
      if (stat->name != name.substr(0, 15)) continue;
      ServiceReading& service = services[name];
      if (service.running) continue;
      service = {name, stat->state != 'Z', std::string(1, stat->state)};
    }
  }
  std::erase_if(waiting, [&](const auto& task) { return !still.contains(task.first); });
  for (auto& [name, service] : services) out.services.push_back(std::move(service));
  std::istringstream files(read_line(proc + "/sys/fs/file-nr"));
  std::int64_t unused = 0;
  if (!(files >> out.counts.files >> unused >> out.counts.files_most)) out.counts.files_most = 0;
  out.counts.tasks_most = std::min(read_number(proc + "/sys/kernel/pid_max").value_or(0),
                                   read_number(proc + "/sys/kernel/threads-max").value_or(0));
  return out;
}

CpuReading read_cpu(const std::string& proc, const std::string& sys) {
  CpuReading out;
  std::ifstream info(proc + "/cpuinfo");
  std::set<std::string> sockets;
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("processor")) ++out.cpus;
    if (line.starts_with("physical id")) sockets.insert(line);
  }
  out.sockets = std::max<std::int64_t>(static_cast<std::int64_t>(sockets.size()), out.cpus > 0);
  for (const auto& name : list_folder(sys + "/devices/system/node")) {
    if (name.starts_with("node") && parse_integer(name.substr(4))) ++out.memory_nodes;
  }
  std::istringstream memory(read_line(proc + "/meminfo"));
  std::string word;
  std::int64_t kib = 0;
  if (memory >> word >> kib && word == "MemTotal:") out.memory_mib = kib / 1024;
  return out;
}

std::vector<std::string> read_modules(const std::string& proc) {
  std::vector<std::string> out;
  std::ifstream file(proc + "/modules");
  for (std::string line; std::getline(file, line);) out.push_back(line.substr(0, line.find(' ')));
  return out;
}

std::vector<StorageClient> read_storage(const std::string& proc) {
  std::vector<StorageClient> out;
  for (const char* const kind : {"osc", "mdc"}) {
    const std::string root = proc + "/fs/lustre/" + kind;
    for (const auto& name : list_folder(root)) {
      std::ifstream file(root + "/" + name + "/import");
      StorageClient client;
      client.type = "lustre";
      client.target = name;
      for (std::string line; std::getline(file, line);) {
        const std::string_view text = trim(line);
        if (text.starts_with("state: ")) client.state = text.substr(7);
        if (text.starts_with("target: ")) client.target = text.substr(8);
      }
      if (!client.state.empty()) out.push_back(std::move(client));
    }
  }
  return out;
}

Result<ClockReading> read_clock() {
  timex state{};
  if (::adjtimex(&state) < 0) {
    return make_error(Code::unavailable, std::string("adjtimex: ") + std::strerror(errno));
  }
  ClockReading out;
  out.synchronised = (state.status & STA_UNSYNC) == 0;
  out.error_us = state.maxerror;
  const std::int64_t offset = (state.status & STA_NANO) != 0 ? state.offset / 1000 : state.offset;
  out.offset_us = std::llabs(offset);
  return out;
}

}  // namespace tundish::agent
