#include "runtime/agent/active_tools.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace tundish::agent {
namespace {

using Steps = std::vector<ToolStep>;

constexpr Duration longest_short = minutes(3);
constexpr Duration longest_burn = minutes(5);
constexpr Duration longest_nccl = minutes(10);
constexpr Duration longest_dcgm = minutes(45);
constexpr int first_port = 18515;  ///< of perftest; each rail has its own
constexpr int burn_seconds = 60;
constexpr int rail_seconds = 5;
/// A far end that begins a little later.
constexpr Duration pair_patience = seconds(30);

ToolStep step_of(std::string check, std::string package, std::vector<std::string> argv,
                 Duration limit) {
  ToolStep out;
  out.head.check = std::move(check);
  out.head.tool = argv[0];
  out.head.package = std::move(package);
  out.head.command = join(argv, " ");
  out.command.argv = std::move(argv);
  out.command.limit = limit;
  return out;
}

Result<int> count_gpus(const CheckSample& sample) {
  if (!sample.gpus) return make_error(Code::unavailable, "GPUs: " + sample.gpus_fault);
  if (sample.gpus->gpus.empty()) return make_error(Code::unavailable, "no GPU is listed");
  return static_cast<int>(sample.gpus->gpus.size());
}

Result<Steps> plan_gpu_work(const CheckSample& sample, const AgentConfig& config) {
  TRY(count_gpus(sample));
  Steps out;
  for (const auto& gpu : sample.gpus->gpus) {
    if (!gpu.pci) return make_error(Code::unavailable, "the driver tells no PCI address of a GPU");
    ToolStep step = step_of("gpu_work", "the NVIDIA driver",
                            {config.probe_program, "--probe", "gpu_work", *gpu.pci},
                            longest_short);
    step.head.tool = config.cuda_library;
    step.head.device = *gpu.pci;
    step.head.command = "tundish-agent --probe gpu_work " + *gpu.pci;
    step.command.env = {"TUNDISH_CUDA_LIBRARY=" + config.cuda_library};
    out.push_back(std::move(step));
  }
  return out;
}

std::vector<std::string> dcgm_argv(const AgentConfig& config, int level) {
  return {config.dcgm_tool, "diag", "-r", std::to_string(level), "-j"};
}

const char* const dcgm_package = "datacenter-gpu-manager-4-core or datacenter-gpu-manager";

Result<Steps> plan_dcgm_quick(const CheckSample&, const AgentConfig& config) {
  return Steps{step_of("dcgm_quick", dcgm_package, dcgm_argv(config, 1), longest_short)};
}

/// DCGM's own floor for a model may be a slip that nothing can fail: ours goes with the call.
Result<Steps> plan_dcgm_diag(const CheckSample& sample, const AgentConfig& config) {
  auto argv = dcgm_argv(config, 3);
  for (const auto& limit : sample.limits) {
    if (limit.check != "dcgm_diag" || limit.name != "hbm") continue;
    // Source: DCGM reference, dcgmi diag (-p TEST.PARAMETER=VALUE) and Memory Bandwidth Plugin;
    // checked 2026-11. Not yet run against a host engine.
    argv.insert(argv.end(),
                {"-p", "memory_bandwidth.minimum_bandwidth=" + std::to_string(limit.value)});
    break;
  }
  return Steps{step_of("dcgm_diag", dcgm_package, std::move(argv), longest_dcgm)};
}

Result<Steps> plan_nvbandwidth(const CheckSample& sample, const AgentConfig&) {
  TRY(count_gpus(sample));
  return Steps{step_of("nvbandwidth", "github.com/NVIDIA/nvbandwidth",
                       {"nvbandwidth", "-j", "-t", "host_to_device_memcpy_ce",
                        "device_to_host_memcpy_ce", "device_to_device_memcpy_read_ce"},
                       longest_short)};
}

const char* const nccl_package = "nccl-tests (github.com/NVIDIA/nccl-tests)";

/// The largest power of two of which three buffers fit, at most the 16 GiB that the limits are for.
std::string nccl_bytes(const CheckSample& sample) {
  std::int64_t least_mib = 16384 * 4;
  for (const auto& gpu : sample.gpus->gpus) {
    if (gpu.memory_mib) least_mib = std::min(least_mib, *gpu.memory_mib);
  }
  std::int64_t mib = 16384;
  while (mib > 64 && mib * 4 > least_mib) mib /= 2;
  return std::to_string(mib) + "M";
}

std::vector<std::string> nccl_argv(const CheckSample& sample, int gpus) {
  const std::string bytes = nccl_bytes(sample);
  return {"all_reduce_perf", "-b", bytes, "-e", bytes, "-g", std::to_string(gpus),
          "-w", "5", "-n", "20", "-c", "1"};
}

Result<Steps> plan_nccl_local(const CheckSample& sample, const AgentConfig&) {
  const int gpus = TRY(count_gpus(sample));
  if (gpus < 2) return make_error(Code::unavailable, "a node with one GPU has nothing to reduce");
  return Steps{step_of("nccl_local", nccl_package, nccl_argv(sample, gpus), longest_nccl)};
}

/// Built with MPI=1, so that one process on each node makes one all-reduce of all GPUs of both, as
/// its manual starts with `mpirun -np 2 all_reduce_perf ... -g GPUS`. Here each agent starts the
/// process of its own node, and they find each other by the variables through which MPICH is told
/// of a process manager on a port. mpirun itself would need a shell on the other node; Hydra's
/// manual launcher prints what to start there, in words that differ from release to release.
/// Source: nccl-tests README, "Running with MPI" and "Build"; MPICH src/pmi, PMI_PORT and PMI_ID;
/// checked 2026-11
constexpr int pair_port = 18700;
const char* const nccl_mpi_package =
    "nccl-tests built with MPI=1 for MPICH (github.com/NVIDIA/nccl-tests)";

Result<Steps> plan_nccl_pair(const CheckSample& sample, const AgentConfig& config) {
  const int gpus = TRY(count_gpus(sample));
  const PairSide& pair = sample.pair;
  if (pair.role == PairRole::none) {
    return make_error(Code::unavailable, "it needs a second node");
  }
  // The client measures, is rank 0, which alone prints, and has the manager beside it.
  const bool measures = pair.role == PairRole::client;
  const std::string port = std::to_string(pair_port);
  ToolStep step = step_of("nccl_pair", nccl_mpi_package, nccl_argv(sample, gpus), longest_nccl);
  step.command.env = {"PMI_PORT=" + (measures ? "127.0.0.1" : pair.peer_address) + ":" + port,
                      std::string("PMI_ID=") + (measures ? "0" : "1"),
                      "NCCL_SOCKET_IFNAME=" + config.oob_interface};
  step.patience = measures ? seconds(3) : pair_patience;
  if (!measures) return Steps{std::move(step)};
  step.server.emplace();
  step.server->argv = {config.probe_program, "--probe", "pair", port + "," + pair.peer_address};
  step.server->limit = longest_nccl;
  return Steps{std::move(step)};
}

std::vector<std::string> rail_argv(const HcaPort& port, int index) {
  return {"ib_write_bw", "-d", port.device, "-i", port.port, "-p",
          std::to_string(first_port + index), "-F", "--report_gbits", "-D",
          std::to_string(rail_seconds)};
}

ToolStep plan_rail(const PairSide& pair, const HcaPort& port, int index) {
  auto argv = rail_argv(port, index);
  process::Command server;
  server.argv = argv;
  server.limit = longest_short;
  if (pair.role == PairRole::none) argv.push_back("127.0.0.1");
  if (pair.role == PairRole::client) argv.push_back(pair.peer_address);
  ToolStep step = step_of("ib_write_bw", "perftest", std::move(argv), longest_short);
  step.head.device = port.device + "/" + port.port;
  if (pair.role == PairRole::none) step.server = std::move(server);
  step.patience = pair.role == PairRole::client ? pair_patience : seconds(3);
  return step;
}

Result<Steps> plan_ib_write_bw(const CheckSample& sample, const AgentConfig&) {
  if (!sample.hcas) return make_error(Code::unavailable, "HCAs: " + sample.hcas_fault);
  Steps out;
  for (const auto& port : *sample.hcas) {
    if (port.is_active()) out.push_back(plan_rail(sample.pair, port, static_cast<int>(out.size())));
  }
  if (out.empty()) return make_error(Code::unavailable, "no HCA port is active");
  return out;
}

Result<Steps> plan_gpu_burn(const CheckSample& sample, const AgentConfig&) {
  TRY(count_gpus(sample));
  return Steps{step_of("gpu_burn", "gpu-burn (github.com/wilicc/gpu-burn)",
                       {"gpu_burn", "-tc", std::to_string(burn_seconds)}, longest_burn)};
}

Result<Steps> plan_fio(const CheckSample&, const AgentConfig& config) {
  // A node of a lab has no disk of its own: what is proved there is that data comes back.
  const std::string size = config.shares_machine ? "8M" : "1G";
  const std::string file = config.state_dir + "/active-fio.data";
  ToolStep step = step_of("fio", "fio",
                          {"fio", "--name=local", "--filename=" + file, "--size=" + size,
                           "--rw=write", "--bs=1M", "--direct=1", "--ioengine=libaio",
                           "--iodepth=8", "--verify=crc32c", "--do_verify=1", "--verify_fatal=1",
                           "--end_fsync=1", "--unlink=1", "--output-format=json"},
                          longest_short);
  step.head.device = config.state_dir;
  return Steps{std::move(step)};
}

using Planner = Result<Steps> (*)(const CheckSample&, const AgentConfig&);

const std::map<std::string, Planner>& planners() {
  static const std::map<std::string, Planner> all = {
      {"gpu_work", plan_gpu_work},       {"dcgm_quick", plan_dcgm_quick},
      {"dcgm_diag", plan_dcgm_diag},     {"nvbandwidth", plan_nvbandwidth},
      {"nccl_local", plan_nccl_local},   {"nccl_pair", plan_nccl_pair},
      {"ib_write_bw", plan_ib_write_bw}, {"gpu_burn", plan_gpu_burn},
      {"fio", plan_fio}};
  return all;
}

}  // namespace

std::vector<std::string> active_checks() {
  std::vector<std::string> out;
  for (const auto& [name, planner] : planners()) out.push_back(name);
  return out;
}

Result<std::vector<ToolStep>> plan_active(const std::string& check, const CheckSample& sample,
                                          const AgentConfig& config) {
  const auto found = planners().find(check);
  if (found == planners().end()) {
    return make_error(Code::unsupported, "this agent runs no active check " + check);
  }
  return found->second(sample, config);
}

}  // namespace tundish::agent
