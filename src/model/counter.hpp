#pragma once
// Counters that only grow, as rates: what a counter shows is compared with what it showed before.
#include <optional>
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

/// What is known of one counter at one moment. Absent: not enough was seen yet.
struct CounterReading {
  std::string group;
  std::string device;
  std::string name;
  std::int64_t total = 0;
  std::optional<std::int64_t> per_minute;
  std::optional<std::int64_t> grown;
  Duration covered;
  int resets = 0;
  void fields(Fields& f) {
    f(1, "group", group, "ib, aer, edac, net, pcie, nvlink, ecc or disk");
    f(2, "device", device, "PCI address, HCA/port, interface or memory controller");
    f(3, "name", name, "as the kernel or the driver calls it");
    f(4, "total", total, "what it shows");
    f(5, "per_minute", per_minute, "growth since the look before, scaled to a minute, rounded up");
    f(6, "grown", grown, "growth within the last 24 hours, or since it is watched");
    f(7, "covered", covered, "microseconds of them that were watched");
    f(8, "resets", resets, "times that it began anew: driver reload, boot, overflow");
  }
};

/// The memory of one counter. Pure: time is handed in.
class CounterTrend {
 public:
  /// A value below the one before is a new beginning: what it shows has grown since.
  void add(std::int64_t value, Instant at);
  /// What add() learned; group, device and name are the caller's.
  CounterReading read(Instant now) const;
  bool is_stale(Instant now) const;

  void fields(Fields& f);

 private:
  struct Hour {
    std::int64_t hour = 0;
    std::int64_t count = 0;
    void fields(Fields& f) {
      f(1, "hour", hour, "hours since 1970");
      f(2, "count", count, "growth in it");
    }
  };

  bool seen_ = false;
  std::int64_t last_ = 0;
  Instant last_at_;
  Instant first_at_;
  std::int64_t step_ = 0;  ///< growth between the last two values
  Duration step_took_;     ///< zero: there was only one
  int resets_ = 0;
  std::vector<Hour> hours_;  ///< only those with growth, oldest first
};

}  // namespace tundish
