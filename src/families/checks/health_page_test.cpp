// docs/health.md, written from the checks and the catalogue: TUNDISH_GOLDEN=--accept rewrites it.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "codec/kernel_log/catalogue.hpp"
#include "families/checks/sample_for_test.hpp"

namespace tundish::checks {
namespace {

template <class E>
std::string word(E value) {
  return std::string(enum_names(E{})[static_cast<std::size_t>(value)]);
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? '/' : c == '\n' ? ' ' : c;
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

const char* const head = R"(# Health checks

This page is written by `./dev golden --accept` from the checks and the catalogue; edits are lost.

A check says ok, warn, fail or unknown. Unknown means that it could not look; that is never a pass
and never a fault. Counters are judged by their growth, what a node must have by the inventory.
`tundish check run NODE` runs them now, `tundish check show NAME` explains one.

A **device_local** check accuses the part that it names: nothing else can cause it. A **symptom**
may have its cause elsewhere, and blame is settled before anything is taken out of service. When the
check itself waited for a CPU for more than its limit, a symptom is `unknown: starved`.
)";

std::string limit_text(const Limit& limit) {
  std::string out = "| " + limit.name + " | " + word(limit.side) + " " +
                    std::to_string(limit.value) + " " + word(limit.unit) + " | " +
                    word(limit.verdict) + " | " +
                    (limit.gpu_model.empty() ? "all" : limit.gpu_model);
  if (!limit.since_driver.empty()) out += ", driver from " + limit.since_driver;
  if (!limit.until_driver.empty()) out += ", driver until " + limit.until_driver;
  return out + " | " + cell(limit.source) + (limit.why.empty() ? "" : ". " + cell(limit.why)) +
         " |\n";
}

std::string limits_of(const Thresholds& limits, std::string_view check) {
  std::string out;
  for (const auto& limit : limits.limits) {
    if (limit.check == check) out += limit_text(limit);
  }
  if (out.empty()) return "";
  return "\n| Limit | Bad is | Verdict | Holds for | Source |\n|---|---|---|---|---|\n" + out;
}

std::string check_section(const Check& check, const Thresholds& limits) {
  std::string out = "\n## " + std::string(check.name) + "\n\n" + std::string(check.doc) + "\n\n";
  out += word(check.kind) + ", watches " + word(check.watches) + ", " + word(check.locality);
  if (check.kind == CheckKind::passive) out += ", every " + render_duration(check.every);
  if (check.kind == CheckKind::active) out += ", tier " + word(check.tier);
  if (check.looks > 1) out += ", told after " + std::to_string(check.looks) + " bad looks";
  if (check.gate == Gate::serve) out += ", a node must pass it to serve";
  if (check.gate == Gate::veto) out += ", a fail keeps a node from serving";
  out += ".\n\nSource: " + std::string(check.source) + ".\n";
  out += "Cost: " + std::string(check.cost) + ".\n";
  return out + limits_of(limits, check.name);
}

std::string plates_table(const Nameplates& plates) {
  std::string out =
      "\n# Nameplates\n\nLimits are compared with these: a floor below a quarter of the nameplate, "
      "or above it, is refused by `tundish check lint`.\n\n"
      "| Model | Memory MiB | Memory MB/s | BF16 GFLOPS | FP32 GFLOPS | Power W | NVLink | PCIe | "
      "Source |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& plate : plates.models) {
    out += "| " + plate.model + " | " + std::to_string(plate.memory_mib) + " | " +
           std::to_string(plate.memory_mbyte_per_s) + " | " + std::to_string(plate.bf16_gflops) +
           " | " + std::to_string(plate.fp32_gflops) + " | " + std::to_string(plate.power_w) +
           " | " + std::to_string(plate.nvlinks) + " x " +
           std::to_string(plate.nvlink_mbyte_per_s) + " MB/s | gen " +
           std::to_string(plate.pcie_gen) + " x" + std::to_string(plate.pcie_width) + " | " +
           cell(plate.source) + " |\n";
  }
  return out;
}

std::string codes_table(const XidTable& table, const char* title) {
  std::string out = std::string("\n# ") + title + "\n\n| Code | Name | Class | Action | Note |\n"
                    "|---|---|---|---|---|\n";
  for (const auto& row : table.entries) {
    std::string action = word(row.action);
    if (row.on_repeat != FaultAction::none) action += ", then " + word(row.on_repeat);
    if (row.when_idle != FaultAction::none) action += ", " + word(row.when_idle) + " when idle";
    if (row.device_lost) action += "; device lost";
    if (row.decoy) action += "; costs no node";
    out += "| " + std::to_string(row.code) + " | " + cell(row.name) + " | " +
           word(row.fault_class) + " | " + action + " | " + cell(row.source) +
           (row.why.empty() ? "" : ". " + cell(row.why)) + " |\n";
  }
  return out;
}

std::string render_page() {
  const auto plates = load_nameplates(read_catalog("nameplates.yaml"), "nameplates.yaml");
  const auto limits = load_thresholds(read_catalog("thresholds.yaml"), "thresholds.yaml", *plates);
  const std::string xid = read_catalog("xid.yaml");
  const std::string sxid = read_catalog("sxid.yaml");
  const auto codes = load_xid_catalogue({xid, "xid.yaml"}, {sxid, "sxid.yaml"});
  std::string out = head;
  for (const auto& [kind, title] : {std::pair(CheckKind::passive, "Passive checks"),
                                    std::pair(CheckKind::active, "Active checks")}) {
    std::string part;
    for (const Check* check : tundish::all_checks()) {
      if (check->kind == kind) part += check_section(*check, *limits);
    }
    if (!part.empty()) out += std::string("\n# ") + title + "\n" + part;
  }
  out += plates_table(*plates) + codes_table(codes->xid, "XID codes");
  return out + codes_table(codes->sxid, "SXid codes of NVSwitch");
}

TEST(HealthPage, golden_is_what_the_checks_and_the_catalogue_say) {
  const std::string path = std::string(TUNDISH_SOURCE_DIR) + "/docs/health.md";
  const std::string text = render_page();
  const char* const mode = std::getenv("TUNDISH_GOLDEN");
  if (mode != nullptr && std::string(mode) == "--accept") std::ofstream(path) << text;
  std::ofstream(testing::TempDir() + "health.md") << text;  // beside the committed one, to compare
  std::ifstream in(path, std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(text == committed) << "docs/health.md is not what " << testing::TempDir()
                                 << "health.md says: ./dev golden --accept";
}

/// Every limit is of a check that exists, and every check that needs limits has some.
TEST(HealthPage, LimitsAndChecksBelongTogether) {
  const auto plates = load_nameplates(read_catalog("nameplates.yaml"), "nameplates.yaml");
  const auto limits = load_thresholds(read_catalog("thresholds.yaml"), "thresholds.yaml", *plates);
  std::map<std::string_view, int> count;
  for (const auto& limit : limits->limits) {
    ++count[limit.check];
    EXPECT_TRUE(find_check(limit.check)) << limit.check;
  }
  for (const Check* check : tundish::all_checks()) {
    const auto& needs = check->needs;
    if (std::find(needs.begin(), needs.end(), "limits") == needs.end()) continue;
    EXPECT_GT(count[check->name], 0) << check->name;
  }
}

}  // namespace
}  // namespace tundish::checks
