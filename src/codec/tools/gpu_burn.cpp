// Source: wilicc/gpu-burn gpu_burn-drv.cpp (listenClients), 2025; checked 2026-11
#include "base/text.hpp"
#include "codec/tools/tool_output.hpp"

namespace tundish::tools {
namespace {

/// The rates of "37.5%  proc'd: 1024 (51234 Gflop/s) - 1020 (51100 Gflop/s)   errors: 0 - 0 ...".
std::vector<std::int64_t> rates_of(std::string_view report) {
  std::vector<std::int64_t> out;
  report = report.substr(0, report.find("errors:"));
  for (std::size_t at = report.find('('); at != std::string_view::npos;
       at = report.find('(', at + 1)) {
    const std::size_t end = report.find(' ', at);
    if (end == std::string_view::npos || !report.substr(end).starts_with(" Gflop/s)")) continue;
    if (const auto rate = parse_integer(report.substr(at + 1, end - at - 1))) out.push_back(*rate);
  }
  return out;
}

/// "\tGPU 3: FAULTY"
std::optional<BurntGpu> gpu_of(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() != 3 || words[0] != "GPU" || !words[1].ends_with(':')) return std::nullopt;
  const auto index = parse_integer(std::string_view(words[1]).substr(0, words[1].size() - 1));
  const bool known = words[2] == "OK" || words[2] == "FAULTY";
  if (!index || *index < 0 || *index > 1023 || !known) return std::nullopt;
  return BurntGpu{static_cast<int>(*index), words[2] == "FAULTY", std::nullopt};
}

}  // namespace

Result<std::vector<BurntGpu>> parse_gpu_burn(std::string_view text) {
  if (text.size() > most_output) return make_error(Code::corrupt, "too much output");
  std::vector<BurntGpu> out;
  std::vector<std::int64_t> rates;
  std::optional<std::int64_t> announced;
  for (const auto& line : split(text, '\n')) {
    // Reports overwrite each other with a carriage return.
    for (const auto& report : split(line, '\r')) {
      if (report.find("proc'd:") != std::string::npos) rates = rates_of(report);
    }
    const auto words = words_of(line);
    if (words.size() == 3 && words[0] == "Tested") announced = parse_integer(words[1]);
    if (!announced) continue;
    if (auto gpu = gpu_of(line)) out.push_back(*gpu);
  }
  if (!announced || out.empty()) return make_error(Code::corrupt, "the run has no end");
  if (*announced != static_cast<std::int64_t>(out.size())) {
    return make_error(Code::corrupt, "it tested " + std::to_string(*announced) +
                                         " GPUs and tells " + std::to_string(out.size()));
  }
  for (auto& gpu : out) {
    const auto at = static_cast<std::size_t>(gpu.index);
    if (rates.size() == out.size() && at < rates.size()) gpu.gflops = rates[at];
  }
  return out;
}

}  // namespace tundish::tools
