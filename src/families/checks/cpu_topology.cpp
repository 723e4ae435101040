#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  const auto& expect = sample.expect;
  if (expect.cpus == 0 && expect.sockets == 0 && expect.memory_mib == 0) {
    return {make_unknown("CPUs and memory", "the SKU declares none")};
  }
  if (!sample.cpu) return {make_unknown("CPUs and memory", sample.fault_of("cpu"))};
  Findings found(sample, "cpu_topology");
  const auto compare = [&](const char* what, std::int64_t have, std::int64_t wanted) {
    if (wanted == 0 || have >= wanted) return;
    found.fail("", std::string("fewer ") + what + " than the SKU has",
               std::to_string(have) + " of " + std::to_string(wanted));
  };
  compare("CPUs", sample.cpu->cpus, expect.cpus);
  compare("sockets", sample.cpu->sockets, expect.sockets);
  if (expect.memory_mib > 0) {
    found.measure("memory", "", sample.cpu->memory_mib * 100 / expect.memory_mib,
                  "memory, of the SKU's,");
  }
  return found.take("CPUs and memory are those of the SKU");
}

}  // namespace

extern const Check cpu_topology;
const Check cpu_topology{"cpu_topology",
                         "The node has the CPUs, sockets and memory of its SKU.",
                         "/sys/devices/system/cpu, /proc/meminfo against the SKU; NHC manifest; "
                         "facts/health.md section 2",
                         "reads some small files of /proc",
                         {"cpu", "expect", "limits"},
                         judge,
                         Resource::cpu,
                         Locality::device_local,
                         minutes(15),
                         Gate::advisory};

}  // namespace tundish::checks
