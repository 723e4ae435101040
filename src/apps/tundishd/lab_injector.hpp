#pragma once
#include <string>

#include "ports/drivers.hpp"
#include "ports/wire.hpp"

namespace tundish::tundishd {

/// Faults in a lab: its simulated hardware fails, and its kernel log says so.
class LabInjector final : public FaultInjector {
 public:
  LabInjector(Wire& wire, std::string socket) : wire_(wire), socket_(std::move(socket)) {}
  void start(const Injection& injection, Done done) override;

 private:
  Wire& wire_;
  std::string socket_;
};

}  // namespace tundish::tundishd
