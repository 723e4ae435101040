// Source: linux-rdma/perftest src/perftest_parameters.h (RESULT_FMT_G) and write_bw.c, release
// 24.07; checked 2026-11
#include "base/text.hpp"
#include "codec/tools/tool_output.hpp"

namespace tundish::tools {
namespace {

/// Gbit/s. No port of today has a tenth of it (XDR: 800); more is a slip of the program.
constexpr double most_rate = 10'000;

}  // namespace

Result<std::vector<IbRow>> parse_ib_bandwidth(std::string_view text) {
  if (text.size() > most_output) return make_error(Code::corrupt, "too much output");
  std::vector<IbRow> out;
  bool in_table = false;
  for (const auto& line : split(text, '\n')) {
    const auto words = words_of(line);
    if (!words.empty() && words[0] == "#bytes") {
      if (line.find("BW average[Gb/sec]") == std::string::npos) {
        return make_error(Code::corrupt, "the unit is not Gb/sec: " + std::string(trim(line)));
      }
      in_table = true;
      continue;
    }
    // Bytes, iterations, peak, average, message rate; more columns where they were asked for.
    if (!in_table || words.size() < 5 || !parse_integer(words[0])) continue;
    const auto iterations = parse_integer(words[1]);
    const auto peak = parse_real(words[2]);
    const auto average = parse_real(words[3]);
    const bool sane = peak && average && *peak >= 0 && *average >= 0 && *average <= most_rate;
    if (!iterations || !sane) {
      return make_error(Code::corrupt, "a row is not understood: " + std::string(trim(line)));
    }
    out.push_back({parse_integer(words[0]).value_or(0), *iterations, *average});
    if (out.size() > 256) return make_error(Code::corrupt, "too many rows");
  }
  if (out.empty()) return make_error(Code::corrupt, "no row of results");
  return out;
}

}  // namespace tundish::tools
