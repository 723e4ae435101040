#pragma once
// The agent's configuration file, /etc/tundish/agent.yaml.
#include <string>

#include "base/describe.hpp"
#include "base/result.hpp"
#include "runtime/agent/slurm/slurm.hpp"

namespace tundish::agent {

struct AgentConfig {
  std::string api = "http://10.88.0.1:7443";
  std::string ca_file;
  std::string enrol_token_file = "/etc/tundish/enrol_token";
  std::string hold_file = "/etc/tundish/hold";
  std::string kernel_log = "/dev/kmsg";
  std::string boot_id_file = "/proc/sys/kernel/random/boot_id";
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string gpu_tool = "nvidia-smi";
  std::string catalog_dir = "/usr/share/tundish/catalog";
  std::string oob_interface = "oob0";
  std::string access_interface;
  std::string cuda_library = "libcuda.so.1";
  std::string bind_root = "/run/tundish-hw/storage";
  std::string etc_dir = "/etc";
  std::string state_dir = "/var/lib/tundish";
  std::string run_dir = "/run";
  std::string log_dir = "/var/log/tundish";
  std::string sys_dir = "/sys";
  std::string probe_program = "/proc/self/exe";
  std::int64_t snapshot_interval_ms = 30000;
  std::int64_t heartbeat_ms = 5000;
  std::int64_t pull_wait_ms = 20000;
  std::int64_t probe_limit_ms = 10000;
  std::int64_t spool_bytes = 16 << 20;
  int workers = 4;
  std::string proc_dir = "/proc";
  std::string pressure_dir;
  bool shares_machine = false;
  int check_pace_percent = 100;
  std::string nhc_log = "/var/log/nhc.log";
  std::string gpud_url = "https://127.0.0.1:15132/v1/states";
  std::string node_conditions = "/run/tundish/node_conditions.json";
  std::string soperator_results = "/var/log/soperator/checks.json";
  std::string dcgm_tool = "dcgmi";
  std::string metrics_dir;

  void fields(Fields& f) {
    f(1, "api", api, "URL of tundishd on the out-of-band network, http or https");
    f(2, "ca_file", ca_file, "PEM that signs tundishd's certificate; empty: the system's store");
    f(3, "enrol_token_file", enrol_token_file, "one-time enrolment token");
    f(4, "hold_file", hold_file, "while it exists nothing is reset, wiped, set up or left");
    f(5, "kernel_log", kernel_log, "file with the reading rules of /dev/kmsg");
    f(6, "boot_id_file", boot_id_file, "identity of the running boot");
    f(7, "nvml_library", nvml_library, "driver library of the GPUs");
    f(8, "gpu_tool", gpu_tool, "program that resets GPUs");
    f(9, "catalog_dir", catalog_dir, "folder with xid.yaml and sxid.yaml");
    f(10, "oob_interface", oob_interface, "never configured by a verb: the way to tundishd");
    f(11, "bind_root", bind_root, "sources of storage of type bind lie below it");
    f(12, "etc_dir", etc_dir, "system configuration: passwd, hosts, slurm, ssh keys");
    f(13, "state_dir", state_dir, "identity, spool and journal of the agent");
    f(14, "run_dir", run_dir, "pid files and sockets");
    f(15, "log_dir", log_dir, "logs of daemons that the agent starts");
    f(16, "sys_dir", sys_dir, "sysfs");
    f(17, "probe_program", probe_program, "this program: probes that may hang run in it");
    f(18, "snapshot_interval_ms", snapshot_interval_ms, "milliseconds between looks at the GPUs");
    f(19, "heartbeat_ms", heartbeat_ms, "milliseconds between reports when nothing happens");
    f(20, "pull_wait_ms", pull_wait_ms, "milliseconds that tundishd may hold a pull");
    f(21, "probe_limit_ms", probe_limit_ms, "milliseconds after which a probe counts as hung");
    f(22, "spool_bytes", spool_bytes, "bytes of the witness spool on disk");
    f(23, "workers", workers, "threads that execute verbs");
    f(24, "proc_dir", proc_dir, "procfs");
    f(25, "pressure_dir", pressure_dir, "pressure files, of procfs or of a cgroup; empty: procfs");
    f(32, "shares_machine", shares_machine,
      "a node of a lab: CPUs, memory, disks and clock are another's, and are not judged");
    f(26, "check_pace_percent", check_pace_percent, "of the pause between passive checks; 0: none");
    f(27, "nhc_log", nhc_log, "log of Node Health Check, read where it exists");
    f(28, "gpud_url", gpud_url, "states of gpud, asked where its program is installed");
    f(29, "node_conditions", node_conditions, "Kubernetes conditions of this node, as JSON");
    f(30, "soperator_results", soperator_results, "results of Soperator's checks, as JSON");
    f(33, "metrics_dir", metrics_dir,
      "textfile folder of prometheus-node-exporter; empty: no tundish.prom is written");
    f(31, "dcgm_tool", dcgm_tool, "program that asks a running DCGM; absent: no witness");
    f(35, "cuda_library", cuda_library, "driver library that our own GPU probe computes with");
    f(34, "access_interface", access_interface,
      "of a service node: where people's calls for gateways of clusters come in; empty: none");
  }
};

AgentPaths paths_of(const AgentConfig& config);
/// Unknown keys, bad URLs and intervals are refused by name.
Result<AgentConfig> load_agent_config(const std::string& path);
inline constexpr std::string_view agent_version = "0.1.0";

}  // namespace tundish::agent
