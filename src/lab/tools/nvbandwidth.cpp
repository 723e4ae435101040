// Stands in for nvbandwidth on a simulated node. Source: NVIDIA/nvbandwidth json_output.cpp and
// output.cpp, release 0.8; checked 2026-11
#include <functional>
#include <sstream>

#include "lab/tools/parts.hpp"

namespace {

using tundish::lab::GpuState;
using Gpus = std::vector<GpuState>;

/// Rates of a sound H100 in GB/s.
constexpr double bus_rate = 55.3;
constexpr double peer_rate = 391.4;

std::string cell(double rate) {
  std::ostringstream out;
  out << rate;
  return "\"" + out.str() + "\"";
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string out = "[ ";
  for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ", ") + cells[i];
  return out + " ]";
}

std::string bus_matrix(const Gpus& gpus) {
  std::vector<std::string> cells;
  for (const auto& gpu : gpus) cells.push_back(cell(bus_rate * tundish::lab::bus_share(gpu)));
  return "[ " + row_of(cells) + " ]";
}

std::string peer_matrix(const Gpus& gpus) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::vector<std::string> cells;
    for (std::size_t k = 0; k < gpus.size(); ++k) {
      const double links =
          std::min(tundish::lab::link_share(gpus[i]), tundish::lab::link_share(gpus[k]));
      cells.push_back(i == k ? "\"N/A\"" : cell(peer_rate * links));
    }
    rows.push_back(row_of(cells));
  }
  return row_of(rows);
}

std::string test_case(const std::string& name, const Gpus& gpus) {
  const std::string head = "         {\n            \"name\" : \"" + name + "\",\n";
  const bool peers = name.starts_with("device_to_device");
  const bool known = peers || name == "host_to_device_memcpy_ce" ||
                     name == "device_to_host_memcpy_ce";
  if (!known) return head + "            \"status\" : \"Not Found\"\n         }";
  if (peers && gpus.size() < 2) return head + "            \"status\" : \"Waived\"\n         }";
  const std::string what =
      peers ? "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)"
            : "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)";
  return head + "            \"bandwidth_description\" : \"" + what +
         "\",\n            \"bandwidth_matrix\" : " +
         (peers ? peer_matrix(gpus) : bus_matrix(gpus)) +
         ",\n            \"status\" : \"Passed\"\n         }";
}

int fail(const std::string& why) {
  std::printf("{\n   \"nvbandwidth\" : {\n      \"error\" : \"%s\"\n   }\n}\n\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names;
  bool json = false;
  bool taking = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) taking = word == "-t" || word == "--testcase";
    json = json || word == "-j" || word == "--json";
    if (!word.starts_with("-") && taking) names.push_back(word);
  }
  if (!json || names.empty()) {
    std::printf("nvbandwidth CLI: this stand-in takes -j and -t only\n");
    return 1;
  }
  const Gpus gpus = tundish::lab::look_at_gpus();
  if (gpus.empty()) return fail("CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected");
  for (const auto& gpu : gpus) {
    if (gpu.lost != 0) {
      return fail("[CUDA_ERROR_UNKNOWN] unknown error in expression cuInit(0) in main()");
    }
  }
  tundish::lab::work_for(0.7 * static_cast<double>(names.size()));
  std::string cases;
  for (const auto& name : names) cases += (cases.empty() ? "" : ",\n") + test_case(name, gpus);
  std::printf("{\n   \"nvbandwidth\" : {\n      \"CUDA Runtime Version\" : 12040,\n"
              "      \"Driver Version\" : \"550.90.07\",\n      \"git_version\" : \"v0.8\",\n"
              "      \"testcases\" : [\n%s\n      ],\n      \"version\" : \"v0.8\"\n   }\n}\n\n",
              cases.c_str());
  return 0;
}
