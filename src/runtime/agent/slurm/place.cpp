#include "runtime/agent/slurm/place.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/text.hpp"

namespace tundish::agent::slurm {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t name_limit = 63;
constexpr std::size_t tail_limit = 600;

Error file_error(const std::string& what) {
  return make_error(Code::internal, what + ": " + std::strerror(errno));
}

struct Ids {
  uid_t uid;
  gid_t gid;
};

Result<Ids> ids_of(const std::string& user) {
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  ::getpwnam_r(user.c_str(), &entry, buffer, sizeof buffer, &found);
  if (found == nullptr) {
    return make_error(Code::unsupported, "no user " + user + " on this machine")
        .with_remedy("install the packages munge, slurmctld and mariadb-server");
  }
  return Ids{entry.pw_uid, entry.pw_gid};
}

/// The service users must be able to pass through our own state folder, not to list it.
Result<> let_pass(const std::string& folder) {
  struct stat seen {};
  if (::stat(folder.c_str(), &seen) != 0) return file_error("cannot look at " + folder);
  if ((seen.st_mode & 0011) == 0011) return {};
  if (::chmod(folder.c_str(), (seen.st_mode & 07777) | 0011) != 0) {
    return file_error("cannot open " + folder);
  }
  return {};
}

}  // namespace

MungePlace node_munge(const AgentPaths& paths) {
  return {paths.etc + "/munge", paths.run + "/munge", paths.log + "/munge"};
}

Result<ClusterPlace> place_of(const std::string& cluster, const AgentPaths& paths) {
  TRY_VOID(check_name(cluster, "cluster"));
  ClusterPlace place;
  place.cluster = cluster;
  place.base = paths.state + "/slurm/" + cluster;
  place.etc = paths.etc + "/slurm/" + cluster;
  place.run = paths.run + "/slurm-" + cluster;
  place.log = paths.log + "/slurm-" + cluster;
  place.munge = {place.base + "/munge", paths.run + "/munge-" + cluster,
                 paths.log + "/munge-" + cluster};
  return place;
}

DatabasePlace database_of(const AgentPaths& paths) {
  return {paths.state + "/mariadb", paths.run + "/tundish-mariadb", paths.log + "/mariadb"};
}

bool is_plain_name(std::string_view text) {
  if (text.empty() || text.size() > name_limit || text[0] == '-' || text[0] == '.') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
}

Result<> check_name(std::string_view text, std::string_view what) {
  if (is_plain_name(text)) return {};
  return make_error(Code::invalid, "bad name of a " + std::string(what) + ": \"" +
                                       std::string(text.substr(0, name_limit)) + "\"");
}

Result<> make_folder(const std::string& path, const Owner& owner) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) return make_error(Code::internal, "cannot make " + path + ": " + failed.message());
  const Ids ids = TRY(ids_of(owner.user));
  if (::chown(path.c_str(), ids.uid, ids.gid) != 0 || ::chmod(path.c_str(), owner.mode) != 0) {
    return file_error("cannot give " + path + " to " + owner.user);
  }
  if (owner.user != "root") TRY_VOID(let_pass(fs::path(path).parent_path().string()));
  return {};
}

Result<bool> write_if_changed(const std::string& path, const std::string& content,
                              const Owner& owner) {
  const auto old = process::read_file(path);
  const bool same = old && *old == content;
  if (!same) {
    // Root's own and closed until it has its owner.
    TRY_VOID(process::write_file_atomic(path, content, 0600));
  }
  const Ids ids = TRY(ids_of(owner.user));
  if (::chown(path.c_str(), ids.uid, ids.gid) != 0 || ::chmod(path.c_str(), owner.mode) != 0) {
    return file_error("cannot give " + path + " to " + owner.user);
  }
  return !same;
}

bool wait_until(const std::function<bool()>& holds, Duration limit) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(limit.us);
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

Result<process::Output> run_checked(const process::Command& command) {
  auto output = TRY(process::run(command));
  if (output.ok()) return output;
  const Code code = output.timed_out ? Code::timeout : Code::unavailable;
  return make_error(code, command.argv[0] + ": " + output.summary());
}

std::string log_tail(const std::string& file) {
  const auto text = process::read_file(file);
  if (!text) return "no log " + file;
  const std::string_view all = trim(*text);
  return std::string(all.substr(all.size() - std::min(all.size(), tail_limit)));
}

Result<> check_files(const std::vector<EngineFile>& files) {
  static constexpr std::string_view known[] = {"slurm.conf", "gres.conf", "cgroup.conf",
                                               "topology.conf", "slurmdbd.conf"};
  for (const auto& file : files) {
    if (std::find(std::begin(known), std::end(known), file.name) == std::end(known)) {
      return make_error(Code::invalid, "no file of Slurm's: " + file.name);
    }
  }
  return {};
}

const EngineFile* find_file(const std::vector<EngineFile>& files, std::string_view name) {
  for (const auto& file : files) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

}  // namespace tundish::agent::slurm
