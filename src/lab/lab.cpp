#include "lab/lab.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "lab/cgroups.hpp"
#include "lab/enter.hpp"
#include "lab/namespaces.hpp"
#include "lab/switch_disk.hpp"
#include "runtime/net/http_client.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

constexpr int start_limit_ms = 60000;
constexpr int stop_limit_ms = 15000;  // tundishd gets 10 s of it
constexpr int kill_limit_ms = 10000;
constexpr Duration call_limit = seconds(60);
const std::string marker = ".tundish-lab";

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

std::string read_word(const std::string& file) {
  const auto text = process::read_file(file);
  return text ? std::string(trim(*text)) : "";
}

Result<> write_files(const LabPaths& paths, const LabFiles& files) {
  for (const auto& [name, file] : files) {
    const fs::path path = fs::path(paths.root) / name;
    for (const auto& part : fs::path(name)) {
      if (part == ".." || fs::path(name).is_absolute()) {
        return make_error(Code::invalid, "file " + name + " lies outside the lab");
      }
    }
    TRY_VOID(make_folder(path.parent_path().string()));
    TRY_VOID(process::write_file_atomic(path.string(), file.content, file.mode));
  }
  return {};
}

Result<> prepare_root(const LabSpec& spec, const LabFiles& files) {
  const LabPaths paths = paths_of(spec);
  std::error_code ignored;
  if (fs::exists(paths.root, ignored) && !fs::is_empty(paths.root, ignored) &&
      !fs::exists(paths.root + "/" + marker, ignored)) {
    return make_error(Code::conflict, paths.root + " holds something that is not a lab");
  }
  for (const char* const folder : {"/run", "/log", "/nodes"}) {
    TRY_VOID(make_folder(paths.root + folder));
  }
  TRY_VOID(write_text(paths.root + "/" + marker, spec.name + "\n"));
  TRY_VOID(make_folder(paths.root + "/secrets", 0700));
  TRY_VOID(write_files(paths, files));
  if (!fs::exists(paths.bmc_password(), ignored)) {
    TRY_VOID(write_text(paths.bmc_password(), make_uuid().substr(0, 13) + "\n", 0600));
  }
  TRY_VOID(make_switch_keys(spec));
  return process::write_file_atomic(paths.spec_file(), render_json(spec, 2));
}

struct Entrance {
  int host_pid = 0;
  std::string phase;
};

/// A node, or a switch of that name.
Result<Entrance> find_entrance(const LabPaths& paths, const std::string& name) {
  const auto body = call_lab(paths, {"GET", "/nodes/" + name, ""});
  if (body) {
    LabNodeStatus node;
    TRY_VOID(parse_json(*body, node));
    return Entrance{node.host_pid, node.phase};
  }
  const auto other = call_lab(paths, {"GET", "/switches/" + name, ""});
  if (!other) return body.error();
  LabSwitchStatus found;
  TRY_VOID(parse_json(*other, found));
  return Entrance{found.host_pid, found.phase};
}

Result<> wait_ready(const LabPaths& paths) {
  std::string state;
  for (int waited = 0; waited < start_limit_ms; waited += 20) {
    state = read_word(paths.state_file());
    if (state == "ready") return {};
    if (state.rfind("failed", 0) == 0 || state.rfind("stopped", 0) == 0) {
      return make_error(Code::unavailable, "the lab did not start, it " + state)
          .with_remedy("see " + paths.log() + "/supervisor.log");
    }
    pause_ms(20);
  }
  return make_error(Code::timeout, "the lab is still \"" + state + "\" after 60 s")
      .with_remedy("see " + paths.log() + "/supervisor.log");
}

bool wait_gone(const LabPaths& paths, int limit_ms) {
  for (int waited = 0; waited < limit_ms; waited += 10) {
    if (find_supervisor(paths) == 0) return true;
    pause_ms(10);
  }
  return false;
}

Result<> stop_supervisor(const LabPaths& paths) {
  const int pid = find_supervisor(paths);
  if (pid == 0) return {};
  ::kill(pid, SIGTERM);
  if (wait_gone(paths, stop_limit_ms)) return {};
  ::kill(pid, SIGKILL);
  if (wait_gone(paths, kill_limit_ms)) return {};
  return make_error(Code::unavailable,
                    "process " + std::to_string(pid) + " of the lab will not die");
}

/// The lab's folder must not be removed through a mount that somebody left below it.
Result<> refuse_mounts(const LabPaths& paths) {
  const std::string mounts = TRY(process::read_file("/proc/self/mounts"));
  if (mounts.find(" " + paths.root + "/") == std::string::npos) return {};
  return make_error(Code::conflict, "something is mounted below " + paths.root)
      .with_remedy("unmount it; a lab itself mounts in namespaces of its own only");
}

