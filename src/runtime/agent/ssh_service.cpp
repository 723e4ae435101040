#include "runtime/agent/ssh_service.hpp"

#include <unistd.h>

#include <filesystem>

#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

const char* const sshd_path = "/usr/sbin/sshd";

std::string keys_dir(const AgentPaths& paths) { return paths.etc + "/tundish/ssh_keys"; }
std::string ssh_dir(const AgentPaths& paths) { return paths.state + "/ssh"; }
std::string pid_file(const AgentPaths& paths) { return paths.run + "/tundish-sshd.pid"; }

Result<> make_folder(const std::string& path, fs::perms mode) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (!failed) fs::permissions(path, mode, failed);
  if (failed) return make_error(Code::unavailable, "cannot make " + path + ": " + failed.message());
  return {};
}

Result<> run_quiet(std::vector<std::string> argv) {
  process::Command command;
  command.argv = std::move(argv);
  const auto output = TRY(process::run(command));
  if (output.ok()) return {};
  return make_error(Code::unavailable, command.argv[0] + ": " + output.summary());
}

Result<> ensure_node_key(const AgentPaths& paths) {
  TRY_VOID(make_folder(ssh_dir(paths), fs::perms::owner_all));
  const std::string key = ssh_dir(paths) + "/host_ed25519";
  if (::access(key.c_str(), F_OK) == 0) return {};
  return run_quiet({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key});
}

}  // namespace

std::string render_sshd_config(const SetupNode& setup, const AgentPaths& paths) {
  std::string out;
  out += "ListenAddress " + setup.address + "\nPort 22\n";
  out += "HostKey " + ssh_dir(paths) + "/host_ed25519\n";
  out += "PidFile none\n";
  out += "AuthorizedKeysFile " + keys_dir(paths) + "/%u\n";
  out += "AuthenticationMethods publickey\nPubkeyAuthentication yes\n";
  out += "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin no\n";
  out += "PermitEmptyPasswords no\nHostbasedAuthentication no\nUsePAM no\nX11Forwarding no\n";
  out += "PermitUserEnvironment no\nPrintMotd no\nAcceptEnv LANG LC_*\n";
  out += "Subsystem sftp internal-sftp\n";
  if (setup.users.empty()) return out + "DenyUsers *\n";
  out += "AllowUsers";
  for (const auto& user : setup.users) out += " " + user.name;
  return out + "\n";
}

Result<> write_ssh_keys(const std::vector<AccountUser>& users, const AgentPaths& paths) {
  const std::string folder = keys_dir(paths);
  constexpr auto readable = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                            fs::perms::others_read | fs::perms::others_exec;
  // sshd reads the keys as the user: others may look, only root may write.
  TRY_VOID(make_folder(folder, readable));
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    bool wanted = false;
    for (const auto& user : users) wanted = wanted || entry.path().filename() == user.name;
    std::error_code ignored;
    if (!wanted) fs::remove(entry.path(), ignored);
  }
  for (const auto& user : users) {
    std::string content;
    for (const auto& key : user.ssh_keys) content += key + "\n";
    TRY_VOID(process::write_file_atomic(folder + "/" + user.name, content, 0644));
  }
  return {};
}

Result<> start_sshd(const SetupNode& setup, const AgentPaths& paths) {
  TRY_VOID(ensure_node_key(paths));
  TRY_VOID(make_folder(paths.run + "/sshd", fs::perms::owner_all | fs::perms::group_exec |
                                                fs::perms::others_exec));
  const std::string file = ssh_dir(paths) + "/sshd_config";
  const std::string wanted = render_sshd_config(setup, paths);
  const auto before = process::read_file(file);
  const int running = process::read_live_pid(pid_file(paths), "sshd");
  if (running > 0 && before && *before == wanted) return {};
  TRY_VOID(process::write_file_atomic(file, wanted, 0600));
  TRY_VOID(run_quiet({sshd_path, "-t", "-f", file}));
  TRY_VOID(stop_sshd(paths));
  process::Daemon daemon;
  daemon.argv = {sshd_path, "-D", "-e", "-f", file};
  daemon.log_file = paths.log + "/sshd.log";
  daemon.pid_file = pid_file(paths);
  const int pid = TRY(process::spawn_daemon(daemon));
  for (int i = 0; i < 5; ++i) {
    ::usleep(20000);
    if (!process::is_alive(pid)) {
      return make_error(Code::unavailable, "sshd ended at once; see " + daemon.log_file);
    }
  }
  return {};
}

Result<> stop_sshd(const AgentPaths& paths) {
  const int pid = process::read_live_pid(pid_file(paths), "sshd");
  if (pid > 0 && !process::stop_process(pid, seconds(2))) {
    return make_error(Code::unavailable, "sshd does not end");
  }
  std::error_code ignored;
  fs::remove(pid_file(paths), ignored);
  return {};
}

Result<> remove_ssh_keys(const AgentPaths& paths) {
  std::error_code failed;
  fs::remove_all(keys_dir(paths), failed);
  if (failed) return make_error(Code::unavailable, "cannot remove ssh keys: " + failed.message());
  return {};
}

}  // namespace tundish::agent
