#include "apps/tundishd/catalogue.hpp"

#include "codec/kernel_log/catalogue.hpp"
#include "codec/yaml.hpp"
#include "control/fault/policy.hpp"
#include "runtime/process/process.hpp"

namespace tundish::tundishd {

Result<Catalogues> load_catalogues(const DaemonConfig& config) {
  Catalogues out;
  const std::string xid = TRY(process::read_file(config.catalog_dir + "/xid.yaml"));
  const std::string sxid = TRY(process::read_file(config.catalog_dir + "/sxid.yaml"));
  out.xid = TRY(load_xid_catalogue({xid, "xid.yaml"}, {sxid, "sxid.yaml"}));
  const std::string file = config.catalog_dir + "/" + config.policy;
  const std::string text = TRY(process::read_file(file));
  TRY_VOID(parse_yaml(text, out.policy, file));
  TRY_VOID(control::check_policy(out.policy));
  return out;
}

}  // namespace tundish::tundishd
