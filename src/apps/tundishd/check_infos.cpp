#include "apps/tundishd/check_infos.hpp"

#include "base/log.hpp"
#include "codec/limits.hpp"
#include "families/checks/check.hpp"
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
  out.gates = check.gate != checks::Gate::advisory;
  for (const auto need : check.needs) out.needs.emplace_back(need);
  return out;
}

}  // namespace

Result<std::vector<edge::CheckInfo>> load_check_infos(const std::string& catalog_dir) {
  std::vector<edge::CheckInfo> out;
  for (const auto* check : all_checks()) out.push_back(info_of(*check));
  const std::string plates_file = catalog_dir + "/nameplates.yaml";
  const std::string limits_file = catalog_dir + "/thresholds.yaml";
  const auto plates_text = process::read_file(plates_file);
  const auto limits_text = process::read_file(limits_file);
  if (!plates_text || !limits_text) {
    log(LogLevel::warn, "no_thresholds", {{"folder", catalog_dir}});
    return out;
  }
  const auto plates = TRY(load_nameplates(*plates_text, plates_file));
  const auto limits = TRY(load_thresholds(*limits_text, limits_file, plates));
  for (auto& info : out) {
    for (const auto& limit : limits.limits) {
      if (limit.check == info.name) info.limits.push_back(limit);
    }
  }
  return out;
}

}  // namespace tundish::tundishd
