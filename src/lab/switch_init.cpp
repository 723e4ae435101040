#include "lab/switch_init.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdio>

#include "lab/links.hpp"
#include "lab/lldp.hpp"
#include "lab/manager_box.hpp"
#include "lab/namespaces.hpp"
#include "lab/root_parts.hpp"
#include "lab/service_keeper.hpp"
#include "lab/storage_box.hpp"
#include "lab/switch_plan.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

const std::string frr = "/usr/lib/frr/";
const std::string run_frr = "/run/frr/";
const std::string networks = "/run/netns";
/// What an operator or a driver wants to have run before FRR starts; absent at first.
const std::string startup = "/etc/network/switch-up";
constexpr Duration startup_limit = seconds(30);

bool is_router(SwitchRole role) { return role == SwitchRole::leaf || role == SwitchRole::spine; }

Result<> prepare_frr_run() {
  TRY_VOID(make_folder(run_frr, 0755));
  const passwd* const user = ::getpwnam("frr");
  if (user == nullptr) return make_error(Code::unsupported, "there is no user frr");
  if (::chown(run_frr.c_str(), user->pw_uid, user->pw_gid) != 0) {
    return system_error("cannot give away " + run_frr);
  }
  return {};
}

Result<> enter_switch_root(const LabSpec& spec, const LabSwitch& plan) {
  const std::string folder = paths_of(spec).switch_box(plan.name);
  const std::string root = folder + "/root";
  TRY_VOID(mount_overlay_root(folder));
  TRY_VOID(mount_private_proc(root));
  TRY_VOID(mount_private_dev(root + "/dev"));
  TRY_VOID(mount_private_run(root));
  TRY_VOID(mount_at({"sysfs", root + "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, ""}));
  // The disks of the storage outlive it; whoever runs the lab finds tenants' files there.
  if (plan.role == SwitchRole::storage) {
    TRY_VOID(bind_mount({paths_of(spec).storage(), root + "/srv/shared"}));
  }
  TRY_VOID(pivot_into(root));
  // zebra takes every namespace in this folder for a VRF: it must hold this switch's only.
  TRY_VOID(make_folder(networks));
  TRY_VOID(make_folder("/run/sshd"));
  if (is_router(plan.role)) TRY_VOID(prepare_frr_run());
  return prepare_lldp();
}

Result<> configure_switch(const LabSpec& spec, const LabSwitch& plan) {
  if (!is_router(plan.role)) {
    TRY_VOID(run_ip_batch(render_addresses(plan)));
    return plan.role == SwitchRole::manager ? configure_manager() : configure_storage(spec);
  }
  for (const char* const setting : {"ip_forward", "fib_multipath_hash_policy"}) {
    TRY_VOID(write_text("/proc/sys/net/ipv4/" + std::string(setting), "1\n"));
  }
  // A router answers for an address only on the port that has it.
  TRY_VOID(write_text("/proc/sys/net/ipv4/conf/all/arp_ignore", "1\n"));
  TRY_VOID(write_text("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1\n"));
  TRY_VOID(write_text("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1\n"));
  return run_ip_batch(render_addresses(plan));
}

void run_startup() {
  if (::access(startup.c_str(), X_OK) != 0) return;
  process::Command command;
  command.argv = {startup};
  command.limit = startup_limit;
  const auto ran = process::run(command);
  if (ran && ran->ok()) return;
  const std::string why = ran ? ran->summary() : ran.error().message();
  std::fprintf(stderr, "switch-init: %s: %s\n", startup.c_str(), why.c_str());
}

Service daemon_of(const std::string& name, std::vector<std::string> arguments) {
  Service service;
  service.name = name;
  service.argv = {frr + name, "-A", "127.0.0.1", "--log", "stdout"};
  service.argv.insert(service.argv.end(), arguments.begin(), arguments.end());
  service.leaves = {run_frr + name + ".vty"};
  return service;
}

/// FRR as watchfrr runs it: what hangs on zebra starts after it and anew with it, and the startup
/// configuration is loaded once all listen.
std::vector<Service> frr_services() {
  Service zebra = daemon_of("zebra", {"-n", "-s", "90000000"});
  zebra.leaves.push_back(run_frr + "zserv.api");
  std::vector<Service> all = {zebra};
  Service loader;
  loader.name = "startup-config";
  loader.kind = ServiceKind::task;
  loader.argv = {"/usr/bin/vtysh", "-b"};
  for (const char* name : {"bgpd", "staticd"}) {
    Service service = daemon_of(name, {});
    service.needs = {run_frr + "zserv.api"};
    service.follows = {"zebra"};
    all.push_back(std::move(service));
  }
  for (const auto& service : all) {
    loader.needs.push_back(run_frr + service.name + ".vty");
    loader.follows.push_back(service.name);
  }
  all.push_back(std::move(loader));
  return all;
}

struct BootFiles {
  int log = -1;
  int folder = -1;
};

std::vector<Service> own_services(const LabSpec& spec, SwitchRole role) {
  switch (role) {
    case SwitchRole::leaf:
    case SwitchRole::spine: return frr_services();
    case SwitchRole::manager: return manager_services(spec);
    case SwitchRole::storage: return storage_services();
  }
  return {};
}

/// A router is up when it has its configuration, these when they can be reached.
Service reachable_task() {
  Service task;
  task.name = "reachable";
  task.kind = ServiceKind::task;
  task.argv = {"/bin/sh", "-c",
               "until ss -Htln 'sport = :22' | grep -q 10.88; do sleep 0.02; done"};
  return task;
}

KeeperPlan keeper_plan(const LabSpec& spec, SwitchRole role, const BootFiles& files) {
  KeeperPlan plan;
  plan.log_fd = files.log;
  plan.services = own_services(spec, role);
  plan.services.push_back(
      {"sshd", ServiceKind::daemon, {"/usr/sbin/sshd", "-D", "-e"}, {}, {}, {}});
  if (role == SwitchRole::storage) plan.services.push_back(lldp_service({"eth1", ""}));
  if (!is_router(role)) plan.services.push_back(reachable_task());
  if (is_router(role)) {
    plan.services.push_back(lldp_service({"swp*,up*", ""}));
    // A port is heard by the namespace that it is in.
    plan.watched_folder = networks;
    plan.for_entry = [](const std::string& name) { return lldp_service({"swp*", name}); };
  }
  plan.settled = [folder = files.folder] {
    const int fd = ::openat(folder, "booted", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return std::perror("switch-init: cannot report the boot");
    ::close(fd);
    ::close(folder);
  };
  return plan;
}

Result<> boot(const std::string& spec_file, const std::string& name) {
  const LabSpec spec = TRY(load_spec(spec_file));
  const LabPaths paths = paths_of(spec);
  const LabSwitch* plan = nullptr;
  const auto all = boxes_of(spec);
  for (const auto& candidate : all) {
    if (candidate.name == name) plan = &candidate;
  }
  if (plan == nullptr) return make_error(Code::not_found, "the lab has no switch " + name);
  TRY_VOID(wait_for_cables());
  const std::string folder = paths.switch_box(name);
  TRY_VOID(
      write_text(folder + "/host_pid", std::to_string(host_pid_of_self(paths.host_proc())) + "\n"));
  const std::string log = paths.log() + "/switch-" + name + ".log";
  BootFiles files;
  files.log = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  files.folder = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (files.log < 0 || files.folder < 0) return system_error("cannot open " + log);
  TRY_VOID(enter_switch_root(spec, *plan));
  if (::sethostname(name.c_str(), name.size()) != 0) return system_error("cannot set the name");
  TRY_VOID(configure_switch(spec, *plan));
  TRY_VOID(drop_capabilities());
  run_startup();
  block_keeper_signals();
  keep_services(keeper_plan(spec, plan->role, files));
  return {};
}

}  // namespace

int switch_init_main(const std::vector<std::string>& args) {
  std::string spec_file;
  std::string name;
  for (std::size_t i = 0; i + 1 < args.size(); ++i) {
    if (args[i] == "--spec") spec_file = args[i + 1];
    if (args[i] == "--switch") name = args[i + 1];
  }
  if (::getpid() != 1 || spec_file.empty() || name.empty()) {
    std::fprintf(stderr, "lab switch-init: is started by the lab's supervisor only\n");
    return 2;
  }
  const auto done = boot(spec_file, name);
  if (done) return 0;
  std::fprintf(stderr, "switch-init: %s\n", done.error().message().c_str());
  return 1;
}

}  // namespace tundish::lab
