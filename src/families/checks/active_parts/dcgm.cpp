#include "families/checks/active_parts/dcgm.hpp"

#include <set>

#include "base/text.hpp"

namespace tundish::checks {
namespace {

using tools::DcgmSeverity;

std::string label(const CheckSample& sample, const tools::DcgmResult& result) {
  const std::size_t end = result.gpu.find_first_not_of("0123456789");
  if (result.gpu.empty() || end != std::string::npos || result.gpu.size() > 4) return result.gpu;
  return gpu_name(sample, std::stoi(result.gpu));
}

/// Persistence mode and the like are settings; monitor means that work may go on.
bool is_mild(const tools::DcgmResult& result) {
  const auto severity = static_cast<DcgmSeverity>(result.severity);
  return severity == DcgmSeverity::monitor || severity == DcgmSeverity::config;
}

void read(const CheckSample& sample, const tools::DcgmResult& result, ActiveFindings& found,
          int& passed) {
  const std::string word = to_lower(result.status);
  const std::string what = result.test + ": " + result.warning;
  if (word == "pass") {
    passed += is_deployment(result) ? 0 : 1;
  } else if (word == "warn" || (word == "fail" && is_mild(result))) {
    found.add(VerdictState::warn, label(sample, result), what);
  } else if (word == "fail") {
    found.fail(label(sample, result), what);
  } else if (word == "skip") {
    found.note(result.test + " was skipped");
  } else {
    found.unseen(result.test + ": " + result.status);
  }
}

/// A diagnostic that names its GPUs must name every one.
void find_untold(const CheckSample& sample, const tools::DcgmDiag& diag, ActiveFindings& found) {
  std::set<std::string> told;
  for (const auto& result : diag.results) {
    if (!result.gpu.empty()) told.insert(label(sample, result));
  }
  for (std::size_t gpu = 0; !told.empty() && gpu < gpus_of(sample); ++gpu) {
    const std::string name = gpu_name(sample, static_cast<std::int64_t>(gpu));
    if (!told.contains(name)) found.unseen("dcgmi tells nothing of " + name);
  }
}

}  // namespace

Verdicts judge_dcgm(const CheckSample& sample, std::string_view check) {
  ActiveFindings found(sample, check);
  for (const ToolRun* run : found.runs()) {
    if (!found.is_readable(*run)) continue;
    const auto diag = tools::parse_dcgm_diag(run->out);
    if (!diag) {
      found.broken(*run, diag.error().message());
      continue;
    }
    int passed = 0;
    bool deployed = false;
    for (const auto& result : diag->results) {
      deployed = deployed || (is_deployment(result) && to_lower(result.status) == "pass");
      read(sample, result, found, passed);
    }
    find_untold(sample, *diag, found);
    found.note("DCGM " + diag->version + ", " + std::to_string(passed) + " results of hardware");
    // A part that is not on DCGM's list has its tests skipped, and the tool exits 0.
    const bool asked_hardware = check != "dcgm_quick";
    if (asked_hardware && passed == 0) found.unseen("dcgmi tested no hardware: all was skipped");
    if (!asked_hardware && passed == 0 && !deployed) found.unseen("dcgmi tested nothing");
  }
  return found.take("DCGM's diagnostic passes");
}

}  // namespace tundish::checks
