#pragma once
// How much a node's tasks wait for CPU, disk and memory, and how long the agent itself waited: the
// difference between "the storage is slow" and "nobody got to run".
#include <cstdint>
#include <optional>
#include <string>

#include "base/describe.hpp"

namespace tundish {

/// Shares in hundredths of a percent. Absent: the kernel does not tell, never zero.
struct Pressure {
  std::optional<std::int64_t> cpu_some;
  std::optional<std::int64_t> cpu_full;
  std::optional<std::int64_t> io_some;
  std::optional<std::int64_t> io_full;
  std::optional<std::int64_t> memory_some;
  std::optional<std::int64_t> memory_full;
  std::optional<std::int64_t> run_queue_wait;
  std::optional<std::int64_t> steal;
  std::string fault;
  void fields(Fields& f) {
    // Source: kernel Documentation/accounting/psi.rst; checked 2026-11
    f(1, "cpu_some", cpu_some, "some task waited for a CPU, 10 s average, 1/100 percent");
    f(2, "cpu_full", cpu_full, "all tasks waited for a CPU, 10 s average, 1/100 percent");
    f(3, "io_some", io_some, "some task waited for a disk, 10 s average, 1/100 percent");
    f(4, "io_full", io_full, "all tasks waited for a disk, 10 s average, 1/100 percent");
    f(5, "memory_some", memory_some, "some task waited for memory, 10 s average, 1/100 percent");
    f(6, "memory_full", memory_full, "all tasks waited for memory, 10 s average, 1/100 percent");
    f(7, "run_queue_wait", run_queue_wait,
      "of the time that the gathering took, what it was ready and did not run, 1/100 percent");
    f(8, "steal", steal,
      "of the CPU time since the last look, taken by a hypervisor, 1/100 percent");
    f(9, "fault", fault, "why values are absent");
  }
};

/// A share that crosses this mark either way is worth telling, 1/100 percent.
inline constexpr std::int64_t pressure_mark = 2000;

/// One of the shares crossed the mark, or came or went.
inline bool crosses_mark(const Pressure& before, const Pressure& now) {
  const auto crosses = [](const std::optional<std::int64_t>& a,
                          const std::optional<std::int64_t>& b) {
    if (a.has_value() != b.has_value()) return true;
    return a && (*a >= pressure_mark) != (*b >= pressure_mark);
  };
  return crosses(before.cpu_some, now.cpu_some) || crosses(before.cpu_full, now.cpu_full) ||
         crosses(before.io_some, now.io_some) || crosses(before.io_full, now.io_full) ||
         crosses(before.memory_some, now.memory_some) ||
         crosses(before.memory_full, now.memory_full) ||
         crosses(before.run_queue_wait, now.run_queue_wait) || crosses(before.steal, now.steal);
}

}  // namespace tundish
