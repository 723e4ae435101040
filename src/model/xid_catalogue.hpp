#pragma once
// What a GPU error code means and what is to be done first: data with sources, not code.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.hpp"
#include "model/kernel_event.hpp"

namespace tundish {

enum class FaultClass {
  ambiguous,  ///< the user's until it repeats on the same unit
  user,
  hardware,
  fabric,
  software,  ///< driver or firmware
  informational
};
inline std::span<const std::string_view> enum_names(FaultClass) {
  static constexpr std::string_view names[] = {"ambiguous", "user",     "hardware",
                                               "fabric",    "software", "informational"};
  return names;
}

enum class FaultAction {
  none,
  app,    ///< the job restarts; nothing is done to the node
  reset,  ///< GPU reset
  reboot,
  rma,       ///< drain and replace
  fabric,    ///< look at links and switches
  software,  ///< update driver or firmware
  trend,     ///< count
  by_text,   ///< the line says it (XID 154)
  power_off  ///< off, and it stays off: what is live is in danger (a leak); then replace
};
inline std::span<const std::string_view> enum_names(FaultAction) {
  static constexpr std::string_view names[] = {"none",   "app",      "reset", "reboot",
                                               "rma",    "fabric",   "software", "trend",
                                               "by_text", "power_off"};
  return names;
}

/// How much an action must reach.
enum class FaultScope { gpu, port, fabric };
inline std::span<const std::string_view> enum_names(FaultScope) {
  static constexpr std::string_view names[] = {"gpu", "port", "fabric"};
  return names;
}

struct XidEntry {
  int code = 0;
  std::vector<int> also;
  std::string name;
  FaultClass fault_class = FaultClass::ambiguous;
  FaultAction action = FaultAction::none;
  FaultAction on_repeat = FaultAction::none;
  FaultAction when_idle = FaultAction::none;
  bool device_lost = false;
  bool decoy = false;
  FaultScope scope = FaultScope::gpu;
  std::vector<int> cancels;
  std::vector<int> joins;
  std::string since_driver;
  std::string source;
  std::string why;

  void fields(Fields& f) {
    f(1, "code", code, "XID, or SXid in the table of SXids");
    f(2, "also", also, "further codes with the same row; empty after loading");
    f(3, "name", name, "short name");
    f(4, "fault_class", fault_class, "whose fault it is until more is known");
    f(5, "action", action, "what to do first");
    f(6, "on_repeat", on_repeat, "what to do when the first action did not help; none: no more");
    f(7, "when_idle", when_idle, "what is due once no job is there; none: nothing");
    f(8, "device_lost", device_lost, "the GPU is gone or unusable: a job on it cannot go on");
    f(9, "decoy", decoy, "never takes a node out of service by itself");
    f(10, "scope", scope, "what the action must reach");
    f(11, "cancels", cancels, "codes of this table whose state this one ends");
    f(12, "joins", joins, "XIDs of the same incident: one incident, not two");
    f(13, "since_driver", since_driver,
      "first driver branch that prints it; empty: older than 470");
    f(14, "source", source, "letters of facts/health.md section 1");
    f(15, "why", why, "reason of the choice where sources disagree");
  }
};

/// One file of catalog/.
struct XidTable {
  std::string edition;
  std::vector<XidEntry> entries;
  void fields(Fields& f) {
    f(1, "edition", edition, "date of the sources, YYYY-MM");
    f(2, "entries", entries, "one row per code, or per group of codes that share a row");
  }
};

struct XidCatalogue {
  XidTable xid;
  XidTable sxid;

  const XidEntry* find(int code) const;
  const XidEntry* find_sxid(int code) const;
  /// The row that counts for this very line: its own words (RST, D-RST, recovery action, Fatal)
  /// beat the table. An unknown code is shown as ambiguous and never costs anyone a job.
  XidEntry classify(const KernelEvent& event) const;
};

}  // namespace tundish
