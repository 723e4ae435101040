#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "base/text.hpp"
#include "runtime/agent/slurm/controller_parts.hpp"

namespace tundish::agent::slurm {
namespace {

constexpr int uid_min = 1000;  // below are the system's own. Source: login.defs(5)

Result<> check_users(const std::vector<AccountUser>& users) {
  for (const auto& user : users) {
    TRY_VOID(check_name(user.name, "user"));
    if (user.uid < uid_min) {
      return make_error(Code::invalid, "user " + user.name + " has a uid of the system");
    }
  }
  return {};
}

/// The machine's own lines, less those that a user of ours replaces.
std::string base_lines(const std::string& file, const std::set<std::string>& replaced) {
  std::string out;
  for (const auto& line : split(process::read_file(file).value_or(""), '\n')) {
    const std::string name = line.substr(0, line.find(':'));
    if (!line.empty() && !replaced.contains(name)) out += line + "\n";
  }
  return out;
}

/// Running daemons see the file by its inode, so it is written in place; what only grows is
/// appended in one write, so that a reader never misses an account.
Result<> write_in_place(const std::string& path, const std::string& content) {
  const std::string old = process::read_file(path).value_or("");
  if (old == content) return {};
  const bool grows = content.starts_with(old);
  const std::string rest = grows ? content.substr(old.size()) : content;
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (grows ? O_APPEND : O_TRUNC);
  const int fd = ::open(path.c_str(), flags, 0644);
  const bool wrote = fd >= 0 && ::write(fd, rest.data(), rest.size()) ==
                                    static_cast<ssize_t>(rest.size());
  const int number = errno;
  if (fd >= 0) ::close(fd);
  if (wrote) return {};
  return make_error(Code::internal, "cannot write " + path + ": " + std::strerror(number));
}

Result<> run_sacctmgr(const ClusterPlace& place, const std::string& input) {
  process::Command command;
  command.argv = in_cluster(place, {"sacctmgr", "-i"});
  command.env = cluster_env(place);
  command.input = input;
  const auto output = TRY(process::run(command));
  // "already exists" ends with an error code too; anything else says error.
  const std::string all = output.out + output.err;
  if (output.timed_out) return make_error(Code::timeout, "sacctmgr did not end in time");
  for (const auto& line : split(all, '\n')) {
    const bool bad = to_lower(line).find("error") != std::string::npos ||
                     line.find("Problem") != std::string::npos;
    if (bad) return make_error(Code::unavailable, "sacctmgr: " + std::string(trim(line)));
  }
  return {};
}

/// Active checks run under an account of their own, so that they use up nothing of the tenant's;
/// its people are coordinators there, so that any of them may cancel one.
std::string check_lines(const ClusterPlace& place, const std::vector<AccountUser>& users) {
  const std::string account(check_work_name);
  const std::string where = " cluster=" + place.cluster + "\n";
  std::string lines = "add account name=" + account + where;
  lines += "add user name=root account=" + account + where;
  for (const auto& user : users) {
    lines += "add coordinator account=" + account + " names=" + user.name + "\n";
  }
  return lines;
}

std::string add_lines(const ClusterPlace& place, const std::string& tenant,
                      const std::vector<AccountUser>& users) {
  const std::string where = " account=" + tenant + " cluster=" + place.cluster;
  std::string lines;
  for (const auto& user : users) lines += "add user name=" + user.name + where + "\n";
  return lines + check_lines(place, users);
}

std::string list_of(const std::vector<AccountUser>& users) {
  std::string text;
  for (const auto& user : users) text += user.name + " " + std::to_string(user.uid) + "\n";
  return text;
}

std::vector<AccountUser> parse_list(const std::string& text) {
  std::vector<AccountUser> users;
  for (const auto& line : split(text, '\n')) {
    const auto parts = split(line, ' ');
    const auto uid = parts.size() == 2 ? parse_integer(parts[1]) : std::nullopt;
    if (uid) users.push_back({parts[0], static_cast<int>(*uid), {}});
  }
  return users;
}

}  // namespace

Result<> write_accounts(const ClusterPlace& place, const std::vector<AccountUser>& users) {
  TRY_VOID(check_users(users));
  std::set<std::string> names;
  for (const auto& user : users) names.insert(user.name);
  std::string passwd = base_lines("/etc/passwd", names);
  std::string group = base_lines("/etc/group", names);
  for (const auto& user : users) {
    const std::string id = std::to_string(user.uid);
    passwd += user.name + ":x:" + id + ":" + id + "::/home/" + user.name + ":/bin/bash\n";
    group += user.name + ":x:" + id + ":\n";
  }
  TRY_VOID(write_in_place(place.passwd(), passwd));
  return write_in_place(place.group(), group);
}

Result<> register_accounts(const ClusterPlace& place, const std::string& tenant,
                           const std::vector<AccountUser>& users) {
  TRY_VOID(check_name(tenant, "tenant"));
  const std::string wanted = tenant + "\n" + list_of(users);
  if (process::read_file(place.accounts_file()).value_or("") == wanted) return {};
  // slurmdbd makes its tables at the first start and answers only after that.
  Result<> done;
  const bool added = wait_until(
      [&] {
        done = run_sacctmgr(place, "add cluster name=" + place.cluster + "\nadd account name=" +
                                       tenant + " cluster=" + place.cluster + "\n" +
                                       add_lines(place, tenant, users));
        return done.has_value();
      },
      seconds(30));
  if (!added) return done;
  TRY(write_if_changed(place.tenant_file(), tenant, {"root", 0600}));
  TRY(write_if_changed(place.accounts_file(), wanted, {"root", 0600}));
  return {};
}

Result<> add_accounts(const ClusterPlace& place, const std::vector<AccountUser>& users) {
  TRY_VOID(check_users(users));
  const std::string tenant = TRY(process::read_file(place.tenant_file()));
  const std::string stored = TRY(process::read_file(place.accounts_file()));
  auto all = parse_list(stored.substr(std::min(stored.size(), tenant.size() + 1)));
  for (const auto& user : users) {
    std::erase_if(all, [&](const AccountUser& known) { return known.name == user.name; });
    all.push_back({user.name, user.uid, {}});
  }
  TRY_VOID(write_accounts(place, all));
  TRY_VOID(run_sacctmgr(place, add_lines(place, tenant, users)));
  TRY(write_if_changed(place.accounts_file(), tenant + "\n" + list_of(all), {"root", 0600}));
  return {};
}

}  // namespace tundish::agent::slurm
