// What programs of active checks print: any text is an error or a result that has something in it.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "codec/tools/tool_output.hpp"

namespace {

using namespace tundish::tools;  // NOLINT: all of it is under test

void look_at_rows(std::string_view text) {
  if (const auto run = parse_nccl_tests(text)) {
    tundish::check(!run->rows.empty(), "a run has rows");
    for (const auto& row : run->rows) {
      tundish::check(row.busbw_in >= 0 && row.busbw_out >= 0 && row.wrong >= 0, "sane");
    }
  }
  if (const auto rows = parse_ib_bandwidth(text)) {
    tundish::check(!rows->empty() && rows->back().average_gbit_per_s >= 0, "sane");
  }
  if (const auto gpus = parse_gpu_burn(text)) tundish::check(!gpus->empty(), "it tells of GPUs");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto diag = parse_dcgm_diag(text)) {
    tundish::check(!diag->results.empty(), "a diagnostic has results");
  }
  if (const auto cases = parse_nvbandwidth(text)) {
    tundish::check(!cases->empty(), "it has test cases");
    for (const auto& one : *cases) {
      tundish::check(!one.name.empty() && !one.status.empty(), "each with a name and a status");
      for (const auto& row : one.gbyte_per_s) {
        for (const auto& rate : row) tundish::check(!rate || std::isfinite(*rate), "finite");
      }
    }
  }
  if (const auto jobs = parse_fio(text)) {
    tundish::check(!jobs->empty() && jobs->front().read_bytes >= 0, "it has jobs");
  }
  look_at_rows(text);
  return 0;
}
