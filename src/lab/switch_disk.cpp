#include "lab/switch_disk.hpp"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.hpp"
#include "lab/manager_box.hpp"
#include "lab/namespaces.hpp"
#include "lab/root_parts.hpp"
#include "lab/storage_box.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Result<> make_key(const std::string& file, const std::string& comment) {
  if (exists(file)) return {};
  process::Command command;
  command.argv = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", file};
  const auto made = TRY(process::run(command));
  if (made.ok()) return {};
  return make_error(Code::unavailable, "cannot make key " + file + ": " + made.summary());
}

std::string box_key(const LabPaths& paths, const LabSwitch& plan) {
  return paths.switch_box(plan.name) + "/ssh_host_ed25519_key";
}

/// No user but root by key, on the management address alone.
std::string render_sshd_config(const LabSwitch& plan) {
  return "ListenAddress " + plan.management +
         ":22\nHostKey /etc/ssh/ssh_host_ed25519_key\nPermitRootLogin prohibit-password\n"
         "AllowUsers root\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
         "AuthorizedKeysFile /etc/ssh/authorized_keys\nUsePAM no\nUseDNS no\nX11Forwarding no\n"
         "AllowTcpForwarding no\nAllowAgentForwarding no\nMaxStartups 64:30:128\n"
         "Subsystem sftp internal-sftp\nMaxSessions 32\nPrintMotd no\nClientAliveInterval 5\n"
         "SetEnv PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8\n";
}

Result<> prepare_ssh(const LabPaths& paths, const LabSwitch& plan, const std::string& disk) {
  const std::string ssh = disk + "/etc/ssh";
  TRY_VOID(make_opaque_folder(ssh));
  TRY_VOID(write_text(ssh + "/sshd_config", render_sshd_config(plan), 0600));
  const std::string key = TRY(process::read_file(box_key(paths, plan)));
  TRY_VOID(process::write_file_atomic(ssh + "/ssh_host_ed25519_key", key, 0600));
  const std::string allowed = TRY(process::read_file(paths.switch_key() + ".pub"));
  TRY_VOID(process::write_file_atomic(ssh + "/authorized_keys", allowed, 0600));
  if (exists(disk + "/etc/shadow")) return {};  // a storage has added accounts
  // No password can match, yet the account is not locked, so that sshd admits its keys.
  return process::write_file_atomic(disk + "/etc/shadow", "root:*:19000:0:99999:7:::\n", 0600);
}

/// Files of FRR belong to the user that its daemons run as.
Result<> prepare_frr(const LabSwitch& plan, const std::string& disk) {
  const passwd* const user = ::getpwnam("frr");
  if (user == nullptr || !exists("/usr/lib/frr/bgpd")) {
    return make_error(Code::unsupported, "an frr fabric needs FRR, and it is not installed")
        .with_remedy("apt-get install frr frr-pythontools lldpd, or --fabric flat");
  }
  const std::string folder = disk + "/etc/frr";
  TRY_VOID(make_opaque_folder(folder, 0750));
  if (!exists(folder + "/frr.conf")) {
    TRY_VOID(write_text(folder + "/frr.conf", render_underlay(plan), 0640));
  }
  TRY_VOID(write_text(folder + "/vtysh.conf", "service integrated-vtysh-config\n", 0640));
  for (const std::string& path : {folder, folder + "/frr.conf", folder + "/vtysh.conf"}) {
    if (::chown(path.c_str(), user->pw_uid, user->pw_gid) != 0) {
      return system_error("cannot give away " + path);
    }
  }
  return {};
}

}  // namespace

Result<> make_switch_keys(const LabSpec& spec) {
  const LabPaths paths = paths_of(spec);
  const auto all = boxes_of(spec);
  if (all.empty()) return {};
  TRY_VOID(make_key(paths.switch_key(), "tundish"));
  std::string known;
  for (const auto& plan : all) {
    TRY_VOID(make_folder(paths.switch_box(plan.name), 0700));
    TRY_VOID(make_key(box_key(paths, plan), plan.name));
    const std::string key = TRY(process::read_file(box_key(paths, plan) + ".pub"));
    known += plan.management + " " + key;
    if (plan.role == SwitchRole::storage) known += storage_address + " " + key;
  }
  return process::write_file_atomic(paths.switch_known_hosts(), known);
}

Result<> prepare_switch(const LabSpec& spec, const LabSwitch& plan) {
  const LabPaths paths = paths_of(spec);
  const std::string folder = paths.switch_box(plan.name);
  const std::string disk = folder + "/disk";
  for (const char* const name : {"work", "root"}) TRY_VOID(make_folder(folder + "/" + name));
  TRY_VOID(prepare_upper_layer(disk, {paths.root, plan.name}));
  TRY_VOID(prepare_ssh(paths, plan, disk));
  switch (plan.role) {
    case SwitchRole::leaf:
    case SwitchRole::spine: TRY_VOID(prepare_frr(plan, disk)); break;
    case SwitchRole::manager: TRY_VOID(prepare_manager(spec, disk)); break;
    case SwitchRole::storage: TRY_VOID(prepare_storage(spec, disk)); break;
  }
  std::error_code ignored;
  fs::remove(folder + "/booted", ignored);
  fs::remove(folder + "/host_pid", ignored);
  return {};
}

}  // namespace tundish::lab
