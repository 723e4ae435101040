#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

bool is_type(const std::string& wanted, const std::string& have) {
  if (wanted == "bind") return true;  // the file system of the source
  return have == wanted || (wanted == "nfs" && have == "nfs4");
}

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.exports.empty()) {
    return {nothing_asked(sample, "what storage it is to have")};
  }
  if (!sample.mount_table) return {make_unknown("mounts", sample.fault_of("mount_table"))};
  Findings found(sample, "mount_table");
  for (const auto& wanted : sample.expect.exports) {
    const MountReading* have = nullptr;
    for (const auto& mount : *sample.mount_table) {
      if (mount.target == wanted.target) have = &mount;  // the last one covers the others
    }
    if (!have)
      found.fail(wanted.target, "it is not mounted");
    else if (!is_type(wanted.type, have->type)) {
      found.fail(wanted.target, "another file system is mounted there", have->type);
    } else if (have->read_only) {
      found.fail(wanted.target, "it is mounted read-only");
    }
  }
  return found.take("every export is mounted");
}

}  // namespace

extern const Check mount_table;
const Check mount_table{
    "mount_table",
    "Every export of the cluster is in the mount table with its type and can be written.",
    "/proc/self/mountinfo; a stale mount passes this, so storage_mount tries it (NHC "
    "#77); facts/health.md section 2",
    "reads some small files of /proc",
    {"mount_table", "expect.exports"},
    judge,
    Resource::storage_client,
    Locality::symptom,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
