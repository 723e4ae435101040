// The controller daemons of one cluster on a service node.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "runtime/agent/cluster_network.hpp"
#include "runtime/agent/slurm/controller_parts.hpp"

namespace tundish::agent {
namespace fs = std::filesystem;
using namespace slurm;

namespace slurm {
namespace {

/// As the engine item writes it; replaced here, where the password is known.
constexpr std::string_view password_placeholder = "@dbd_password@";

std::string local_controller_lines(const ClusterPlace& place) {
  return "AuthInfo=socket=" + place.munge.socket() +
         // Links to slurmdbd do not look at AuthInfo (22.05).
         "\nAccountingStoragePass=" + place.munge.socket() +
         "\nStateSaveLocation=" + place.state() + "\nSlurmctldPidFile=" + place.ctld_pid() +
         "\nSlurmctldLogFile=" + place.log + "/slurmctld.log\n";
}

struct DaemonStart {
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::string pid_file;
  std::string log_file;
};

/// The daemons detach by themselves, after they have read their files; what goes wrong later is
/// in their log only.
Result<> start_detaching(const ClusterPlace& place, const DaemonStart& start) {
  const std::string name = start.argv[0];
  process::Command command;
  command.argv = in_cluster(place, start.argv);
  command.env = start.env;
  TRY_VOID(run_checked(command));
  const bool up =
      wait_until([&] { return process::read_live_pid(start.pid_file, name) > 0; }, seconds(10));
  if (up) return {};
  return make_error(Code::unavailable,
                    name + " of " + place.cluster + " did not start: " + log_tail(start.log_file));
}

bool is_empty_folder(const std::string& path) {
  std::error_code failed;
  return fs::is_empty(path, failed) && !failed;
}

Result<> make_cluster_folders(const ClusterPlace& place) {
  TRY_VOID(make_folder(place.base, {"root", 0755}));
  TRY_VOID(make_folder(place.etc, {"root", 0755}));
  TRY_VOID(make_folder(place.state(), {"slurm", 0700}));
  TRY_VOID(make_folder(place.run, {"slurm", 0755}));
  return make_folder(place.log, {"slurm", 0750});
}

bool answers(const ClusterPlace& place) {
  process::Command command;
  command.argv = in_network(place, {"scontrol", "show", "partition"});
  command.env = cluster_env(place);
  command.limit = seconds(5);
  const auto output = process::run(command);
  return output && output->ok();
}

Result<> await_answer(const ClusterPlace& place) {
  if (wait_until([&] { return answers(place); }, seconds(15))) return {};
  return make_error(Code::unavailable, "slurmctld of " + place.cluster + " does not answer: " +
                                           log_tail(place.log + "/slurmctld.log"));
}

Result<> stop_pid(const std::string& pid_file, const std::string& name) {
  const int pid = process::read_live_pid(pid_file, name);
  if (pid > 0 && !process::stop_process(pid, seconds(10))) {
    return make_error(Code::conflict, name + " does not end");
  }
  return {};
}

}  // namespace

std::vector<std::string> in_cluster(const ClusterPlace& place, std::vector<std::string> argv) {
  std::vector<std::string> out = {
      "unshare",
      "--uts",
      "--mount",
      "--",
      "/bin/sh",
      "-c",
      "hostname \"$1\" && mount --bind \"$2\" /etc/passwd && mount --bind \"$3\" /etc/group && "
      "shift 3 && exec \"$@\"",
      "tundish",
      place.host_name(),
      place.passwd(),
      place.group()};
  out.insert(out.end(), std::make_move_iterator(argv.begin()), std::make_move_iterator(argv.end()));
  return in_network(place, std::move(out));
}

std::vector<std::string> in_network(const ClusterPlace& place, std::vector<std::string> argv) {
  if (!has_cluster_network(place.cluster)) return argv;
  std::vector<std::string> out = {"nsenter", "--net=" + cluster_network_file(place.cluster), "--"};
  out.insert(out.end(), std::make_move_iterator(argv.begin()), std::make_move_iterator(argv.end()));
  return out;
}

bool is_in_network(const ClusterPlace& place, int pid) {
  struct stat wanted {};
  struct stat seen {};
  const std::string file = has_cluster_network(place.cluster) ? cluster_network_file(place.cluster)
                                                              : "/proc/self/ns/net";
  const std::string theirs = "/proc/" + std::to_string(pid) + "/ns/net";
  return ::stat(file.c_str(), &wanted) == 0 && ::stat(theirs.c_str(), &seen) == 0 &&
         wanted.st_dev == seen.st_dev && wanted.st_ino == seen.st_ino;
}

std::vector<std::string> cluster_env(const ClusterPlace& place) {
  return {"SLURM_CONF=" + place.conf(), "TZ=UTC", "SLURM_TIME_FORMAT=standard", "LC_ALL=C"};
}

Result<> start_dbd(const ClusterPlace& place, const DatabasePlace& database) {
  auto env = cluster_env(place);
  env.push_back("MYSQL_UNIX_PORT=" + database.socket());
  return start_detaching(
      place, {{"slurmdbd"}, std::move(env), place.dbd_pid(), place.log + "/slurmdbd.log"});
}

Result<> start_ctld(const ClusterPlace& place) {
  std::vector<std::string> argv = {"slurmctld", "-f", place.conf()};
  // Without saved state there is nothing to read, and only then may errors about it be ignored.
  if (is_empty_folder(place.state())) argv.emplace_back("-i");
  TRY_VOID(start_detaching(place, {std::move(argv), cluster_env(place), place.ctld_pid(),
                                   place.log + "/slurmctld.log"}));
  return await_answer(place);
}

void stop_dbd(const ClusterPlace& place) { (void)stop_pid(place.dbd_pid(), "slurmdbd"); }
void stop_ctld(const ClusterPlace& place) { (void)stop_pid(place.ctld_pid(), "slurmctld"); }

Result<ChangedFiles> write_cluster_files(const ClusterPlace& place,
                                         const std::vector<EngineFile>& files) {
  TRY_VOID(check_files(files));
  ChangedFiles changed;
  for (const auto& file : files) {
    if (file.name == "slurmdbd.conf") continue;
    const bool is_conf = file.name == "slurm.conf";
    const std::string content =
        is_conf ? file.content + local_controller_lines(place) : file.content;
    const bool differs =
        TRY(write_if_changed(place.etc + "/" + file.name, content, {"root", 0644}));
    changed.controller = changed.controller || differs;
  }
  return changed;
}

Result<bool> write_dbd_file(const ClusterPlace& place, const EngineFile& file,
                            const std::string& password) {
  std::string content = file.content;
  const auto at = content.find(password_placeholder);
  if (at == std::string::npos) {
    return make_error(Code::invalid, "slurmdbd.conf has no place for its password");
  }
  content.replace(at, password_placeholder.size(), password);
  content += "AuthInfo=socket=" + place.munge.socket() + "\nPidFile=" + place.dbd_pid() +
             "\nLogFile=" + place.log + "/slurmdbd.log\n";
  return write_if_changed(place.dbd_conf(), content, {"slurm", 0600});
}

}  // namespace slurm

Result<std::string> setup_slurm_controller(const SetupController& setup, const AgentPaths& paths) {
  const ClusterPlace place = TRY(place_of(setup.cluster, paths));
  const DatabasePlace database = database_of(paths);
  const EngineFile* const dbd_file = find_file(setup.files, "slurmdbd.conf");
  if (dbd_file == nullptr || find_file(setup.files, "slurm.conf") == nullptr) {
    return make_error(Code::invalid, "a controller needs slurm.conf and slurmdbd.conf");
  }
  TRY_VOID(make_cluster_folders(place));
  TRY_VOID(write_accounts(place, setup.users));
  TRY_VOID(start_munge(place.munge, setup.munge_key));
  {
    const DatabaseLock lock(database);
    TRY_VOID(start_database(database));
    TRY_VOID(grant_database(database, {setup.cluster, setup.dbd_password}));
  }
  ChangedFiles changed = TRY(write_cluster_files(place, setup.files));
  changed.dbd = TRY(write_dbd_file(place, *dbd_file, setup.dbd_password));
  const int dbd = process::read_live_pid(place.dbd_pid(), "slurmdbd");
  const bool keeps_dbd = dbd > 0 && !changed.dbd && is_in_network(place, dbd);
  if (!keeps_dbd) {
    stop_dbd(place);
    TRY_VOID(start_dbd(place, database));
  }
  TRY_VOID(register_accounts(place, setup.tenant, setup.users));
  const int ctld = process::read_live_pid(place.ctld_pid(), "slurmctld");
  const bool running = ctld > 0;
  if (running && !changed.controller && is_in_network(place, ctld)) {
    return std::string("slurmctld runs already");
  }
  if (running) stop_ctld(place);
  TRY_VOID(start_ctld(place));
  return std::string(running ? "slurmctld restarted" : "slurmctld started");
}

Result<> stop_slurm_controller(const std::string& cluster, const AgentPaths& paths) {
  const ClusterPlace place = TRY(place_of(cluster, paths));
  TRY_VOID(stop_pid(place.ctld_pid(), "slurmctld"));
  TRY_VOID(stop_pid(place.dbd_pid(), "slurmdbd"));
  stop_munge(place.munge);
  std::error_code ignored;
  // Jobs and secrets of the tenant go. Its accounting stays in the database: it is billed from.
  for (const auto& folder : {place.base, place.etc, place.run, place.munge.run_folder}) {
    fs::remove_all(folder, ignored);
  }
  const fs::path clusters = fs::path(place.base).parent_path();
  const DatabasePlace database = database_of(paths);
  const DatabaseLock lock(database);
  if (fs::is_empty(clusters, ignored)) stop_database(database);
  return {};
}

}  // namespace tundish::agent
