#pragma once
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish::tundishd {

struct DaemonConfig {
  std::vector<std::string> listen = {"unix:/run/tundish/tundishd.sock"};
  std::string tls_cert;
  std::string tls_key;
  std::string ca_file;
  std::string state_dir = "/var/lib/tundish";
  std::string catalog_dir = "/usr/share/tundish/catalog";
  std::string policy = "policies/default.yaml";
  std::string site = "site";
  std::string hold_file = "/etc/tundish/hold";
  std::string bmc_url = "https://{address}";
  std::string bmc_user = "admin";
  std::string bmc_password_file;
  std::string lab_socket;
  std::string webhook_url;
  std::string export_type = "nfs";
  std::string export_source = "storage:/export/";
  std::string operator_token_file;
  std::string enrol_tokens_file;
  std::string authority = "observe";
  std::string switch_key_file;
  std::string switch_known_hosts;
  std::string switch_authorization;
  std::string fabrics_file;
  std::string crash_at;
  int crash_nth = 1;
  void fields(Fields& f) {
    f(1, "listen", listen, "https://ADDR:PORT, http://ADDR:PORT or unix:/path");
    f(2, "tls_cert", tls_cert, "PEM certificate for https");
    f(3, "tls_key", tls_key, "PEM key for https");
    f(4, "ca_file", ca_file, "PEM authorities for calls to BMCs and switches");
    f(5, "state_dir", state_dir, "store, key file and administrator's first token");
    f(6, "catalog_dir", catalog_dir, "XID catalogue and policies");
    f(7, "policy", policy, "remediation policy, relative to catalog_dir");
    f(8, "site", site, "name of this site");
    f(9, "hold_file", hold_file, "while this file exists nothing acts by itself");
    f(10, "bmc_url", bmc_url, "URL of a BMC; {address} is replaced");
    f(11, "bmc_user", bmc_user, "user on the BMCs");
    f(12, "bmc_password_file", bmc_password_file, "file with the password");
    f(13, "lab_socket", lab_socket, "control socket of a lab: fault injection fails its hardware");
    f(14, "webhook_url", webhook_url,
      "gets a POST for every ticket and page: opened, repeated, acknowledged, resolved");
    f(15, "export_type", export_type, "how tenants' storage is mounted: nfs or bind");
    f(16, "export_source", export_source, "server:/path or folder; the tenant's name is appended");
    f(19, "operator_token_file", operator_token_file,
      "first operator's token: taken when the file exists, else made and written there");
    f(20, "enrol_tokens_file", enrol_tokens_file, "lines of BMC MAC and one-time token, read once");
    f(21, "authority", authority, "level of this site on the first start: observe, advise or act");
    f(22, "switch_key_file", switch_key_file, "private key for switches and managers over ssh");
    f(23, "switch_known_hosts", switch_known_hosts, "their host keys; new ones are added");
    f(24, "switch_authorization", switch_authorization,
      "Authorization header for switches over HTTP");
    f(25, "fabrics_file", fabrics_file, "YAML list of fabrics {name, spec}; read at every start");
    f(17, "crash_at", crash_at, "tests: kill ourselves at this hook");
    f(18, "crash_nth", crash_nth, "tests: at its n-th time");
  }
};

}  // namespace tundish::tundishd
