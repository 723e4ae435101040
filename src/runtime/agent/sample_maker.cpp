#include "runtime/agent/sample_maker.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/text.hpp"
#include "codec/limits.hpp"
#include "model/ops/incident_proof.hpp"
#include "runtime/agent/other_programs.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

constexpr Duration save_pause = minutes(10);
/// Sources of one pass over sysfs.
constexpr std::string_view sys_sources[] = {"pci",    "hcas",    "nets",    "arrays",
                                            "drives", "sensors", "counters"};

/// What every node must pass to serve is judged from these.
constexpr std::string_view serve_needs[] = {"gpus",   "hcas",   "hardware",
                                            "events", "mounts", "nameplate"};

bool wants(const std::set<std::string>& needs, const std::string& what) {
  return needs.contains(what);
}

bool wants_sys(const std::set<std::string>& needs) {
  return std::any_of(std::begin(sys_sources), std::end(sys_sources),
                     [&](std::string_view name) { return needs.contains(std::string(name)); });
}

/// Local disks that a full one stops: the system's, the agent's own and the one for scratch files.
std::vector<std::string> local_disks(const AgentConfig& config) {
  return {"/", config.state_dir, "/tmp"};
}

}  // namespace

std::set<std::string> needs_of(const std::vector<PassiveCheck>& checks,
                               const std::vector<std::string>& names) {
  std::set<std::string> out;
  const bool all = names.size() == 1 && names[0] == "*";
  const bool serve = std::find(names.begin(), names.end(), serve_checks) != names.end();
  if (serve || names.empty()) out.insert(std::begin(serve_needs), std::end(serve_needs));
  for (const auto& check : checks) {
    const bool named = std::find(names.begin(), names.end(), check.name) != names.end();
    if (!all && !named) continue;
    for (const auto& need : check.needs) out.insert(need.substr(0, need.find('.')));
  }
  return out;
}

std::vector<RawCounter> counters_of(const GpuSnapshot& snapshot) {
  std::vector<RawCounter> out;
  for (const auto& gpu : snapshot.gpus) {
    if (!gpu.pci || gpu.lost.value_or(false)) continue;
    const auto add = [&](const char* group, const char* name,
                         const std::optional<std::int64_t>& value) {
      if (value) out.push_back({group, *gpu.pci, name, *value});
    };
    add("ecc", "corrected", gpu.ecc_corrected);
    add("pcie", "replays", gpu.pcie_replays);
    add("nvlink", "crc", gpu.nvlink_crc);
    add("nvlink", "replays", gpu.nvlink_replays);
    add("nvlink", "recoveries", gpu.nvlink_recoveries);
  }
  return out;
}

Result<> LimitsFiles::load() {
  const std::string plates = folder_ + "/nameplates.yaml";
  const std::string limits = folder_ + "/thresholds.yaml";
  const std::string plates_text = TRY(process::read_file(plates));
  const std::string limits_text = TRY(process::read_file(limits));
  nameplates_ = TRY(load_nameplates(plates_text, plates));
  thresholds_ = TRY(load_thresholds(limits_text, limits, nameplates_));
  return {};
}

void LimitsFiles::fill(CheckSample& sample) {
  std::string stamp;
  for (const char* const name : {"/nameplates.yaml", "/thresholds.yaml"}) {
    struct stat info {};
    if (::stat((folder_ + name).c_str(), &info) != 0) info = {};
    stamp += std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + ",";
  }
  if (stamp != stamp_) {
    // A file that cannot be read leaves the limits of before in force, and says so.
    const auto loaded = load();
    fault_ = loaded ? "" : loaded.error().message();
    stamp_ = stamp;
  }
  if (!fault_.empty()) sample.faults["limits"] = fault_;
  const std::string& declared = sample.expect.gpu_model;
  const Nameplate* plate = nameplates_.find_product(declared);
  if (!plate) plate = nameplates_.find(declared);
  if (plate) sample.nameplate = *plate;
  if (!plate) {
    sample.faults["nameplate"] =
        declared.empty() ? "the SKU names no GPU model" : "none is called " + declared;
  }
  std::string driver;
  if (sample.gpus) driver = sample.gpus->driver_version.value_or("");
  sample.limits = limits_for(thresholds_, plate ? plate->model : "", driver);
}

SampleMaker::SampleMaker(SampleParts parts)
    : parts_(std::move(parts)),
      memory_(parts_.config.state_dir + "/health.json", parts_.boot_id),
      pressure_(parts_.config.proc_dir, parts_.config.pressure_dir),
      limits_(parts_.config.catalog_dir) {}

void SampleMaker::add_gpus(CheckSample& sample, const GpuLook& gpus) {
  sample.gpus = gpus.gpus;
  sample.gpus_fault = gpus.fault;
  if (gpus.hangs) sample.faults["gpus"] = gpus.fault;
  // A snapshot that nobody renews says nothing of now.
  const Duration oldest = milliseconds(parts_.config.snapshot_interval_ms * 3) + minutes(1);
  if (sample.gpus && sample.now - gpus.at > oldest) {
    sample.gpus.reset();
    sample.gpus_fault = "the last look is " + render_duration(sample.now - gpus.at) + " old";
  }
  if (sample.gpus) (void)memory_.add(counters_of(*sample.gpus), gpus.at);
}

