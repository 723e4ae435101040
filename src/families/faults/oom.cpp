#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  return make_injection(order, {"none",
                                "Out of memory: Killed process 4242 (python3) total-vm:67108864kB, "
                                "anon-rss:33554432kB, file-rss:0kB, shmem-rss:0kB, UID:1000 "
                                "pgtables:66048kB oom_score_adj:0"});
}

}  // namespace

extern const Fault oom;
const Fault oom = {"oom", "the kernel kills a process for memory: its line, no pressure",
                   "passive check oom", "nothing: the job is told, not the node", render};

}  // namespace tundish::families