Result<> remove_root(const LabPaths& paths, KeepLogs keep) {
  std::error_code failed;
  if (!fs::exists(paths.root, failed)) return {};
  if (!fs::exists(paths.root + "/" + marker, failed)) {
    return make_error(Code::conflict, paths.root + " is not the folder of a lab");
  }
  TRY_VOID(refuse_mounts(paths));
  std::vector<fs::path> inner;
  for (const auto& entry : fs::directory_iterator(paths.root, failed)) inner.push_back(entry);
  for (const auto& path : inner) {
    const bool stays = path.filename() == "log" || path.filename() == marker;
    if (keep == KeepLogs::yes && stays) continue;
    fs::remove_all(path, failed);
    if (failed) break;
  }
  if (!failed && keep == KeepLogs::no) fs::remove(paths.root, failed);
  if (failed) {
    return make_error(Code::unavailable, "cannot remove " + paths.root + ": " + failed.message());
  }
  return {};
}

}  // namespace

int find_supervisor(const LabPaths& paths) {
  const auto pid = parse_integer(read_word(paths.pid_file()));
  if (!pid || *pid <= 1) return 0;
  const auto command = process::read_file("/proc/" + std::to_string(*pid) + "/cmdline");
  if (!command || command->find(paths.spec_file()) == std::string::npos) return 0;
  const int found = static_cast<int>(*pid);
  return start_time_of(found) == read_word(paths.start_file()) ? found : 0;
}

Result<> lab_up(const LabSpec& spec, const LabFiles& files) {
  if (::geteuid() != 0) {
    return make_error(Code::denied, "a lab needs root: it makes namespaces and mounts");
  }
  TRY_VOID(validate(spec));
  const LabPaths paths = paths_of(spec);
  if (find_supervisor(paths) != 0) {
    return make_error(Code::conflict, "lab " + spec.name + " runs already");
  }
  TRY_VOID(prepare_root(spec, files));
  std::error_code ignored;
  fs::remove(paths.socket_file(), ignored);
  TRY_VOID(write_text(paths.state_file(), "starting\n"));
  process::Daemon daemon;
  daemon.argv = {spec.bin_dir + "/tundish", "lab", "supervise", "--spec", paths.spec_file()};
  daemon.log_file = paths.log() + "/supervisor.log";
  (void)TRY(process::spawn_daemon(daemon));
  return wait_ready(paths);
}

Result<> lab_down(const LabSpec& spec, KeepLogs keep) {
  const LabPaths paths = paths_of(spec);
  TRY_VOID(stop_supervisor(paths));
  std::vector<std::string> left;
  for (int tries = 0; tries < 100; ++tries) {
    left = remove_groups(spec);
    // The keeper writes its last state a moment after process 1 is gone.
    if (left.empty() && read_word(paths.state_file()).rfind("stopped", 0) == 0) break;
    if (left.empty() && tries >= 20) break;
    pause_ms(20);
  }
  if (!left.empty()) {
    return make_error(Code::unavailable, "cannot remove control group " + left.front());
  }
  return remove_root(paths, keep);
}

Result<std::string> call_lab(const LabPaths& paths, const LabCall& call) {
  HttpRequest request;
  request.method = call.method;
  request.url = "unix:" + paths.socket_file() + ":" + call.path;
  request.body = call.body;
  const auto response = TRY(net::http_call(request, call_limit));
  if (response.status == 200) return response.body;
  const auto body = JsonValue::parse(response.body);
  const auto text = body ? body->at("message").as_text() : std::nullopt;
  return make_error(response.status == 404 ? Code::not_found : Code::conflict,
                    text.value_or("the lab answered " + std::to_string(response.status)));
}

Result<LabStatus> lab_status(const LabPaths& paths) {
  std::error_code ignored;
  if (!fs::exists(paths.spec_file(), ignored)) {
    return make_error(Code::not_found, "no lab at " + paths.root);
  }
  LabStatus status;
  if (find_supervisor(paths) == 0) {
    const LabSpec spec = TRY(load_spec(paths.spec_file()));
    status.name = spec.name;
    status.state = "stopped";
    return status;
  }
  const auto body = TRY(call_lab(paths, {"GET", "/status", ""}));
  TRY_VOID(parse_json(body, status));
  return status;
}

Error lab_enter(const LabPaths& paths, const LabExec& exec) {
  const LabSpec spec = TRY(load_spec(paths.spec_file()));
  const Entrance node = TRY(find_entrance(paths, exec.node));
  if (node.host_pid == 0 || exec.argv.empty()) {
    return make_error(Code::conflict, "node " + exec.node + " is " + node.phase);
  }
  auto words = enter_argv(spec, {exec.node, node.host_pid, exec.uid, exec.argv});
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return system_error("cannot run " + words.front());
}

}  // namespace tundish::lab
