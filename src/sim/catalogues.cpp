#include "sim/catalogues.hpp"

#include <fstream>
#include <sstream>

#include "codec/kernel_log/catalogue.hpp"
#include "codec/limits.hpp"
#include "codec/yaml.hpp"
#include "control/fault/policy.hpp"
#include "control/verify/threshold_rows.hpp"

namespace tundish::sim {
namespace {

Result<std::string> read(const std::string& file) {
  std::ifstream in(file);
  if (!in) return make_error(Code::not_found, file + " cannot be read");
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

Result<XidCatalogue> load_xids(const std::string& folder) {
  const std::string xid = TRY(read(folder + "/xid.yaml"));
  const std::string sxid = TRY(read(folder + "/sxid.yaml"));
  return load_xid_catalogue({xid, "xid.yaml"}, {sxid, "sxid.yaml"});
}

Result<std::vector<control::verify::ThresholdRow>> load_threshold_rows(const std::string& folder) {
  const std::string plates_file = folder + "/nameplates.yaml";
  const std::string limits_file = folder + "/thresholds.yaml";
  const auto plates = TRY(load_nameplates(TRY(read(plates_file)), plates_file));
  const auto limits = TRY(load_thresholds(TRY(read(limits_file)), limits_file, plates));
  return control::verify::threshold_rows(limits, plates);
}

Result<RemediationPolicy> load_policy(const std::string& folder) {
  return load_policy_file(folder + "/policies/default.yaml");
}

Result<RemediationPolicy> load_policy_file(const std::string& file) {
  const std::string text = TRY(read(file));
  RemediationPolicy policy;
  TRY_VOID(parse_yaml(text, policy, file));
  TRY_VOID(control::check_policy(policy));
  return policy;
}

}  // namespace tundish::sim
