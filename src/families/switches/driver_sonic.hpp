#pragma once
// SONiC over SSH: CONFIG_DB by JSON Patch, route targets in FRR. What it shows is read from what
// the managers and orchagent applied, never from CONFIG_DB alone. One ASIC only.
#include "families/switches/driver_scripts.hpp"

namespace tundish::switches {

class SonicTransport final : public SwitchTransport {
 public:
  explicit SonicTransport(Exec& exec) : exec_(exec) {}
  void fetch(const SwitchRef& ref, Duration limit, FetchDone done) override;
  /// Refuses a switch that would forget its FRR configuration at the next start.
  void run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode mode,
           Duration limit, Done done) override;
  void confirm(const SwitchRef& ref, const SwitchState& now, Duration limit, Done done) override;
  void resume(const SwitchRef& ref, Duration limit, Done done) override;

 private:
  using OutDone = std::function<void(Result<std::string>)>;
  void call(const SwitchRef& ref, std::string program, Duration limit,
            std::vector<std::string> steps, OutDone done);

  Exec& exec_;
};

/// Each patch suited to the CONFIG_DB that it will meet, and behind it the keys of APPL_DB that
/// have to follow. A patch that does not fit is left out in tolerant mode.
Result<std::vector<SwitchStep>> suit_sonic_steps(const std::vector<SwitchStep>& steps,
                                                 std::string config_db, StepMode mode);

}  // namespace tundish::switches
