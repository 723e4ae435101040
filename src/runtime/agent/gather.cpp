#include "runtime/agent/gather.hpp"

#include <chrono>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "runtime/agent/mounts.hpp"
#include "runtime/agent/probe.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

struct ProbeText {
  int pid = 0;
  std::string step, json, error_code, error;
};

ProbeText parse_probe(const std::string& text) {
  ProbeText out;
  for (const auto& line : split(text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    const std::string word = line.substr(0, space);
    const std::string rest = line.substr(space + 1);
    if (word == "pid") out.pid = static_cast<int>(parse_integer(rest).value_or(0));
    if (word == "step") out.step = rest;
    if (word == "json") out.json = rest;
    if (word == "error") {
      out.error_code = rest.substr(0, rest.find(' '));
      out.error = rest.substr(out.error_code.size());
    }
  }
  return out;
}

Code code_of(const std::string& name) {
  for (const Code code : {Code::invalid, Code::not_found, Code::unsupported, Code::timeout,
                          Code::corrupt, Code::denied}) {
    if (code_name(code) == name) return code;
  }
  return Code::unavailable;
}

Error hang(const std::string& what, const std::string& step) {
  return make_error(Code::timeout, what + " hangs in step " + step);
}

}  // namespace

Result<Gatherer::Answer> Gatherer::ask(const std::string& kind, const std::string& target) {
  const std::string key = kind + " " + target;
  {
    const std::lock_guard lock(mutex_);
    const auto it = stuck_.find(key);
    if (it != stuck_.end() && process::is_alive(it->second)) {
      Answer answer;
      answer.hung = true;
      answer.step = "an earlier probe, process " + std::to_string(it->second);
      return answer;
    }
    if (it != stuck_.end()) stuck_.erase(it);
  }
  process::Command command;
  command.argv = {options_.probe_program, "--probe", kind, target};
  command.limit = options_.limit;
  const auto start = std::chrono::steady_clock::now();
  const auto output = TRY(process::run(command));
  const ProbeText text = parse_probe(output.out);
  Answer answer;
  answer.step = text.step;
  answer.json = text.json;
  answer.took = microseconds(std::chrono::duration_cast<std::chrono::microseconds>(
                                 std::chrono::steady_clock::now() - start).count());
  answer.hung = output.timed_out || output.abandoned;
  if (output.abandoned && text.pid > 0) {
    const std::lock_guard lock(mutex_);
    stuck_[key] = text.pid;
  }
  if (answer.hung || !answer.json.empty()) return answer;
  if (!text.error.empty()) {
    return make_error(code_of(text.error_code), std::string(trim(text.error)));
  }
  return make_error(Code::unavailable, "probe " + kind + ": " + output.summary());
}

Result<GpuSnapshot> Gatherer::gpus() {
  const std::lock_guard lock(gpus_mutex_);
  const Answer answer = TRY(ask("gpus", options_.nvml_library));
  if (answer.hung) return hang("the GPU driver", answer.step);
  GpuSnapshot snapshot;
  TRY_VOID(parse_json(answer.json, snapshot, Unknown::keep_out));
  remember_identities(snapshot);
  return snapshot;
}

/// Each look is a new process, so what a GPU was before it was lost is remembered here. It is the
/// one from before only when as many GPUs are listed and all others are at their old places.
void Gatherer::remember_identities(GpuSnapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  bool same = snapshot.gpus.size() == last_gpus_.size();
  for (std::size_t i = 0; same && i < last_gpus_.size(); ++i) {
    const auto& uuid = snapshot.gpus[i].uuid;
    same = !uuid || uuid == last_gpus_[i].uuid;
  }
  for (std::size_t i = 0; same && i < last_gpus_.size(); ++i) {
    GpuReading& gpu = snapshot.gpus[i];
    if (!gpu.uuid) gpu.uuid = last_gpus_[i].uuid;
    if (!gpu.serial) gpu.serial = last_gpus_[i].serial;
    if (!gpu.name) gpu.name = last_gpus_[i].name;
    if (!gpu.pci) gpu.pci = last_gpus_[i].pci;
  }
  last_gpus_ = snapshot.gpus;
}

Result<std::vector<HcaPort>> Gatherer::hcas() {
  Duration waited;
  auto look = TRY(sys(SysScope::ports, waited));
  return std::move(look.hcas).value_or(std::vector<HcaPort>());
}

MountProbe Gatherer::probe_mount(const ExportMount& mount) {
  MountProbe probe;
  probe.target = mount.target;
  const auto answer = ask("mount", mount.target);
  if (!answer) {
    probe.state = MountState::failed;
    probe.step = "probe";
    probe.error = answer.error().message();
    return probe;
  }
  if (answer->hung) {
    probe.state = MountState::hung;
    probe.step = answer->step;
  } else if (const auto parsed = parse_json(answer->json, probe, Unknown::keep_out); !parsed) {
    probe.state = MountState::failed;
    probe.step = "probe";
    probe.error = parsed.error().message();
  }
  probe.took = answer->took;
  return probe;
}

std::vector<MountProbe> Gatherer::mounts(const std::vector<ExportMount>& exports) {
  std::vector<MountProbe> out;
  const auto mounts = load_mounts();
  for (const auto& mount : exports) {
    const MountPoint* point = mounts ? find_mount(*mounts, mount.target) : nullptr;
    MountProbe probe;
    probe.target = mount.target;
    if (!mounts) {
      probe.state = MountState::failed;
      probe.step = "probe";
      probe.error = mounts.error().message();
    } else if (point != nullptr) {
      probe = probe_mount(mount);
      probe.type = point->type;
    }
    out.push_back(std::move(probe));
  }
  return out;
}

}  // namespace tundish::agent
