#pragma once
// What the programs of active checks print. Parsers are total: whatever does not have the shape of
// a finished run is an error, never a result.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tundish::tools {

/// Longer output is refused: no tool writes so much in a sane run.
inline constexpr std::size_t most_output = 4 << 20;

/// Numbers as people read them, up to `decimals` behind the point, rounded.
std::string render_real(double value, int decimals);
/// Words between blanks.
std::vector<std::string> words_of(std::string_view line);
/// The whole word as a number that is finite; nullopt for anything else.
std::optional<double> parse_real(std::string_view word);

/// One result of one test of dcgmi diag, for one GPU or the whole node.
struct DcgmResult {
  std::string category;
  std::string test;
  std::string gpu;     ///< DCGM's index; empty: the node's
  std::string status;  ///< Pass, Fail, Warn, Skip, Not Run
  std::string warning;
  int severity = 0;  ///< of the gravest warning, dcgmErrorSeverity_t; 0: none is told
};
struct DcgmDiag {
  std::string version;
  std::vector<DcgmResult> results;
};
/// Of `dcgmi diag -j`, DCGM 3 and 4. An error that DCGM itself tells is `unavailable`.
Result<DcgmDiag> parse_dcgm_diag(std::string_view text);

/// Gravest first is not the order of the numbers. Source: NVIDIA/DCGM dcgm_errors.h,
/// dcgmErrorSeverity_t; checked 2026-11
enum class DcgmSeverity { none, monitor, isolate, unknown, triage, config, reset };

/// One test case of nvbandwidth; absent: not measured (a GPU and itself).
struct CopyMatrix {
  std::string name;
  std::string status;  ///< Passed, Waived, Error, Not Found
  std::string error;
  std::vector<std::vector<std::optional<double>>> gbyte_per_s;
};
/// Of `nvbandwidth -j`. An error that it tells of the whole run is `unavailable`.
Result<std::vector<CopyMatrix>> parse_nvbandwidth(std::string_view text);

struct NcclRow {
  std::int64_t bytes = 0;
  double busbw_out = 0;  ///< GB/s, out of place
  double busbw_in = 0;   ///< GB/s, in place
  std::int64_t wrong = 0;
};
struct NcclRun {
  int ranks = 0;
  std::vector<NcclRow> rows;
  std::int64_t out_of_bounds = 0;
  double average_busbw = 0;
};
/// Of all_reduce_perf and its sisters, nccl-tests 2.x. A run without its last lines is `corrupt`.
Result<NcclRun> parse_nccl_tests(std::string_view text);

struct IbRow {
  std::int64_t bytes = 0;
  std::int64_t iterations = 0;
  double average_gbit_per_s = 0;
};
/// Of ib_write_bw --report_gbits; another unit is refused.
Result<std::vector<IbRow>> parse_ib_bandwidth(std::string_view text);

struct BurntGpu {
  int index = 0;
  bool faulty = false;
  std::optional<std::int64_t> gflops;  ///< of the last report
};
/// Of gpu_burn. A run that did not come to its end is `corrupt`.
Result<std::vector<BurntGpu>> parse_gpu_burn(std::string_view text);

struct FioJob {
  std::string name;
  int error = 0;
  std::int64_t read_bytes_per_s = 0;
  std::int64_t write_bytes_per_s = 0;
  std::int64_t read_bytes = 0;
  std::int64_t write_bytes = 0;
};
/// Of fio --output-format=json.
Result<std::vector<FioJob>> parse_fio(std::string_view text);

}  // namespace tundish::tools
