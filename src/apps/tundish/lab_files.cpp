#include "apps/tundish/lab_files.hpp"

#include <cerrno>
#include <filesystem>
#include <random>

#include "apps/tundish/shipped.hpp"
#include "base/text.hpp"
#include "lab/switch_plan.hpp"
#include "runtime/process/process.hpp"

namespace tundish {
namespace {

const std::string agent_url = "https://10.88.0.1:" + std::to_string(lab::agent_port);
/// A node does not see the checkout, which may lie below /tmp: it gets a copy.
const std::string node_catalogue = "/etc/tundish/catalog";
constexpr const char* operator_token = "secrets/operator.token";

std::string make_secret() {
  std::random_device random;
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes += static_cast<char>(random() & 0xFF);
  return render_hex(bytes);
}

struct EnrolToken {
  std::string bmc_mac, token;
};

/// What tundishd must know of the lab's FRR switches; a flat lab has none.
std::string switch_access(const lab::LabSpec& spec) {
  if (spec.fabric != lab::FabricKind::frr) return "";
  const std::string root = lab::paths_of(spec).root;
  return "switch_key_file: " + root + "/secrets/switch_key\nswitch_known_hosts: " + root +
         "/secrets/switch_known_hosts\nfabrics_file: " + root + "/fabrics.yaml\n";
}

/// The lab's Ethernet fabric: whose prefixes no tenant may use.
constexpr const char* fabrics_file =
    "fabrics:\n"
    "  - name: access\n"
    "    spec:\n"
    "      technology: evpn\n"
    "      underlay: [10.254.0.0/16, 10.255.0.0/16]\n"
    "      management: [10.88.0.0/16]\n"
    "      access_prefix: 10.89.0.0/16\n";

/// The subnet manager of the lab's box sm1, as a site declares its own.
constexpr const char* infiniband_fabric =
    "  - name: ib0\n"
    "    spec:\n"
    "      technology: infiniband\n"
    "      driver: opensm\n"
    "      management_url: ssh://root@10.88.4.1\n";

/// The lab's storage stor1: where it is cabled to, where exports are made, what nodes mount.
std::string storage_of(const lab::LabSpec& spec) {
  if (!spec.storage_box) return "";
  const auto cable = lab::storage_cable_of(spec);
  const std::string length = "/" + std::to_string(lab::storage_prefix_length);
  return "      storage_prefix: 10.200.0.0" + length +
         "\n      storage_mount_address: " + lab::storage_address +
         "\n      storage_url: ssh://root@10.88.5.1\n" +
         "      storage_ports:\n        - {switch_name: " + cable.leaf + ", port: " + cable.port +
         ", address: " + lab::storage_gateway + length + "}\n";
}

std::string fabrics_of(const lab::LabSpec& spec) {
  return fabrics_file + storage_of(spec) + (spec.hcas > 0 ? infiniband_fabric : "");
}

std::string daemon_config(const lab::LabSpec& spec) {
  const std::string root = lab::paths_of(spec).root;
  return "listen:\n  - " + agent_url + "\n  - unix:" + root +
         "/run/tundishd.sock\ntls_cert: " + root + "/secrets/tundishd.pem\ntls_key: " + root +
         "/secrets/tundishd.key\nstate_dir: " + root +
         "/store\ncatalog_dir: " + shipped_catalogue(spec.bin_dir) + "\nsite: " + spec.name +
         "\noperator_token_file: " + root + "/" + operator_token + "\nenrol_tokens_file: " + root +
         "/secrets/enrol_tokens\nbmc_password_file: " + root +
         "/secrets/bmc_password\nbmc_url: http://{address}\nlab_socket: " + root +
         "/run/lab.sock\nhold_file: " + root + "/hold\nauthority: act\nexport_type: bind\n" +
         "export_source: /run/tundish-hw/storage/\n" + switch_access(spec);
}

std::string agent_config(const lab::LabNode& node) {
  return "api: " + agent_url +
         "\nca_file: /etc/tundish/ca.pem\nenrol_token_file: "
         "/etc/tundish/enrol_token\ncatalog_dir: " +
         node_catalogue +
         // The pressure of the node's own cgroup, not of the machine that all nodes share.
         "\npressure_dir: /sys/fs/cgroup\nshares_machine: true\nmetrics_dir: /run\n" +
         (node.role == "service" ? "access_interface: acc0\n" : "");
}

struct Certificate {
  std::string pem;
  std::string key;
};

/// For the address that agents call, made anew for every lab; it is its own authority.
Result<Certificate> make_certificate() {
  process::Command command;
  command.argv = {"openssl",
                  "req",
                  "-x509",
                  "-newkey",
                  "ec",
                  "-pkeyopt",
                  "ec_paramgen_curve:prime256v1",
                  "-nodes",
                  "-days",
                  "30",
                  "-subj",
                  "/CN=tundishd of a lab",
                  "-addext",
                  "subjectAltName=IP:10.88.0.1",
                  "-keyout",
                  "-",
                  "-out",
                  "-"};
  const auto made = TRY(process::run(command));
  const auto split_at = made.out.find("-----BEGIN CERTIFICATE-----");
  if (!made.ok() || split_at == std::string::npos) {
    return make_error(Code::unavailable, "openssl made no certificate: " + made.summary());
  }
  return Certificate{made.out.substr(split_at), made.out.substr(0, split_at)};
}

}  // namespace

LabAccess lab_access(const lab::LabPaths& paths) {
  return {"unix:" + paths.root + "/run/tundishd.sock", paths.root + "/" + operator_token};
}

Result<lab::LabFiles> lab_files(const lab::LabSpec& spec) {
  lab::LabFiles files;
  files["tundishd.yaml"] = {daemon_config(spec), 0600};
  if (spec.fabric == lab::FabricKind::frr) files["fabrics.yaml"] = {fabrics_of(spec), 0644};
  files[operator_token] = {make_secret() + "\n", 0600};
  const Certificate certificate = TRY(make_certificate());
  files["secrets/tundishd.pem"] = {certificate.pem, 0644};
  files["secrets/tundishd.key"] = {certificate.key, 0600};
  std::string enrolments;
  for (const auto& node : lab::hardware_of(spec)) {
    const EnrolToken enrol{node.bmc_mac, make_secret()};
    const std::string etc = "nodes/" + node.name + "/disk/etc/tundish/";
    files[etc + "agent.yaml"] = {agent_config(node), 0644};
    for (const char* name : {"xid.yaml", "sxid.yaml", "thresholds.yaml", "nameplates.yaml"}) {
      const std::string path = shipped_catalogue(spec.bin_dir) + "/" + name;
      files[etc + "catalog/" + name] = {TRY(process::read_file(path)), 0644};
    }
    files[etc + "ca.pem"] = {certificate.pem, 0644};
    files[etc + "enrol_token"] = {enrol.token + "\n", 0600};
    enrolments += enrol.bmc_mac + " " + enrol.token + "\n";
  }
  files["secrets/enrol_tokens"] = {enrolments, 0600};
  return files;
}

}  // namespace tundish
