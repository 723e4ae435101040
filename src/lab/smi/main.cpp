// Stands in for nvidia-smi on a simulated node: lists, queries and resets GPUs of the state file.
// Words and exit codes follow the real tool. Source: nvidia-smi(1), RETURN VALUE; messages as
// quoted in NVIDIA/NVSentinel #1690 and NVIDIA/gpu-operator #118; checked 2026.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "lab/gpu_state.hpp"
#include "model/pci_address.hpp"

namespace {

using tundish::lab::GpuState;
using tundish::lab::GpuStates;

enum Exit { success = 0, bad_argument = 2, not_found = 6, no_driver = 9, lost = 15, failed = 255 };

std::string state_file() {
  const char* path = std::getenv("FAKE_NVML_STATE");
  return path != nullptr ? path : "/run/tundish-hw/nvml.state";
}

/// "00000000:3B:00.0", the tool's own spelling.
std::string long_bus_id(const GpuState& gpu) {
  const std::string pci = tundish::normalise_pci(gpu.pci).value_or(gpu.pci);
  std::string upper = std::string(pci.size() < 16 ? 4 : 0, '0') + pci + ".0";
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

int report_lost(const GpuState& gpu) {
  std::printf("Unable to determine the device handle for GPU%lld: %s: GPU is lost.  "
              "Reboot the system to recover this GPU\n",
              static_cast<long long>(gpu.index), long_bus_id(gpu).substr(4).c_str());
  return lost;
}

int list(const GpuStates& states) {
  int result = success;
  for (const GpuState& gpu : states.gpus) {
    if (gpu.lost != 0) {
      result = report_lost(gpu);
    } else {
      std::printf("GPU %lld: %s (UUID: %s)\n", static_cast<long long>(gpu.index), gpu.name.c_str(),
                  gpu.uuid.c_str());
    }
  }
  return result;
}

std::string number_or_na(std::int64_t value) {
  return value < 0 ? "[N/A]" : std::to_string(value);
}

using Column = std::function<std::string(const GpuState&)>;
const std::map<std::string, Column>& columns() {
  static const std::map<std::string, Column> all = {
      {"index", [](const GpuState& g) { return std::to_string(g.index); }},
      {"uuid", [](const GpuState& g) { return g.uuid; }},
      {"serial", [](const GpuState& g) { return g.serial; }},
      {"name", [](const GpuState& g) { return g.name; }},
      {"pci.bus_id", long_bus_id},
      {"ecc.errors.uncorrected.volatile.total",
       [](const GpuState& g) { return number_or_na(g.ecc_uncorrected); }},
      {"ecc.errors.corrected.volatile.total",
       [](const GpuState& g) { return number_or_na(g.ecc_corrected); }},
      {"temperature.gpu", [](const GpuState& g) { return number_or_na(g.temp); }}};
  return all;
}

int query(const GpuStates& states, const std::string& fields) {
  const auto names = tundish::split(fields, ',');
  for (const auto& name : names) {
    if (columns().contains(name)) continue;
    std::printf("Field \"%s\" is not a valid field to query.\n\n", name.c_str());
    return bad_argument;
  }
  int result = success;
  for (const GpuState& gpu : states.gpus) {
    if (gpu.lost != 0) {
      result = report_lost(gpu);
      continue;
    }
    std::vector<std::string> values;
    for (const auto& name : names) values.push_back(columns().at(name)(gpu));
    std::printf("%s\n", tundish::join(values, ", ").c_str());
  }
  return result;
}

int reset_one(const GpuStates& states, const std::string& which) {
  const auto gpu = tundish::lab::find_gpu(states, which);
  if (!gpu) {
    std::printf("No devices were found\n");
    return not_found;
  }
  const auto done = tundish::lab::reset_gpu(state_file(), which);
  if (done) {
    std::printf("GPU %s was successfully reset.\n", long_bus_id(*gpu).c_str());
    return success;
  }
  if (done.error().code == tundish::Code::unavailable && gpu->lost != 0) return report_lost(*gpu);
  const bool busy = done.error().code == tundish::Code::conflict;
  std::printf("The following GPUs could not be reset:\n  GPU %s: %s\n", long_bus_id(*gpu).c_str(),
              busy ? "In use by another client" : "Unknown Error");
  if (busy) {
    std::printf("\n1 device is currently being used by one or more other processes (e.g., Fabric "
                "Manager, CUDA application, graphics application such as an X server, or a "
                "monitoring application such as another instance of nvidia-smi). Please first kill "
                "all processes using this device and all compute applications running in the "
                "system.\n");
  }
  return failed;
}

int reset(const GpuStates& states, const std::string& which) {
  std::vector<std::string> chosen = tundish::split(which, ',');
  if (which.empty()) {
    chosen.clear();
    for (const GpuState& gpu : states.gpus) chosen.push_back(std::to_string(gpu.index));
  }
  int result = success;
  for (const auto& one : chosen) {
    if (const int got = reset_one(states, one); got != success) result = got;
  }
  if (result == success) std::printf("All done.\n");
  return result;
}

struct Request {
  bool list = false;
  bool reset = false;
  std::string which;
  std::string fields;
  std::string format;
  std::string bad;  ///< the first word nobody knows
};

Request parse_arguments(const std::vector<std::string>& words) {
  Request out;
  const auto value_of = [](const std::string& word) { return word.substr(word.find('=') + 1); };
  for (std::size_t i = 0; i < words.size() && out.bad.empty(); ++i) {
    const std::string& word = words[i];
    if (word == "-L" || word == "--list-gpus") {
      out.list = true;
    } else if (word == "-r" || word == "--gpu-reset") {
      out.reset = true;
    } else if (word == "-i" && i + 1 < words.size()) {
      out.which = words[++i];
    } else if (word.starts_with("--id=")) {
      out.which = value_of(word);
    } else if (word.starts_with("--query-gpu=")) {
      out.fields = value_of(word);
    } else if (word.starts_with("--format=")) {
      out.format = value_of(word);
    } else {
      out.bad = word;
    }
  }
  return out;
}

int refuse(const std::string& word) {
  std::printf("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n"
              "Not known here: %s\n", word.c_str());
  return bad_argument;
}

}  // namespace

int main(int argc, char** argv) {
  const Request request = parse_arguments(std::vector<std::string>(argv + 1, argv + argc));
  if (!request.bad.empty()) return refuse(request.bad);
  auto states = tundish::lab::load_gpu_states(state_file());
  if (!states) {
    std::printf("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
                "Make sure that the latest NVIDIA driver is installed and running.\n\n");
    return no_driver;
  }
  if (request.reset) return reset(*states, request.which);
  if (!request.which.empty()) {
    auto gpu = tundish::lab::find_gpu(*states, request.which);
    if (!gpu) {
      std::printf("No devices were found\n");
      return not_found;
    }
    states->gpus = {std::move(*gpu)};
  }
  if (request.list) return list(*states);
  if (request.fields.empty()) return refuse("(no verb)");
  // nounits changes nothing: none of the fields has a unit.
  if (request.format != "csv,noheader" && request.format != "csv,noheader,nounits") {
    return refuse("--format=" + request.format);
  }
  return query(*states, request.fields);
}
