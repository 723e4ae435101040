#pragma once
// One node's kernel log as the kernel keeps it: numbered records, the oldest fall out. Pure.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace tundish::lab {

/// Facility and level as syslog counts them: `prio = facility * 8 + level`.
struct KernelPriority {
  unsigned facility = 0;  ///< 0 kernel, 1 user
  unsigned level = 4;     ///< 0 emergency .. 7 debug
};

/// A write to /dev/kmsg taken apart.
struct KernelLine {
  KernelPriority priority;
  std::string_view text;
};

/// What the kernel makes of a user's write: an optional `<N>` in front, facility 1 unless N names
/// another, one trailing newline dropped. Source: Linux kernel/printk/printk.c, devkmsg_write;
/// compared with the real /dev/kmsg of 6.18, 2026.
KernelLine parse_kernel_write(std::string_view written);

class KernelLogRing {
 public:
  /// Bytes of text kept. Source: CONFIG_LOG_BUF_SHIFT 17, the default of x86_64 distributions.
  static constexpr std::size_t capacity_bytes = std::size_t{128} * 1024;
  /// Records kept. Source: printk.c, 2^(17 - PRB_AVGBITS 5) descriptors.
  static constexpr std::size_t capacity_records = 4096;
  /// A longer write is refused with EINVAL. Source: printk.c, PRINTKRB_RECORD_MAX.
  static constexpr std::size_t write_limit = 1024;

  struct Reading {
    enum class Kind { record, empty, overrun };
    Kind kind = Kind::empty;
    std::string line;             ///< `prio,seq,usec,-;text\n`, for a record
    std::uint64_t next_seq = 0;  ///< where the cursor stands afterwards
  };

  void append(KernelPriority priority, std::int64_t usec, std::string_view text);
  Reading read(std::uint64_t cursor) const;
  /// A boot: nothing is left and numbering starts at 0.
  void clear();

  std::uint64_t oldest_seq() const { return next_seq_ - records_.size(); }
  std::uint64_t next_seq() const { return next_seq_; }

 private:
  struct Record {
    std::string line;
    std::size_t cost = 0;  ///< bytes it takes of `capacity_bytes`
  };

  std::deque<Record> records_;
  std::size_t used_bytes_ = 0;
  std::uint64_t next_seq_ = 0;
};

}  // namespace tundish::lab