void SampleMaker::add_sys(CheckSample& sample, const std::set<std::string>& needs) {
  if (!wants_sys(needs)) return;
  Duration waited;
  auto look = parts_.gatherer.sys(
      wants(needs, "counters") || wants(needs, "pci") ? SysScope::everything : SysScope::ports,
      waited);
  pressure_.add_wait(waited);
  if (!look) {
    for (const auto name : sys_sources) {
      sample.faults[std::string(name)] = look.error().message();
    }
    sample.hcas_fault = look.error().message();
    return;
  }
  sample.pci = std::move(look->pci);
  sample.nets = std::move(look->nets);
  sample.arrays = std::move(look->arrays);
  sample.drives = std::move(look->drives);
  sample.sensors = std::move(look->sensors);
  sample.hcas = std::move(look->hcas);
  if (sample.hcas) memory_.look_at_ports(*sample.hcas, sample.now);
  sample.faults.merge(look->faults);
  if (links_are_new_.exchange(false)) memory_.forget("net");
  (void)memory_.add(look->counters, sample.now);
  // Its switch shuts the port of a node that serves nobody, and opens it for the next.
  if (sample.expect.services.empty()) memory_.forget("net");
}

void SampleMaker::add_proc(CheckSample& sample, const std::set<std::string>& needs) {
  const std::string& proc = parts_.config.proc_dir;
  if (wants(needs, "processes") || wants(needs, "services")) {
    WatchedNames names{sample.expect.services};
    names.services.push_back("nvidia-imex");
    auto look = look_at_processes(proc, names, memory_.waiting(), sample.now);
    sample.processes = std::move(look.counts);
    sample.services = std::move(look.services);
  }
  if (wants(needs, "cpu")) sample.cpu = read_cpu(proc, parts_.config.sys_dir);
  if (wants(needs, "modules")) sample.modules = read_modules(proc);
  if (wants(needs, "storage")) sample.storage = read_storage(proc);
  if (wants(needs, "mount_table")) {
    if (const auto text = process::read_file(proc + "/self/mountinfo")) {
      sample.mount_table = parse_mount_table(*text);
    } else {
      sample.faults["mount_table"] = text.error().message();
    }
  }
  if (wants(needs, "clock")) {
    if (const auto clock = read_clock())
      sample.clock = *clock;
    else
      sample.faults["clock"] = clock.error().message();
  }
}

/// What several nodes share says nothing of one of them.
void SampleMaker::drop_shared(CheckSample& sample) const {
  if (!parts_.config.shares_machine) return;
  const std::string why = "it is the machine's, which several nodes share";
  for (const char* const name : {"cpu", "clock", "arrays", "drives", "sensors", "disks"}) {
    sample.faults[name] = why;
  }
  sample.cpu.reset();
  sample.clock.reset();
  sample.arrays.reset();
  sample.drives.reset();
  sample.sensors.reset();
  sample.disks.reset();
}

void SampleMaker::add_children(CheckSample& sample, const std::set<std::string>& needs) {
  if (wants(needs, "disks")) sample.disks = parts_.gatherer.disks(local_disks(parts_.config));
  if (wants(needs, "drives") && sample.drives && !sample.drives->empty()) {
    parts_.gatherer.add_drive_health(*sample.drives);
  }
  if (wants(needs, "mounts")) sample.mounts = parts_.gatherer.mounts(sample.expect.exports);
  if (wants(needs, "foreign")) {
    auto foreign = ask_other_programs(parts_.config, sample.now);
    if (!foreign.empty()) sample.foreign = std::move(foreign);
  }
}

CheckSample SampleMaker::make(const Expectation& expect, const std::set<std::string>& needs,
                              const GpuLook& gpus) {
  const std::lock_guard lock(mutex_);
  CheckSample sample;
  sample.expect = expect;
  sample.now = parts_.now();
  pressure_.begin(sample.now);
  add_gpus(sample, gpus);
  limits_.fill(sample);
  add_sys(sample, needs);
  add_proc(sample, needs);
  add_children(sample, needs);
  if (wants(needs, "hardware")) {
    sample.hardware =
        read_hardware(parts_.config.sys_dir, sample.gpus ? &*sample.gpus : nullptr, sample.now);
  }
  if (wants(needs, "events")) parts_.events.fill(sample, parts_.boot_id);
  if (wants(needs, "counters")) sample.counters = memory_.readings(sample.now);
  drop_shared(sample);
  sample.pressure = pressure_.read(parts_.now());
  return sample;
}

Result<> SampleMaker::save() {
  const std::lock_guard lock(mutex_);
  return memory_.save(parts_.now(), save_pause);
}

}  // namespace tundish::agent
