#pragma once
// Where the files of Slurm's daemons lie, and what is allowed in names that reach a command line.
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/engine.hpp"
#include "runtime/agent/slurm/slurm.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent::slurm {

/// One munged: a cluster on a service node has its own, so that no tenant can speak for another.
struct MungePlace {
  std::string key_folder;
  std::string run_folder;
  std::string log_folder;
  std::string key_file() const { return key_folder + "/munge.key"; }
  std::string seed_file() const { return key_folder + "/munged.seed"; }
  std::string socket() const { return run_folder + "/munge.socket.2"; }
  std::string pid_file() const { return run_folder + "/munged.pid"; }
  std::string log_file() const { return log_folder + "/munged.log"; }
};

struct ClusterPlace {
  std::string cluster;
  std::string base;  ///< state that belongs to this cluster alone
  std::string etc;
  std::string run;
  std::string log;
  MungePlace munge;
  std::string conf() const { return etc + "/slurm.conf"; }
  std::string dbd_conf() const { return etc + "/slurmdbd.conf"; }
  std::string state() const { return base + "/ctld"; }
  std::string passwd() const { return base + "/passwd"; }
  std::string group() const { return base + "/group"; }
  std::string tenant_file() const { return base + "/tenant"; }
  std::string accounts_file() const { return base + "/accounts"; }
  std::string ctld_pid() const { return run + "/slurmctld.pid"; }
  std::string dbd_pid() const { return run + "/slurmdbd.pid"; }
  std::string host_name() const { return cluster + "-ctl"; }
};

struct DatabasePlace {
  std::string data;
  std::string run;
  std::string log;
  std::string socket() const { return run + "/mysqld.sock"; }
  std::string pid_file() const { return run + "/mariadbd.pid"; }
};

MungePlace node_munge(const AgentPaths& paths);
/// `invalid` for a name that must not become part of a path or a command.
Result<ClusterPlace> place_of(const std::string& cluster, const AgentPaths& paths);
DatabasePlace database_of(const AgentPaths& paths);

/// Letters, digits, '-', '_', '.', at most 63, no '-' or '.' first.
bool is_plain_name(std::string_view text);
Result<> check_name(std::string_view text, std::string_view what);

struct Owner {
  std::string user = "root";
  unsigned mode = 0644;
};
/// Creates parents as root 0755; sets owner and mode of the last one.
Result<> make_folder(const std::string& path, const Owner& owner);
/// True when the content was different. Other users never see a secret on its way.
Result<bool> write_if_changed(const std::string& path, const std::string& content,
                              const Owner& owner);
/// Asks every 50 ms until it holds; false after the limit.
bool wait_until(const std::function<bool()>& holds, Duration limit);
/// An Error when it cannot start or does not end with 0.
Result<process::Output> run_checked(const process::Command& command);
/// Text of the last few lines of a log, for errors that daemons tell nowhere else.
std::string log_tail(const std::string& file);

/// Starts munged with this key; leaves a running one alone unless the key is another.
Result<> start_munge(const MungePlace& place, const std::string& key_hex);
void stop_munge(const MungePlace& place);

/// Files of an engine by their closed list of names.
Result<> check_files(const std::vector<EngineFile>& files);
const EngineFile* find_file(const std::vector<EngineFile>& files, std::string_view name);

}  // namespace tundish::agent::slurm
