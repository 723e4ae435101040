#pragma once
// How often a port lost its link and came back, from looks at it. Pure: time is handed in.
#include <vector>

#include "base/describe.hpp"

namespace tundish {

enum class PortSeen { up, down };

class PortHistory {
 public:
  /// The node starts: its port is down until its link is trained, which is no loss. One that never
  /// comes is: it counts as down from the first look of this boot.
  void begin_boot() {
    down_since_ = {};
    training_ = true;
  }
  void look(PortSeen seen, Instant at);
  /// Losses of at least `port_drop_after` that ended within the last `port_drop_window`.
  int drops(Instant now) const;
  /// When it was first seen down; not set while it is up.
  Instant down_since() const { return down_since_; }
  void fields(Fields& f) {
    f(1, "down_since", down_since_, "first look that saw it down; empty: it is up");
    f(2, "returns", returns_, "when it came back from a loss that counts, oldest first");
    f(3, "training", training_, "it was not up yet since the node's start");
  }

 private:
  Instant down_since_;
  std::vector<Instant> returns_;
  bool training_ = false;
};

// Source: leptonai/gpud infiniband store, flap: down 25 s then up, 3 in 12 h; checked 2026-08
inline constexpr Duration port_drop_after = seconds(25);
inline constexpr Duration port_drop_window = hours(12);

inline void PortHistory::look(PortSeen seen, Instant at) {
  if (seen == PortSeen::down) {
    if (!down_since_.is_set()) down_since_ = at;
    return;
  }
  const bool lost = down_since_.is_set() && at - down_since_ >= port_drop_after;
  if (lost && !training_) returns_.push_back(at);
  training_ = false;
  down_since_ = {};
  std::erase_if(returns_, [&](Instant back) { return at - back > port_drop_window; });
}

inline int PortHistory::drops(Instant now) const {
  int out = 0;
  for (const Instant back : returns_) {
    if (now - back <= port_drop_window) ++out;
  }
  return out;
}

}  // namespace tundish
