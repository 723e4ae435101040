#include "runtime/agent/accounts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "base/text.hpp"
#include "runtime/agent/validate.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  auto lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

long uid_of(const std::vector<std::string>& parts) {
  if (parts.size() < 3) return -1;
  return static_cast<long>(parse_integer(parts[2]).value_or(-1));
}

/// The lines of others; names of tenants' lines go to `ours`.
std::string keep_others(const std::string& text, std::set<std::string>& ours) {
  std::string out;
  for (const auto& line : lines_of(text)) {
    const auto parts = split(line, ':');
    if (is_tenant_uid(uid_of(parts))) {
      ours.insert(parts[0]);
    } else {
      out += line + "\n";
    }
  }
  return out;
}

std::string keep_names(const std::string& text, const std::set<std::string>& ours) {
  std::string out;
  for (const auto& line : lines_of(text)) {
    if (ours.count(split(line, ':')[0]) == 0) out += line + "\n";
  }
  return out;
}

bool names_account(const std::string& text, const std::string& name) {
  return text.rfind(name + ":", 0) == 0 || text.find("\n" + name + ":") != std::string::npos;
}

/// Owner, group and mode stay: programs of the group shadow read that file.
Result<> replace_file(const std::string& path, const std::string& before,
                      const std::string& after) {
  if (before == after) return {};
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return make_error(Code::unavailable, "cannot look at " + path + ": " + std::strerror(errno));
  }
  const auto mode = static_cast<int>(info.st_mode & 07777);
  const bool is_public = (mode & 04) != 0;
  TRY_VOID(process::write_file_atomic(path, after, is_public ? mode : mode & ~077));
  if (::chown(path.c_str(), info.st_uid, info.st_gid) != 0 ||
      ::chmod(path.c_str(), info.st_mode & 07777) != 0) {
    return make_error(Code::unavailable, "cannot give " + path + " its mode");
  }
  return {};
}

Error home_error(const std::string& path) {
  return make_error(Code::unavailable, "cannot make home " + path + ": " + std::strerror(errno));
}

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::vector<TenantAccount> parse_tenant_accounts(const std::string& passwd) {
  std::vector<TenantAccount> out;
  for (const auto& line : lines_of(passwd)) {
    const auto parts = split(line, ':');
    const long uid = uid_of(parts);
    if (!is_tenant_uid(uid)) continue;
    out.push_back({parts[0], uid, parts.size() > 5 ? parts[5] : ""});
  }
  return out;
}

Result<AccountTexts> plan_accounts(const AccountTexts& before,
                                   const std::vector<AccountUser>& users) {
  std::set<std::string> ours;
  AccountTexts after{keep_others(before.passwd, ours), keep_others(before.group, ours), ""};
  for (const auto& user : users) {
    if (names_account(after.passwd, user.name) || names_account(after.group, user.name)) {
      return make_error(Code::conflict, "user " + user.name + " is an account of the system");
    }
    ours.insert(user.name);
  }
  after.shadow = keep_names(before.shadow, ours);
  for (const auto& user : users) {
    const std::string uid = std::to_string(user.uid);
    after.passwd += user.name + ":x:" + uid + ":" + uid + ":tundish tenant:/home/" + user.name +
                    ":/bin/bash\n";
    after.group += user.name + ":x:" + uid + ":\n";
    // "*": no password can match, yet the account is not locked, so that sshd admits its keys.
    after.shadow += user.name + ":*:19000:0:99999:7:::\n";
  }
  return after;
}

Result<> apply_accounts(const std::string& etc, const std::vector<AccountUser>& users) {
  const AccountTexts before{TRY(process::read_file(etc + "/passwd")),
                            TRY(process::read_file(etc + "/group")),
                            TRY(process::read_file(etc + "/shadow"))};
  const AccountTexts after = TRY(plan_accounts(before, users));
  // passwd last: an account is complete as soon as it can be seen.
  TRY_VOID(replace_file(etc + "/group", before.group, after.group));
  TRY_VOID(replace_file(etc + "/shadow", before.shadow, after.shadow));
  return replace_file(etc + "/passwd", before.passwd, after.passwd);
}

Result<std::vector<TenantAccount>> load_tenant_accounts(const std::string& etc) {
  return parse_tenant_accounts(TRY(process::read_file(etc + "/passwd")));
}

Result<> make_home(const std::string& homes, const AccountUser& user) {
  const std::string path = homes + "/" + user.name;
  const Fd folder(::open(homes.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return home_error(path);
  if (::mkdirat(folder.get(), user.name.c_str(), 0700) != 0 && errno != EEXIST) {
    return home_error(path);
  }
  const Fd home(::openat(folder.get(), user.name.c_str(),
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (home.get() < 0) return home_error(path);
  const auto uid = static_cast<uid_t>(user.uid);
  struct stat info {};
  if (::fstat(home.get(), &info) != 0) return home_error(path);
  if (info.st_uid == uid) return {};
  if (info.st_uid != 0) {
    return make_error(Code::conflict, "home " + path + " belongs to uid " +
                                          std::to_string(info.st_uid));
  }
  if (::fchown(home.get(), uid, static_cast<gid_t>(user.uid)) != 0) return home_error(path);
  return {};
}

}  // namespace tundish::agent
