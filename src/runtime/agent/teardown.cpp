#include "runtime/agent/teardown.hpp"

#include <filesystem>
#include <optional>

#include "base/log.hpp"
#include "base/text.hpp"
#include "codec/json.hpp"
#include "runtime/agent/accounts.hpp"
#include "runtime/agent/export_mount.hpp"
#include "runtime/agent/mounts.hpp"
#include "runtime/agent/ssh_service.hpp"
#include "runtime/agent/tenant_files.hpp"
#include "runtime/agent/tenant_processes.hpp"
#include "runtime/agent/text_block.hpp"
#include "runtime/agent/validate.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

std::string membership_file(const std::string& state_dir) { return state_dir + "/membership.json"; }

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

Result<> flush_network(const VerbTools& tools, const Deadline& deadline) {
  const auto membership = TRY(load_membership(tools.config.state_dir));
  if (membership.interface.empty() || membership.interface == tools.config.oob_interface ||
      !is_interface(membership.interface)) {
    return {};
  }
  TRY(run_ip({"addr", "flush", "dev", membership.interface, "scope", "global"}, deadline.left()));
  return {};
}

/// Slurm's files and the munge key: secrets of the tenant and the way back into its cluster.
Result<> remove_engine_files(const AgentPaths& paths) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(paths.etc + "/slurm", failed)) {
    if (entry.is_directory()) continue;  // clusters whose controller runs here
    std::error_code entry_failed;
    fs::remove(entry.path(), entry_failed);
    if (entry_failed) {
      return make_error(Code::unavailable, "cannot remove " + entry.path().string());
    }
  }
  fs::remove(paths.etc + "/munge/munge.key", failed);
  if (failed) return make_error(Code::unavailable, "cannot remove the munge key");
  return {};
}

Result<> drop_exports(const VerbTools& tools, const Deadline& deadline) {
  const ExportRecord record(tools.config.state_dir);
  const auto exports = TRY(record.load());
  std::vector<ExportMount> all = exports;
  all.push_back({"", export_base(tools.paths), ""});
  TRY_VOID(unmount_exports(all, deadline.at_most(seconds(10))));
  TRY_VOID(drop_export_access(tools.paths));
  return record.save({});
}

class FirstError {
 public:
  void note(const Result<>& done) {
    if (!done && !error_) error_ = done.error();
  }
  Result<> result() const {
    if (error_) return *error_;
    return {};
  }

 private:
  std::optional<Error> error_;
};

void add_mounts(const VerbTools& tools, std::vector<std::string>& out) {
  const auto mounts = load_mounts();
  if (!mounts) {
    out.push_back("the mount table cannot be read");
    return;
  }
  const ExportRecord record(tools.config.state_dir);
  const auto exports = record.load();
  if (!exports) out.push_back("the record of exports cannot be read");
  for (const auto& mount : *mounts) {
    bool ours = mount.type.rfind("nfs", 0) == 0 || mount.type.rfind("fuse", 0) == 0;
    ours = ours && (is_below(mount.target, "/home") || is_below(mount.target, "/data"));
    const std::string base = export_base(tools.paths);
    ours = ours || mount.target == base || is_below(mount.target, base);
    if (exports) {
      for (const auto& one : *exports) ours = ours || mount.target == one.target;
    }
    if (ours) out.push_back("mount " + mount.target);
  }
}

void add_accounts(const VerbTools& tools, std::vector<std::string>& out) {
  const auto accounts = load_tenant_accounts(tools.paths.etc);
  if (!accounts) {
    out.push_back("accounts cannot be read");
    return;
  }
  for (const auto& account : *accounts) out.push_back("account " + account.name);
}

}  // namespace

Result<std::string> run_ip(std::vector<std::string> args, Duration limit) {
  process::Command command;
  command.argv = std::move(args);
  command.argv.insert(command.argv.begin(), "ip");
  command.limit = limit;
  const auto output = TRY(process::run(command));
  if (output.ok()) return output.out;
  return make_error(output.timed_out ? Code::timeout : Code::unavailable,
                    join(command.argv, " ") + ": " + output.summary());
}

Result<NodeMembership> load_membership(const std::string& state_dir) {
  NodeMembership membership;
  const auto text = process::read_file(membership_file(state_dir));
  if (!text && text.error().code == Code::not_found) return membership;
  if (!text) return text.error();
  TRY_VOID(parse_json(*text, membership, Unknown::keep_out));
  return membership;
}

Result<> save_membership(const std::string& state_dir, const NodeMembership& membership) {
  return process::write_file_atomic(membership_file(state_dir), render_json(membership), 0600);
}

Result<> undo_setup(const VerbTools& tools, const Deadline& deadline) {
  // New sessions first, then what runs, then what it held open. One part that fails does not keep
  // the others from going.
  FirstError first;
  first.note(stop_sshd(tools.paths));
  first.note(stop_slurm_node(tools.paths));
  const auto left = kill_tenant_processes(deadline.at_most(seconds(5)));
  if (!left.empty()) {
    first.note(make_error(Code::timeout, "process " + std::to_string(left[0].pid) + " (" +
                                             left[0].name + ") of a tenant does not end"));
  }
  first.note(drop_exports(tools, deadline));
  first.note(remove_ssh_keys(tools.paths));
  first.note(remove_engine_files(tools.paths));
  first.note(remove_blocks(tools.paths.etc + "/hosts"));
  first.note(flush_network(tools, deadline));
  return first.result();
}

Result<> remove_tenant_files(const VerbTools& tools) {
  for (const auto& account : TRY(load_tenant_accounts(tools.paths.etc))) {
    // The name comes from a file that root of a tenant may have edited.
    if (is_user_name(account.name)) TRY_VOID(remove_tree("/home/" + account.name));
  }
  TRY_VOID(remove_tree(tools.paths.state + "/slurmd"));  // scripts and credentials of jobs
  for (const auto& path : find_tenant_files()) {
    if (const auto removed = remove_tree(path); !removed) {
      log(LogLevel::warn, "tenant_file_stays",
          {{"path", path}, {"why", removed.error().message()}});
    }
  }
  remove_tenant_ipc();
  return {};
}

Result<std::vector<std::string>> find_leftovers(const VerbTools& tools) {
  std::vector<std::string> out;
  for (const auto& process : find_tenant_processes()) {
    out.push_back("process " + std::to_string(process.pid) + " " + process.name);
  }
  add_accounts(tools, out);
  add_mounts(tools, out);
  for (const auto& path : find_tenant_files()) out.push_back("file " + path);
  for (const auto& segment : find_tenant_ipc()) out.push_back(segment);
  const auto& etc = tools.paths.etc;
  if (exists(etc + "/munge/munge.key")) out.push_back("file " + etc + "/munge/munge.key");
  const std::string key = tools.paths.state + "/storage_key";
  if (exists(key)) out.push_back("file " + key);
  if (exists(etc + "/tundish/ssh_keys")) out.push_back("file " + etc + "/tundish/ssh_keys");
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(etc + "/slurm", ignored)) {
    if (!entry.is_directory()) out.push_back("file " + entry.path().string());
  }
  const auto names = process::read_file(etc + "/hosts");
  if (names && has_block(*names)) out.push_back("names in " + etc + "/hosts");
  return out;
}

}  // namespace tundish::agent
