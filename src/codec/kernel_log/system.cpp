#include <initializer_list>

#include "codec/kernel_log/scan.hpp"
#include "codec/kernel_log/shapes.hpp"

namespace tundish::kernel_log {
namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (contains(text, part)) return true;
  }
  return false;
}

/// "Memory cgroup out of memory: Killed process 123 (python) total-vm:...". The name is arbitrary
/// bytes, so its end is the last ") total-vm", not the first bracket.
std::optional<KernelEvent> parse_oom(std::string_view text) {
  std::string_view rest = text;
  if (!take(rest, "Out of memory: ") && !take(rest, "Memory cgroup out of memory: ")) {
    return std::nullopt;
  }
  if (!take(rest, "Killed process ") && !take(rest, "Kill process ")) return std::nullopt;
  KernelEvent event;
  event.kind = KernelEventKind::oom;
  event.detail = text;
  event.pid = take_number(rest).value_or(0);
  if (!take(rest, " (") && !take(rest, ", ")) return event;
  std::size_t end = rest.rfind(") total-vm");
  if (end == std::string_view::npos) end = rest.find(')');
  if (end != std::string_view::npos) event.process = rest.substr(0, end);
  return event;
}

/// "INFO: task NAME:PID blocked for more than 120 seconds."
std::optional<KernelEvent> parse_hung_task(std::string_view text) {
  std::string_view rest = text;
  if (!take(rest, "INFO: task ")) return std::nullopt;
  const std::size_t at = rest.rfind(" blocked ");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view words = rest.substr(at + 9);
  if (!contains(words, "for more than ") || !contains(words, " seconds")) return std::nullopt;
  KernelEvent event;
  event.kind = KernelEventKind::hung_task;
  event.detail = rest.substr(at + 1);
  std::string_view task = rest.substr(0, at);
  if (const std::size_t colon = task.rfind(':'); colon != std::string_view::npos) {
    std::string_view pid = task.substr(colon + 1);
    event.pid = take_number(pid).value_or(0);
    event.process = task.substr(0, colon);
  }
  return event;
}

/// "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:1234]"
std::optional<KernelEvent> parse_soft_lockup(std::string_view text) {
  std::string_view rest = text;
  take(rest, "watchdog: ");
  if (!take(rest, "BUG: soft lockup - ")) return std::nullopt;
  KernelEvent event;
  event.kind = KernelEventKind::soft_lockup;
  event.detail = rest;
  const std::size_t open = rest.find(" [");
  const std::size_t close = rest.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return event;
  }
  const std::string_view task = rest.substr(open + 2, close - open - 2);
  if (const std::size_t colon = task.rfind(':'); colon != std::string_view::npos) {
    std::string_view pid = task.substr(colon + 1);
    event.pid = take_number(pid).value_or(0);
    event.process = task.substr(0, colon);
  }
  return event;
}

KernelEvent io_error(std::string_view device, std::string_view text) {
  KernelEvent event;
  event.kind = KernelEventKind::io_error;
  event.block_device = device;
  event.detail = text;
  return event;
}

/// "EXT4-fs error (device sda1): ...", "EXT4-fs (sda1): Remounting filesystem read-only",
/// "XFS (nvme0n1p1): log I/O error -5". Both also print a great deal that is no error.
std::optional<KernelEvent> parse_file_system(std::string_view text) {
  std::string_view rest = text;
  const bool error = take(rest, "EXT4-fs error (device ");
  if (!error && !take(rest, "EXT4-fs (") && !take(rest, "EXT4-fs warning (device ") &&
      !take(rest, "XFS (")) {
    return std::nullopt;
  }
  const std::string_view device = take_until(rest, ")");
  if (!take(rest, "): ")) return std::nullopt;
  const bool bad = contains_any(
      rest, {"I/O error", "orruption", "Remounting filesystem read-only",
             "Shutting down filesystem", "Shutting down.", "Internal error", "has been shut down"});
  if (!error && !bad) return std::nullopt;
  return io_error(device, text);
}

/// "I/O error, dev sda, sector 0 ...", with "blk_update_request: " before Linux 5.17.
std::optional<KernelEvent> parse_block(std::string_view text) {
  std::string_view rest = text;
  take(rest, "blk_update_request: ");
  for (const std::string_view words :
       {"I/O error, dev ", "critical medium error, dev ", "critical target error, dev ",
        "Buffer I/O error on dev ", "Buffer I/O error on device "}) {
    if (!take(rest, words)) continue;
    return io_error(take_until(rest, ", "), text);
  }
  return std::nullopt;
}

}  // namespace

std::optional<KernelEvent> parse_system(std::string_view text) {
  if (auto event = parse_oom(text)) return event;
  if (auto event = parse_hung_task(text)) return event;
  if (auto event = parse_soft_lockup(text)) return event;
  if (auto event = parse_file_system(text)) return event;
  return parse_block(text);
}

}  // namespace tundish::kernel_log
