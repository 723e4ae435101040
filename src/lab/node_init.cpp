#include "lab/node_init.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "lab/links.hpp"
#include "lab/lldp.hpp"
#include "lab/namespaces.hpp"
#include "lab/node_root.hpp"
#include "lab/root_parts.hpp"
#include "lab/service_keeper.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

const std::string networks = "/run/netns";
const char* const agent_path = "/run/tundish-hw/bin/tundish-agent";

Result<> configure_network(const LabNode& node) {
  // A connection that outlives its programs keeps the node's network, and with it the cables, from
  // the next boot.
  TRY_VOID(write_text("/proc/sys/net/ipv4/tcp_orphan_retries", "1\n"));
  std::string lines =
      "link set lo up\naddr add " + node.oob_address + "/16 dev oob0\nlink set oob0 up\n";
  if (node.role == "service") lines += "link set acc0 up\n";
  for (const auto& port : node.ports) lines += "link set " + port.interface + " up\n";
  return run_ip_batch(lines);
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
  KeeperPlan plan;
  plan.log_fd = files.agent_log;
  plan.services.push_back({"agent",
                           ServiceKind::daemon,
                           {agent_path, "--config", "/etc/tundish/agent.yaml"},
                           {},
                           {},
                           {}});
  if (spec.fabric == FabricKind::frr) {
    TRY_VOID(prepare_lldp());
    plan.services.push_back(lldp_service({"eth*", ""}));
    if (node->role == "service") {
      // A cluster's port is heard by the namespace that it is in.
      TRY_VOID(make_folder(networks));
      plan.watched_folder = networks;
      plan.for_entry = [](const std::string& entry) { return lldp_service({"eth*", entry}); };
    }
  }
  block_keeper_signals();
  TRY_VOID(report_booted(files));
  keep_services(std::move(plan));
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
