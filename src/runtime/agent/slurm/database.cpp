#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "runtime/agent/slurm/controller_parts.hpp"

namespace tundish::agent::slurm {
namespace fs = std::filesystem;
namespace {

/// Creates the data folder beside its place first: a half-made one never counts.
Result<> init_data(const DatabasePlace& place) {
  std::error_code ignored;
  if (fs::exists(place.data + "/mysql", ignored)) return {};
  const std::string fresh = place.data + ".new";
  fs::remove_all(fresh, ignored);
  fs::remove(place.data, ignored);  // an empty folder from an earlier try
  TRY_VOID(make_folder(fresh, {"mysql", 0700}));
  process::Command command;
  command.argv = {"mariadb-install-db", "--no-defaults", "--user=mysql", "--datadir=" + fresh,
                  "--auth-root-authentication-method=socket", "--skip-test-db"};
  command.limit = seconds(60);
  TRY_VOID(run_checked(command));
  std::error_code failed;
  fs::rename(fresh, place.data, failed);
  if (failed) return make_error(Code::internal, "cannot place " + place.data);
  return {};
}

process::Command client(const DatabasePlace& place, const std::string& sql) {
  process::Command command;
  command.argv = {"mariadb", "--no-defaults", "--socket=" + place.socket(), "--user=root"};
  command.input = sql;
  return command;
}

bool answers(const DatabasePlace& place) {
  const auto output = process::run(client(place, "SELECT 1;\n"));
  return output && output->ok();
}

bool is_password(const std::string& text) {
  return text.size() >= 16 && text.size() <= 128 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

/// As the engine item writes it into slurmdbd.conf; slurmdbd does not quote it.
std::string database_word(std::string cluster) {
  std::replace(cluster.begin(), cluster.end(), '-', '_');
  std::replace(cluster.begin(), cluster.end(), '.', '_');
  return cluster;
}

}  // namespace

DatabaseLock::DatabaseLock(const DatabasePlace& place) {
  std::error_code ignored;
  fs::create_directories(fs::path(place.data).parent_path(), ignored);
  fd_ = ::open((place.data + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd_ >= 0) ::flock(fd_, LOCK_EX);  // of this open file: holds between threads as well
}

DatabaseLock::~DatabaseLock() {
  if (fd_ >= 0) ::close(fd_);
}

Result<> start_database(const DatabasePlace& place) {
  if (process::read_live_pid(place.pid_file(), "mariadbd") > 0 && answers(place)) return {};
  TRY_VOID(init_data(place));
  TRY_VOID(make_folder(place.run, {"mysql", 0755}));
  TRY_VOID(make_folder(place.log, {"mysql", 0750}));
  process::Daemon daemon;
  daemon.argv = {"mariadbd", "--no-defaults", "--user=mysql", "--datadir=" + place.data,
                 "--socket=" + place.socket(), "--skip-networking",
                 // slurmdbd complains below these. Source: slurm.schedmd.com/accounting.html,
                 // MySQL configuration; checked 2026-11.
                 "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M",
                 "--innodb-lock-wait-timeout=900"};
  daemon.log_file = place.log + "/mariadbd.log";
  daemon.pid_file = place.pid_file();
  TRY(process::spawn_daemon(daemon));
  if (wait_until([&] { return answers(place); }, seconds(30))) return {};
  return make_error(Code::unavailable, "mariadbd did not start: " + log_tail(daemon.log_file));
}

void stop_database(const DatabasePlace& place) {
  const int pid = process::read_live_pid(place.pid_file(), "mariadbd");
  if (pid > 0) process::stop_process(pid, seconds(20));
}

Result<> grant_database(const DatabasePlace& place, const DatabaseLogin& login) {
  if (!is_password(login.password)) {
    return make_error(Code::invalid, "the database password must be 16 to 128 letters or digits");
  }
  const std::string word = database_word(login.cluster);
  const std::string user = "'slurm_" + word + "'@'localhost'";
  const std::string sql =
      "CREATE USER IF NOT EXISTS " + user + " IDENTIFIED BY '" + login.password + "';\n" +
      "ALTER USER " + user + " IDENTIFIED BY '" + login.password + "';\n" +
      "GRANT ALL ON `slurm\\_acct\\_" + word + "`.* TO " + user + ";\n";
  const auto output = TRY(process::run(client(place, sql)));
  if (output.ok()) return {};
  // The client's message may quote the statement and with it the password.
  return make_error(Code::unavailable, "mariadb refused the user of " + login.cluster);
}

}  // namespace tundish::agent::slurm
