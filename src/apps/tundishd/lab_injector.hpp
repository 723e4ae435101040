#pragma once
#include <string>

#include "ports/drivers.hpp"
#include "ports/scheduler.hpp"
#include "ports/wire.hpp"

namespace tundish::tundishd {

/// Faults in a lab: its simulated hardware fails, and its kernel log says so. What lasts for a time
/// is mended by the same hand; a tundishd that ends meanwhile leaves it broken.
class LabInjector final : public FaultInjector {
 public:
  LabInjector(Wire& wire, Scheduler& scheduler, std::string socket)
      : wire_(wire), scheduler_(scheduler), socket_(std::move(socket)) {}
  void start(const Injection& injection, Done done) override;

 private:
  struct Knob {
    std::string path;
    std::string body;
    std::string mend;  ///< body that ends it; empty: it ends by itself or by a repair
  };
  static Result<Knob> knob_of(const Injection& injection);
  void post(const Knob& knob, Done done);

  Wire& wire_;
  Scheduler& scheduler_;
  std::string socket_;
};

}  // namespace tundish::tundishd
