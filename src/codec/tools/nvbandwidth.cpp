// Source: NVIDIA/nvbandwidth json_output.cpp, release 0.8; checked 2026-11
#include "base/text.hpp"
#include "codec/json.hpp"
#include "codec/tools/tool_output.hpp"

namespace tundish::tools {
namespace {

constexpr std::size_t most_gpus = 1024;

/// Numbers are written as texts; "N/A" where nothing was measured.
Result<std::vector<std::optional<double>>> read_row(const JsonValue& row) {
  std::vector<std::optional<double>> out;
  for (const auto& cell : row.items()) {
    const auto text = cell.as_text();
    std::optional<double> value = text ? parse_real(*text) : cell.as_real();
    if (!value && text != "N/A") return make_error(Code::corrupt, "a cell is no number");
    if (value && *value < 0) return make_error(Code::corrupt, "a rate is negative");
    out.push_back(value);
    if (out.size() > most_gpus) return make_error(Code::corrupt, "too many columns");
  }
  return out;
}

}  // namespace

Result<std::vector<CopyMatrix>> parse_nvbandwidth(std::string_view text) {
  const std::size_t begin = text.find('{');
  const std::size_t end = text.rfind('}');
  if (text.size() > most_output || begin == std::string_view::npos || end <= begin) {
    return make_error(Code::corrupt, "no JSON: " + std::string(trim(text.substr(0, 200))));
  }
  const auto root = TRY(JsonValue::parse(text.substr(begin, end - begin + 1)));
  const JsonValue body = root.at("nvbandwidth");
  if (body.is_absent()) return make_error(Code::corrupt, "no nvbandwidth is in it");
  if (const auto error = body.at("error").as_text()) {
    return make_error(Code::unavailable, std::string(trim(*error)));
  }
  std::vector<CopyMatrix> out;
  for (const auto& item : body.at("testcases").items()) {
    CopyMatrix one;
    one.name = item.at("name").as_text().value_or("");
    one.status = item.at("status").as_text().value_or("");
    one.error = item.at("error").as_text().value_or("");
    if (one.name.empty() || one.status.empty()) {
      return make_error(Code::corrupt, "a test case has no name or status");
    }
    for (const auto& row : item.at("bandwidth_matrix").items()) {
      one.gbyte_per_s.push_back(TRY(read_row(row)));
      if (one.gbyte_per_s.size() > most_gpus) return make_error(Code::corrupt, "too many rows");
    }
    out.push_back(std::move(one));
  }
  if (out.empty()) return make_error(Code::corrupt, "no test case is in it");
  return out;
}

}  // namespace tundish::tools
