#pragma once
// Linux with FRR over SSH as root: vtysh, iproute2 and nft, one call for a read, one for a change.
#include "families/switches/driver_transport.hpp"
#include "families/switches/frr_parts/frr_parts.hpp"
#include "ports/exec.hpp"

namespace tundish::switches {

class FrrTransport final : public SwitchTransport {
 public:
  FrrTransport(Exec& exec, frr_parts::Kernel kernel) : exec_(exec), kernel_(kernel) {}
  void fetch(const SwitchRef& ref, Duration limit, FetchDone done) override;
  /// The steps go on also when the connection or this process dies.
  void run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode mode,
           Duration limit, Done done) override;
  /// `write memory`, and a program that makes our part of the kernel anew when the switch starts.
  void confirm(const SwitchRef& ref, const SwitchState& now, Duration limit, Done done) override;
  void resume(const SwitchRef& ref, Duration limit, Done done) override;

 private:
  using OutDone = std::function<void(Result<std::string>)>;
  void call(const SwitchRef& ref, std::string program, Duration limit,
            std::vector<std::string> steps, OutDone done);

  Exec& exec_;
  frr_parts::Kernel kernel_;
};

}  // namespace tundish::switches
