// Source: NVIDIA/DCGM dcgmi/Diag.cpp and tests/DiagTests.cpp, releases 3.3 and 4.6; checked 2026-11
#include "base/text.hpp"
#include "codec/json.hpp"
#include "codec/tools/tool_output.hpp"

namespace tundish::tools {
namespace {

constexpr std::size_t most_results = 4096;

/// The member of a release: "DCGM GPU Diagnostic" of 3, "DCGM Diagnostic" of 4.
JsonValue diagnostic_of(const JsonValue& root) {
  for (const auto& [name, value] : root.members()) {
    if (name.starts_with("DCGM") && name.ends_with("Diagnostic")) return value;
  }
  return {};
}

int rank_of(int severity) {
  switch (static_cast<DcgmSeverity>(severity)) {
    case DcgmSeverity::isolate: return 6;
    case DcgmSeverity::reset: return 5;
    case DcgmSeverity::triage: return 4;
    case DcgmSeverity::unknown: return 3;
    case DcgmSeverity::monitor: return 2;
    case DcgmSeverity::config: return 1;
    case DcgmSeverity::none: return 0;
  }
  return 3;  // a number that this release does not have: not known to be harmless
}

void read_warnings(const JsonValue& warnings, DcgmResult& out) {
  for (const auto& item : warnings.items()) {
    const std::string text = item.as_text().value_or(item.at("warning").as_text().value_or(""));
    if (!text.empty()) out.warning += (out.warning.empty() ? "" : "; ") + text;
    const auto severity = item.at("error_severity").as_integer();
    if (severity && rank_of(static_cast<int>(*severity)) > rank_of(out.severity)) {
      out.severity = static_cast<int>(*severity);
    }
  }
}

/// "gpu_id": "0" or "gpu_ids": "0,1" of release 3, "entity_id": 0 of a GPU entity of release 4.
std::string gpu_of(const JsonValue& result) {
  for (const char* key : {"gpu_id", "gpu_ids"}) {
    if (const auto text = result.at(key).as_text()) return *text;
    if (const auto number = result.at(key).as_integer()) return std::to_string(*number);
  }
  if (result.at("entity_group").as_text().value_or("") != "GPU") return "";
  const auto number = result.at("entity_id").as_integer();
  return number ? std::to_string(*number) : result.at("entity_id").as_text().value_or("");
}

Result<> read_test(const std::string& category, const JsonValue& test, DcgmDiag& out) {
  const auto name = test.at("name").as_text();
  const auto results = test.at("results").items();
  if (!name || results.empty()) return make_error(Code::corrupt, "a test has no results");
  for (const auto& result : results) {
    DcgmResult one;
    one.category = category;
    one.test = *name;
    one.gpu = gpu_of(result);
    const auto status = result.at("status").as_text();
    if (!status) return make_error(Code::corrupt, "test " + *name + " has no status");
    one.status = *status;
    read_warnings(result.at("warnings"), one);
    out.results.push_back(std::move(one));
    if (out.results.size() > most_results) return make_error(Code::corrupt, "too many results");
  }
  return {};
}

}  // namespace

Result<DcgmDiag> parse_dcgm_diag(std::string_view text) {
  const std::size_t begin = text.find('{');
  const std::size_t end = text.rfind('}');
  if (text.size() > most_output || begin == std::string_view::npos || end <= begin) {
    return make_error(Code::corrupt, "no JSON: " + std::string(trim(text.substr(0, 200))));
  }
  const auto root = TRY(JsonValue::parse(text.substr(begin, end - begin + 1)));
  const JsonValue diagnostic = diagnostic_of(root);
  if (diagnostic.is_absent()) return make_error(Code::corrupt, "no diagnostic is in it");
  if (const auto error = diagnostic.at("runtime_error").as_text()) {
    return make_error(Code::unavailable, std::string(trim(*error)));
  }
  DcgmDiag out;
  out.version = root.at("metadata").at("version").as_text().value_or(
      diagnostic.at("version").as_text().value_or(""));
  for (const auto& category : diagnostic.at("test_categories").items()) {
    const std::string name = category.at("category").as_text().value_or("");
    for (const auto& test : category.at("tests").items()) TRY_VOID(read_test(name, test, out));
  }
  if (out.results.empty()) return make_error(Code::corrupt, "no test is in it");
  return out;
}

}  // namespace tundish::tools
