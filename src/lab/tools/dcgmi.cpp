// Stands in for dcgmi on a simulated node: the diagnostic only, as DCGM 4 prints it. What else is
// asked finds no hostengine. Source: NVIDIA/DCGM dcgmi/Diag.cpp and DiagTests.cpp, release 4.6;
// dcgm_errors.h; checked 2026-11
#include <functional>

#include "lab/tools/parts.hpp"

namespace {

using tundish::lab::GpuState;
using Gpus = std::vector<GpuState>;

/// DCGM_ST_NVVS_ERROR, as the shell sees it.
constexpr int test_failed = 226;
constexpr int no_engine = 255;
enum Severity { isolate = 2, config = 5, needs_reset = 6 };
/// DCGM's floors for an H100: GFLOPS of targeted stress.
constexpr double least_stress = 29250;
constexpr double full_stress = 44100;

struct Fault {
  std::string text;
  Severity severity = isolate;
};
/// Empty text: the GPU passes.
using Test = std::function<Fault(const GpuState&)>;

Fault software(const GpuState& gpu) {
  if (gpu.lost != 0) return {"GPU is lost: it is not reachable any more.", isolate};
  if (gpu.remap_failure != 0) return {"Row remapping failed.", isolate};
  if (gpu.remap_pending != 0) return {"Pending row remappings were found.", needs_reset};
  return {};
}

Fault memory(const GpuState& gpu) {
  if (gpu.lost != 0) return {"Unable to create a CUDA context.", isolate};
  return gpu.ecc_uncorrected > 0 ? Fault{"A double-bit error was detected.", isolate} : Fault{};
}

Fault pcie(const GpuState& gpu) {
  if (gpu.nvlinks_lost > 0) return {"NVLink 17 is down.", isolate};
  if (tundish::lab::bus_share(gpu) < 0.5) return {"PCIe width or generation is too low.", isolate};
  return {};
}

Fault diagnostic(const GpuState& gpu) {
  return gpu.wrong_sums > 0 ? Fault{"Miscompare: " + std::to_string(gpu.wrong_sums) + " values.",
                                    isolate}
                            : Fault{};
}

Fault stress(const GpuState& gpu) {
  const double reached = full_stress * tundish::lab::clock_share(gpu);
  if (reached >= least_stress) return {};
  return {"Max stress level of " + std::to_string(static_cast<int>(reached)) +
              " did not reach desired stress level of " +
              std::to_string(static_cast<int>(least_stress)),
          isolate};
}

int failures = 0;

std::string render_test(const std::string& name, const Gpus& gpus, const Test& test) {
  std::string results;
  bool failed = false;
  for (const auto& gpu : gpus) {
    const Fault fault = test(gpu);
    results += results.empty() ? "" : ", ";
    results += R"({"entity_group": "GPU", "entity_group_id": 1, "entity_id": )" +
               std::to_string(gpu.index) + R"(, "status": ")" +
               (fault.text.empty() ? "Pass\"" : "Fail\"");
    if (!fault.text.empty()) {
      failed = true;
      results += R"(, "warnings": [{"error_category": 9, "error_id": 37, "error_severity": )" +
                 std::to_string(fault.severity) + R"(, "warning": ")" + fault.text + "\"}]";
    }
    results += "}";
  }
  failures += failed ? 1 : 0;
  return R"({"name": ")" + name + R"(", "results": [)" + results +
         R"(], "test_summary": {"status": ")" + (failed ? "Fail" : "Pass") + "\"}}";
}

std::string category(const std::string& name, const std::vector<std::string>& tests) {
  std::string out;
  for (const auto& test : tests) out += (out.empty() ? "" : ", ") + test;
  return R"({"category": ")" + name + R"(", "tests": [)" + out + "]}";
}

int run_diag(int level) {
  constexpr double seconds[] = {0, 2, 8, 45, 90};
  const Gpus gpus = tundish::lab::look_at_gpus();
  if (gpus.empty()) {
    std::printf("{\"DCGM Diagnostic\" : {\"runtime_error\" : \"Error: no GPU is there.\"}}\n");
    return no_engine;
  }
  tundish::lab::work_for(seconds[level]);
  std::vector<std::string> out = {
      category("Deployment", {render_test("software", gpus, software)})};
  if (level >= 2) {
    out.push_back(category("Hardware", {render_test("memory", gpus, memory)}));
    out.push_back(category("Integration", {render_test("pcie", gpus, pcie)}));
  }
  if (level >= 3) {
    out.push_back(category("Stress", {render_test("diagnostic", gpus, diagnostic),
                                      render_test("targeted_stress", gpus, stress)}));
  }
  std::string categories;
  for (const auto& one : out) categories += (categories.empty() ? "" : ", ") + one;
  std::printf("{\"DCGM Diagnostic\": {\"test_categories\": [%s]}, \"metadata\": {\"version\": "
              "\"4.6.0\", \"Driver Version Detected\": \"550.90.07\"}}\n",
              categories.c_str());
  return failures > 0 ? test_failed : 0;
}

/// One parameter is TEST.NAME=VALUE, several have a semicolon between. Source: DCGM reference,
/// dcgmi diag, Test parameters; checked 2026-11
bool is_parameter(const std::string& text) {
  const std::size_t dot = text.find('.');
  const std::size_t equals = text.find('=');
  if (dot == std::string::npos || equals == std::string::npos || dot > equals) return false;
  constexpr const char* tests[] = {"memory",          "memory_bandwidth", "pcie", "diagnostic",
                                   "targeted_stress", "targeted_power",   "nvbandwidth"};
  return std::any_of(std::begin(tests), std::end(tests),
                     [&](const char* test) { return text.substr(0, dot) == test; });
}

int refuse(const std::string& word) {
  std::printf("PARSE ERROR: Argument: %s\n             Couldn't find match for argument\n",
              word.c_str());
  return 1;
}

}  // namespace

/// What asks the hostengine: there is none on a simulated node.
int find_no_engine() {
  std::printf("Error: unable to establish a connection to the specified host: localhost\n"
              "Error: Unable to connect to host engine. Host engine connection "
              "invalid/disconnected.\n");
  return no_engine;
}

int main(int argc, char** argv) {
  if (argc < 2 || std::string(argv[1]) != "diag") return find_no_engine();
  int level = 0;
  bool json = false;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-j") {
      json = true;
    } else if (word == "-r" && i + 1 < argc) {
      level = std::atoi(argv[++i]);
    } else if (word == "-p" && i + 1 < argc) {
      if (!is_parameter(argv[++i])) return refuse(argv[i]);
    } else {
      return refuse(word);
    }
  }
  if (level >= 1 && level <= 4 && json) return run_diag(level);
  return find_no_engine();
}
