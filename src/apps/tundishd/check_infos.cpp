#include "apps/tundishd/check_infos.hpp"

#include "base/log.hpp"
#include "codec/limits.hpp"
#include "families/checks/check.hpp"
#include "families/checks/limit_parts/limit_names.hpp"
#include "runtime/process/process.hpp"

namespace tundish::tundishd {
namespace {

edge::CheckInfo info_of(const checks::Check& check) {
  edge::CheckInfo out;
  out.name = check.name;
  out.doc = check.doc;
  out.source = check.source;
  out.cost = check.cost;
  out.kind = check.kind;
  out.watches = check.watches;
  out.locality = check.locality;
  out.every = check.every;
  out.looks = check.looks;
  out.tier = check.tier;
  out.gates = check.gate != checks::Gate::advisory;
  for (const auto need : check.needs) out.needs.emplace_back(need);
  return out;
}

}  // namespace

Result<KnownLimits> load_limits(const std::string& catalog_dir) {
  KnownLimits out;
  const std::string plates_file = catalog_dir + "/nameplates.yaml";
  const std::string limits_file = catalog_dir + "/thresholds.yaml";
  const auto plates_text = process::read_file(plates_file);
  const auto limits_text = process::read_file(limits_file);
  if (!plates_text || !limits_text) {
    log(LogLevel::warn, "no_thresholds", {{"folder", catalog_dir}});
    return out;
  }
  out.plates = TRY(load_nameplates(*plates_text, plates_file));
  out.thresholds = TRY(load_thresholds(*limits_text, limits_file, out.plates));
  TRY_VOID(check_limit_names(*limits_text, limits_file, out.thresholds, checks::known_limits()));
  return out;
}

std::vector<control::KnownCheck> known_checks() {
  std::vector<control::KnownCheck> out;
  for (const auto* check : all_checks()) out.push_back({std::string(check->name), check->kind});
  return out;
}

std::vector<edge::CheckInfo> check_infos(const KnownLimits& known) {
  std::vector<edge::CheckInfo> out;
  for (const auto* check : all_checks()) out.push_back(info_of(*check));
  for (auto& info : out) {
    for (const auto& limit : known.thresholds.limits) {
      if (limit.check == info.name) info.limits.push_back(limit);
    }
  }
  return out;
}

}  // namespace tundish::tundishd
