#include "apps/tundishd/catalogue.hpp"

#include "codec/kernel_log/catalogue.hpp"
#include "codec/yaml.hpp"
#include "control/notice/classify.hpp"
#include "control/verify/threshold_rows.hpp"
#include "runtime/process/process.hpp"

namespace tundish::tundishd {

Result<Catalogues> load_catalogues(const DaemonConfig& config) {
  Catalogues out;
  const std::string xid = TRY(process::read_file(config.catalog_dir + "/xid.yaml"));
  const std::string sxid = TRY(process::read_file(config.catalog_dir + "/sxid.yaml"));
  out.xid = TRY(load_xid_catalogue({xid, "xid.yaml"}, {sxid, "sxid.yaml"}));
  const std::string notices = config.catalog_dir + "/notices.yaml";
  TRY_VOID(parse_yaml(TRY(process::read_file(notices)), out.notices, notices));
  TRY_VOID(control::check_rules(out.notices));
  out.limits = TRY(load_limits(config.catalog_dir));
  out.policy = TRY(choose_policy(config, {out.xid, limit_rows(out.limits)}));
  return out;
}

std::vector<control::verify::ThresholdRow> limit_rows(const KnownLimits& known) {
  return control::verify::threshold_rows(known.thresholds, known.plates);
}

}  // namespace tundish::tundishd
