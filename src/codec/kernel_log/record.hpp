#pragma once
// One record as /dev/kmsg hands it out (Linux Documentation/ABI/testing/dev-kmsg).
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tundish {

struct KernelRecord {
  int level = 0;
  int facility = 0;  ///< 0: the kernel itself; a write from user space can never carry 0
  std::int64_t seq = 0;
  std::int64_t usec = 0;  ///< since boot
  std::string text;       ///< raw bytes, \xNN undone
  std::map<std::string, std::string> keys;
};

/// "prio,seq,usec,flags[,more];text" and " KEY=value" lines. Anything else is `corrupt`.
Result<KernelRecord> parse_kernel_record(std::string_view bytes);

/// Undoes the kernel's \xNN; a backslash that does not start one stays.
std::string unescape_kernel_text(std::string_view text);
/// Shows every byte outside printable ASCII, and the backslash, as \xNN.
std::string escape_kernel_text(std::string_view text);

}  // namespace tundish
