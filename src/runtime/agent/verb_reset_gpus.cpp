#include <filesystem>

#include "base/text.hpp"
#include "model/pci_address.hpp"
#include "runtime/agent/verbs.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

const GpuReading* find_gpu(const GpuSnapshot& snapshot, const std::string& pci) {
  for (const auto& gpu : snapshot.gpus) {
    if (gpu.pci == pci) return &gpu;
  }
  return nullptr;
}

/// A lost GPU cannot be reset, and one that does not answer cannot be shown to be free.
Result<> check_resettable(const GpuSnapshot& snapshot, const std::string& pci) {
  const GpuReading* gpu = find_gpu(snapshot, pci);
  if (gpu == nullptr) return make_error(Code::not_found, "the driver lists no GPU at " + pci);
  if (gpu->lost.value_or(false)) {
    return make_error(Code::unsupported, "GPU " + pci + " is lost: only a reboot brings it back");
  }
  return {};
}

/// Persistence mode keeps a GPU open, in its daemon, and a reset of an open GPU is refused. It is
/// off while this lives, where it was on, however the reset ends. Where the tool cannot switch it,
/// whoever still holds the GPU is found by refuse_busy().
/// Source: NVIDIA/NVSentinel #1690; checked 2026-11.
class PersistencePause {
 public:
  explicit PersistencePause(const VerbTools& tools) : tools_(tools) {}
  PersistencePause(const PersistencePause&) = delete;
  PersistencePause& operator=(const PersistencePause&) = delete;
  ~PersistencePause() {
    for (const auto& pci : paused_) (void)set(pci, "1");
  }
  void pause(const GpuSnapshot& snapshot, const std::string& pci) {
    const GpuReading* gpu = find_gpu(snapshot, pci);
    if (gpu && gpu->persistence.value_or(false) && set(pci, "0")) paused_.push_back(pci);
  }

 private:
  bool set(const std::string& pci, const char* mode) const {
    process::Command command;
    command.argv = {tools_.config.gpu_tool, "-pm", mode, "-i", pci + ".0"};
    command.limit = seconds(15);
    const auto output = process::run(command);
    return output && output->ok();
  }
  const VerbTools& tools_;
  std::vector<std::string> paused_;
};

/// Processes with the GPU's device file open. Without the driver's own folder its minor number is
/// not known, and the tool's refusal is the only guard.
Result<> refuse_busy(const std::string& proc, const std::string& pci) {
  const auto text = process::read_file(proc + "/driver/nvidia/gpus/" + pci + ".0/information");
  const std::size_t at = text ? text->find("Device Minor:") : std::string::npos;
  if (at == std::string::npos) return {};
  const std::size_t end = text->find('\n', at);
  const std::string minor(trim(text->substr(at + 13, end - at - 13)));
  const std::string device = "/dev/nvidia" + minor;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(proc, failed)) {
    std::error_code gone;
    for (const auto& fd : fs::directory_iterator(entry.path() / "fd", gone)) {
      std::error_code closed;
      if (fs::read_symlink(fd.path(), closed) != device) continue;
      const std::string name = process::read_file(entry.path() / "comm").value_or("unnamed");
      return make_error(Code::conflict, std::string(trim(name)) + ", process " +
                                            entry.path().filename().string() + ", holds GPU " +
                                            pci);
    }
  }
  return {};
}

Result<> reset_one(const std::string& pci, const VerbTools& tools, const Deadline& deadline) {
  process::Command command;
  command.argv = {tools.config.gpu_tool, "--gpu-reset", "-i", pci + ".0"};
  command.limit = deadline.at_most(minutes(2));
  const auto output = TRY(process::run(command));
  if (output.ok()) return {};
  const std::string words = output.out + output.err;
  const bool busy = words.find("In use by") != std::string::npos ||
                    words.find("being used by") != std::string::npos;
  const std::string first = output.out.substr(0, output.out.find("\n\n"));
  return make_error(busy ? Code::conflict : Code::unavailable,
                    "reset of " + pci + ": " + output.summary() + "; " + first.substr(0, 400));
}

Result<> verify(const std::vector<std::string>& devices, const VerbTools& tools) {
  const GpuSnapshot after = TRY(tools.gatherer.gpus());
  for (const auto& pci : devices) {
    const GpuReading* gpu = find_gpu(after, pci);
    if (gpu == nullptr || gpu->lost.value_or(true)) {
      return make_error(Code::unavailable, "GPU " + pci + " did not come back from its reset");
    }
    if (gpu->recovery_action.value_or(0) != 0) {
      return make_error(Code::unavailable, "GPU " + pci + " still asks for recovery " +
                                               std::to_string(*gpu->recovery_action));
    }
    TRY_VOID(tools.events.forget_device(pci));
  }
  return {};
}

}  // namespace

Result<VerbNote> verb_reset_gpus(const VerbCall& call, const VerbTools& tools) {
  const Deadline deadline(milliseconds(call.limit_ms));
  if (call.devices.empty()) return make_error(Code::invalid, "no GPU to reset");
  std::vector<std::string> devices;
  for (const auto& text : call.devices) {
    const auto pci = normalise_pci(text);
    if (!pci) return make_error(Code::invalid, "a device is no PCI address");
    devices.push_back(*pci);
  }
  const GpuSnapshot before = TRY(tools.gatherer.gpus());
  for (const auto& pci : devices) TRY_VOID(check_resettable(before, pci));
  {
    PersistencePause persistence(tools);
    for (const auto& pci : devices) persistence.pause(before, pci);
    for (const auto& pci : devices) TRY_VOID(refuse_busy(tools.config.proc_dir, pci));
    const auto alone = tools.gatherer.hold_gpus();  // a snapshot would count as a client
    for (const auto& pci : devices) TRY_VOID(reset_one(pci, tools, deadline));
  }
  TRY_VOID(verify(devices, tools));
  const std::string done = devices.size() == 1
                               ? "1 GPU was reset"
                               : std::to_string(devices.size()) + " GPUs were reset";
  return VerbNote{done, {}, {}};
}

}  // namespace tundish::agent
