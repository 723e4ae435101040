#include "lab/storage_box.hpp"

#include <filesystem>

#include "base/text.hpp"
#include "lab/links.hpp"
#include "lab/namespaces.hpp"
#include "lab/storage_script.hpp"
#include "lab/switch_plan.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

const std::string script = "/usr/local/sbin/storage-export";
const std::string sshd_config = "/etc/ssh/export_config";
constexpr const char* group_line = "exports:x:64999:\n";

/// No shell, no forwarding: files of one folder, by key, from the addresses that the key is for.
std::string render_sshd_config() {
  return "ListenAddress " + storage_address +
         ":22\nPidFile none\nHostKey /etc/ssh/ssh_host_ed25519_key\nAllowGroups exports\n"
         "PermitRootLogin prohibit-password\nPasswordAuthentication no\n"
         "KbdInteractiveAuthentication no\nAuthorizedKeysFile /etc/ssh/exports/%u\nUsePAM no\n"
         "UseDNS no\nDisableForwarding yes\nPermitTTY no\nPermitUserRC no\nPrintMotd no\n"
         "LoginGraceTime 5\nMaxStartups 64:30:128\nClientAliveInterval 2\nClientAliveCountMax 3\n"
         "ChrootDirectory /srv/exports/%u\nSubsystem sftp internal-sftp\n"
         "ForceCommand internal-sftp\n";
}

/// Who was not granted anything hears nothing; who was learns at its next word that it is over.
const char* const filter =
    "table inet storage {\n set granted {\n  type ipv4_addr\n }\n chain input {\n"
    "  type filter hook input priority 0; policy drop;\n"
    "  iifname { \"lo\", \"eth0\" } accept\n"
    "  ip saddr @granted tcp dport 22 accept\n"
    "  ip saddr @granted icmp type echo-request accept\n"
    "  tcp dport 22 tcp flags & (syn | rst) == 0 reject with tcp reset\n }\n"
    " chain forward {\n  type filter hook forward priority 0; policy drop;\n }\n}\n";

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Result<> run_tool(const std::vector<std::string>& argv, const std::string& input) {
  process::Command command;
  command.argv = argv;
  command.input = input;
  const auto output = TRY(process::run(command));
  if (output.ok()) return {};
  return make_error(Code::unavailable, argv.front() + " failed: " + output.summary());
}

/// Users are added to it, so that it must not be written anew.
Result<> prepare_accounts(const std::string& etc) {
  if (exists(etc + "/group")) return {};
  const std::string groups = TRY(process::read_file("/etc/group"));
  return write_text(etc + "/group", groups + group_line);
}

}  // namespace

Result<> prepare_storage(const LabSpec& spec, const std::string& disk) {
  for (const std::string program : {"sshfs", "bindfs"}) {
    if (exists("/usr/bin/" + program)) continue;
    return make_error(Code::unsupported,
                      "nodes mount the storage with " + program + ", and it is not installed")
        .with_remedy("apt-get install sshfs bindfs, or --fabric flat");
  }
  TRY_VOID(make_folder(paths_of(spec).storage()));
  TRY_VOID(make_folder(disk + "/usr/local/sbin"));
  TRY_VOID(write_text(disk + script, std::string(storage_script), 0755));
  TRY_VOID(make_opaque_folder(disk + "/etc/storage", 0700));
  TRY_VOID(make_opaque_folder(disk + "/srv"));
  TRY_VOID(make_folder(disk + "/srv/shared"));
  TRY_VOID(write_text(disk + "/etc/storage/address", storage_address + "\n"));
  TRY_VOID(write_text(disk + sshd_config, render_sshd_config(), 0600));
  return prepare_accounts(disk + "/etc");
}

Result<> configure_storage(const LabSpec& spec) {
  const std::string port = storage_cable_of(spec).interface;
  TRY_VOID(run_ip_batch("addr add " + storage_address + "/" +
                        std::to_string(storage_prefix_length) + " dev " + port + "\nlink set " +
                        port + " up\nroute add default via " + storage_gateway + " dev " + port +
                        "\n"));
  // Of a connection that was ended under a client that does not hear, nothing shall be sent again.
  TRY_VOID(write_text("/proc/sys/net/ipv4/tcp_orphan_retries", "1\n"));
  TRY_VOID(run_tool({"nft", "-f", "-"}, filter));
  return run_tool({script, "restore"}, "");
}

std::vector<Service> storage_services() {
  Service exports;
  exports.name = "sshd-exports";
  exports.argv = {"/usr/sbin/sshd", "-D", "-e", "-f", sshd_config};
  return {exports};
}

}  // namespace tundish::lab
