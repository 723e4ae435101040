#include "lab/node_init.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "lab/agent_keeper.hpp"
#include "lab/links.hpp"
#include "lab/namespaces.hpp"
#include "lab/node_root.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

constexpr int sync_fd = 3;

/// What lets a node change the machine: kernel log, clock, modules, raw devices.
constexpr int dropped[] = {CAP_SYSLOG, CAP_SYS_TIME, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_MKNOD};

Result<> drop_capabilities() {
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return system_error("cannot read capabilities");
  for (const int capability : dropped) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EINVAL) {
      return system_error("cannot drop capability " + std::to_string(capability));
    }
    const unsigned bit = 1U << (capability & 31);
    auto& word = data[capability >> 5];
    word.effective &= ~bit;
    word.permitted &= ~bit;
    word.inheritable &= ~bit;
  }
  if (::syscall(SYS_capset, &header, data) != 0) return system_error("cannot set capabilities");
  return {};
}

Result<> configure_network(const LabNode& node) {
  std::string lines = "link set lo up\naddr add " + node.oob_address +
                      "/16 dev oob0\nlink set oob0 up\n";
  for (const auto& port : node.ports) lines += "link set " + port.interface + " up\n";
  return run_ip_batch(lines);
}

/// The supervisor writes one byte when the cables are plugged; no byte means that it is gone.
Result<> wait_for_cables() {
  char byte = 0;
  const auto count = ::read(sync_fd, &byte, 1);
  ::close(sync_fd);
  if (count != 1) return make_error(Code::unavailable, "the supervisor gave up on this node");
  return {};
}

struct BootFiles {
  int agent_log = -1;
  int node_folder = -1;
};

Result<BootFiles> open_boot_files(const LabPaths& paths, const LabNode& node) {
  BootFiles files;
  const std::string log = paths.log() + "/agent-" + node.name + ".log";
  files.agent_log = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  files.node_folder = ::open(paths.node(node.name).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (files.agent_log < 0 || files.node_folder < 0) return system_error("cannot open " + log);
  return files;
}

/// Tells the supervisor that this boot is complete; its folder cannot be named any more.
Result<> report_booted(BootFiles& files) {
  const int fd = ::openat(files.node_folder, "booted", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return system_error("cannot report the boot");
  ::close(fd);
  ::close(files.node_folder);
  return {};
}

Result<> boot(const std::string& spec_file, const std::string& name) {
  const LabSpec spec = TRY(load_spec(spec_file));
  const LabPaths paths = paths_of(spec);
  const LabNode* node = nullptr;
  const auto all = hardware_of(spec);
  for (const auto& candidate : all) {
    if (candidate.name == name) node = &candidate;
  }
  if (node == nullptr) return make_error(Code::not_found, "the lab has no node " + name);
  TRY_VOID(wait_for_cables());
  TRY_VOID(write_text(paths.node(name) + "/host_pid",
                      std::to_string(host_pid_of_self(paths.host_proc())) + "\n"));
  BootFiles files = TRY(open_boot_files(paths, *node));
  TRY_VOID(enter_node_root(spec, *node));
  if (::sethostname(name.c_str(), name.size()) != 0) return system_error("cannot set the name");
  TRY_VOID(configure_network(*node));
  TRY_VOID(drop_capabilities());
  block_keeper_signals();
  TRY_VOID(report_booted(files));
  keep_agent(files.agent_log);
  return {};
}

}  // namespace

int node_init_main(const std::vector<std::string>& args) {
  std::string spec_file;
  std::string node;
  for (std::size_t i = 0; i + 1 < args.size(); ++i) {
    if (args[i] == "--spec") spec_file = args[i + 1];
    if (args[i] == "--node") node = args[i + 1];
  }
  if (::getpid() != 1 || spec_file.empty() || node.empty()) {
    std::fprintf(stderr, "lab node-init: is started by the lab's supervisor only\n");
    return 2;
  }
  const auto done = boot(spec_file, node);
  if (done) return 0;
  std::fprintf(stderr, "node-init: %s\n", done.error().message().c_str());
  return 1;
}

}  // namespace tundish::lab
