#pragma once
// A kernel event of the last minutes, counted: all that blame needs of a storm.
#include <string>

#include "base/describe.hpp"
#include "model/kernel_event.hpp"

namespace tundish {

struct RecentEvent {
  KernelEventKind kind = KernelEventKind::other_gpu;
  int code = 0;
  std::string device;
  std::string subject;
  Provenance provenance = Provenance::kernel;
  int parent_code = 0;
  int recovery_action = -1;
  Instant first;
  Instant run_began;
  Instant last;
  std::int64_t count = 0;
  bool deferred = false;

  void fields(Fields& f) {
    f(1, "kind", kind, "what the line reports");
    f(2, "code", code, "XID or SXid number");
    f(3, "device", device, "PCI address, or the disk of an io_error");
    f(4, "provenance", provenance, "who could have written it");
    f(5, "parent_code", parent_code, "XID that caused it by the line's own words; 0: none");
    f(6, "recovery_action", recovery_action, "of XID 154; -1: none");
    f(7, "first", first, "when the first one was read");
    f(8, "last", last, "when the newest one was read");
    f(9, "count", count, "sightings");
    f(10, "deferred", deferred, "another part can have caused it: blame decides whose it is");
    f(11, "subject", subject, "storage server or interface that the line names");
    f(12, "run_began", run_began, "of the newest ones, each within 10 s of the one before");
  }
};

}  // namespace tundish
