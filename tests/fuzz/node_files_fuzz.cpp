// Texts of the kernel's files: mount table, pressure, AER, link speed, scheduler statistics.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "runtime/agent/nvme_log.hpp"
#include "runtime/agent/proc_files.hpp"
#include "runtime/agent/sys_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto& mount : tundish::agent::parse_mount_table(text)) {
    tundish::check(!mount.target.empty(), "a mount has its place");
  }
  const auto share = tundish::agent::parse_pressure(text, "some");
  if (share) tundish::check(*share >= 0 && *share <= 10099, "a share is a share");
  (void)tundish::agent::parse_run_queue_wait(text);
  (void)tundish::agent::parse_link_speed(text);
  (void)tundish::agent::parse_rate(text);
  if (const auto errors = tundish::agent::parse_aer(text)) {
    tundish::check(*errors >= 0, "a count is not below zero");
  }
  tundish::NvmeReading drive;
  (void)tundish::agent::parse_nvme_health(text, drive);
  return 0;
}
