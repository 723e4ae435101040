#include "lab/manager_box.hpp"

#include <filesystem>

#include "lab/ib_plan.hpp"
#include "lab/namespaces.hpp"
#include "lab/switch_plan.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

const std::string opensm_log = "/var/log/opensm/opensm.log";
/// The simulated HCA makes a folder for each process in the folder that it starts in.
const std::string run_folder = "/run/umad";
const char* const tools[] = {"sminfo",    "smpquery",      "saquery",    "ibnetdiscover",
                             "perfquery", "ibqueryerrors", "iblinkinfo", "ibstat"};

/// Source: facts/lab.md section 3; checked 2026-11.
const char* const opensm_conf =
    "force_log_flush TRUE\nsweep_interval 5\nrouting_engine updn\nmax_wire_smps 16\n"
    "log_max_size 4\npartition_config_file /etc/opensm/partitions.conf\n";
/// Every port reaches the manager and no other port.
const char* const first_partitions =
    "Default=0x7fff, ipoib, defmember=limited : ALL=limited, SELF=full ;\n";

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string find_umad2sim() {
  std::error_code ignored;
  for (const auto& folder : fs::directory_iterator("/usr/lib", ignored)) {
    const std::string file = folder.path().string() + "/umad2sim/libumad2sim.so";
    if (exists(file)) return file;
  }
  return "";
}

std::string manager_node_id(const LabSpec& spec) {
  return ib_node_id(ib_plan_of(spec).manager().hca);
}

/// A tool that finds itself on another simulator, as on a canary fabric, stays there.
std::string render_wrapper(const std::string& tool, const std::string& environment) {
  return "#!/bin/sh\n[ -n \"${SIM_HOST:-}\" ] && exec /usr/sbin/" + tool +
         " \"$@\"\nexec /usr/bin/env -C " + run_folder + " " + environment + " /usr/sbin/" + tool +
         " \"$@\"\n";
}

}  // namespace

Result<> prepare_manager(const LabSpec& spec, const std::string& disk) {
  const std::string lib = find_umad2sim();
  if (lib.empty() || !exists("/usr/sbin/opensm") || !exists("/usr/sbin/smpquery")) {
    return make_error(Code::unsupported,
                      "an InfiniBand fabric needs opensm, ibsim-utils and "
                      "infiniband-diags, and one of them is not installed")
        .with_remedy("apt-get install opensm ibsim-utils infiniband-diags, or --hcas 0");
  }
  for (const char* const folder : {"/etc/opensm", "/var/log/opensm", "/var/cache/opensm"}) {
    TRY_VOID(make_opaque_folder(disk + folder));
  }
  TRY_VOID(write_text(disk + "/etc/opensm/opensm.conf", opensm_conf));
  const std::string partitions = disk + "/etc/opensm/partitions.conf";
  if (!exists(partitions)) TRY_VOID(write_text(partitions, first_partitions));
  TRY_VOID(make_folder(disk + "/usr/local/sbin"));
  const std::string environment = "LD_PRELOAD=" + lib + " SIM_HOST=" + manager_node_id(spec);
  for (const std::string tool : tools) {
    TRY_VOID(write_text(disk + "/usr/local/sbin/" + tool, render_wrapper(tool, environment), 0755));
  }
  return {};
}

Result<> configure_manager() { return make_folder(run_folder); }

std::vector<Service> manager_services(const LabSpec& spec) {
  Service opensm;
  opensm.name = "opensm";
  opensm.argv = {"/usr/bin/env",
                 "-C",
                 run_folder,
                 "LD_PRELOAD=" + find_umad2sim(),
                 "SIM_HOST=" + manager_node_id(spec),
                 "OSM_CACHE_DIR=/var/cache/opensm/",
                 "OSM_TMP_DIR=/var/log/opensm/",
                 "/usr/sbin/opensm",
                 "-F",
                 "/etc/opensm/opensm.conf",
                 "-P",
                 "/etc/opensm/partitions.conf",
                 "-f",
                 opensm_log};
  return {opensm};
}

std::string opensm_log_of(const LabPaths& paths) {
  return paths.switch_box(manager_name) + "/disk" + opensm_log;
}

}  // namespace tundish::lab
