#pragma once
// Turns a system off and sees it off: a BMC that accepted the request may have done nothing, and
// what is wet must not be taken for dark. What is off already is not told again: BMCs refuse that.
#include <functional>
#include <memory>
#include <string>

#include "ports/drivers.hpp"
#include "ports/scheduler.hpp"
#include "ports/wire.hpp"

namespace tundish::families {

/// PowerState of a ComputerSystem; empty: not told in a known word.
/// Source: DMTF DSP0268, ComputerSystem.PowerState (On, Off, PoweringOn, PoweringOff, Paused);
/// checked 2026-12.
Result<std::string> parse_power_state(std::string_view text);

class PowerOff : public std::enable_shared_from_this<PowerOff> {
 public:
  struct Parts {
    std::function<void(Wire::Done done)> ask;  ///< reads the system
    std::function<void(Bmc::Done done)> tell;  ///< requests the power-off
    Scheduler& scheduler;
    Instant until;  ///< when not seen off by then: `timeout`, for it may still happen
  };
  PowerOff(Parts parts, Bmc::Done done) : parts_(std::move(parts)), done_(std::move(done)) {}
  void start();

 private:
  void look();
  void take(const Result<HttpResponse>& response);
  void wait(const std::string& seen);

  Parts parts_;
  Bmc::Done done_;
  bool told_ = false;
};

}  // namespace tundish::families
