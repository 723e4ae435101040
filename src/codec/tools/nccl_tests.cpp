// Source: NVIDIA/nccl-tests src/util.cu and src/common.cu, release 2.17; issues #131, #293; checked
// 2026-11
#include "base/text.hpp"
#include "codec/tools/tool_output.hpp"

namespace tundish::tools {
namespace {

constexpr std::size_t most_rows = 4096;

/// size count type redop root, then time algbw busbw #wrong twice.
constexpr std::size_t columns = 13;
enum Column : std::size_t { size = 0, busbw_out = 7, wrong_out = 8, busbw_in = 11, wrong_in = 12 };

/// A count of wrong elements is printed with %g; N/A: results were not compared.
Result<std::int64_t> wrong_of(const std::string& word) {
  if (word == "N/A") return make_error(Code::corrupt, "results were not compared");
  const auto value = parse_real(word);
  if (!value || *value < 0 || *value > 9e15) return make_error(Code::corrupt, "bad count " + word);
  return static_cast<std::int64_t>(*value);
}

Result<NcclRow> read_row(const std::vector<std::string>& words) {
  NcclRow row;
  const auto bytes = parse_integer(words[size]);
  const auto out = parse_real(words[busbw_out]);
  const auto in = parse_real(words[busbw_in]);
  if (!bytes || *bytes < 0 || !out || !in || *out < 0 || *in < 0) {
    return make_error(Code::corrupt, "a row is not understood: " + join(words, " "));
  }
  row.bytes = *bytes;
  row.busbw_out = *out;
  row.busbw_in = *in;
  const std::int64_t wrong = TRY(wrong_of(words[wrong_out]));
  row.wrong = wrong + TRY(wrong_of(words[wrong_in]));
  return row;
}

/// What stands behind the colon of "# Avg bus bandwidth    : 466.2".
std::string after_colon(std::string_view line) {
  const auto words = words_of(line.substr(line.find(':') + 1));
  return words.empty() ? "" : words[0];
}

}  // namespace

Result<NcclRun> parse_nccl_tests(std::string_view text) {
  if (text.size() > most_output) return make_error(Code::corrupt, "too much output");
  NcclRun out;
  bool has_bounds = false;
  bool has_average = false;
  for (const auto& line : split(text, '\n')) {
    if (line.starts_with("#  Rank")) ++out.ranks;
    if (line.starts_with("# Out of bounds values")) {
      const auto count = parse_integer(after_colon(line));
      if (!count) return make_error(Code::corrupt, "bad count: " + line);
      out.out_of_bounds = *count;
      has_bounds = true;
    }
    if (line.starts_with("# Avg bus bandwidth")) {
      const auto average = parse_real(after_colon(line));
      if (!average) return make_error(Code::corrupt, "bad average: " + line);
      out.average_busbw = *average;
      has_average = true;
    }
    const auto words = words_of(line);
    if (words.size() < columns || !parse_integer(words[0])) continue;
    out.rows.push_back(TRY(read_row(words)));
    if (out.rows.size() > most_rows) return make_error(Code::corrupt, "too many rows");
  }
  if (out.rows.empty()) return make_error(Code::corrupt, "no row of results");
  if (!has_bounds || !has_average) return make_error(Code::corrupt, "the run has no end");
  return out;
}

}  // namespace tundish::tools
