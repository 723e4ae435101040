#pragma once
// Juniper Junos over its REST API: load, commit confirmed and release in one request, which stops
// at the first error; a commit that nobody confirms is taken back by the switch. Source: Junos OS
// REST API guide (POST /rpc?stop-on-error=1), Junos XML management protocol guide
// (commit-configuration with confirm-timeout in minutes, 1 to 65535, not in seconds as NETCONF's
// commit has it; checked 2026-11). The REST guide, load-configuration action="set" and
// get-configuration format="set" are from memory: no page of them was to be read in 2026-11.
#include "families/switches/driver_http.hpp"
#include "families/switches/driver_transport.hpp"

namespace tundish::switches {

class JunosTransport final : public SwitchTransport {
 public:
  JunosTransport(Wire& wire, HttpLogin login) : wire_(wire), login_(std::move(login)) {}
  void fetch(const SwitchRef& ref, Duration limit, FetchDone done) override;
  void run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode mode,
           Duration limit, Done done) override;
  void confirm(const SwitchRef& ref, const SwitchState& now, Duration limit, Done done) override;

 private:
  using TextDone = std::function<void(Result<std::string>)>;
  /// The answers of all procedures, one behind the other; an error in one is an Error.
  void call(const SwitchRef& ref, const std::string& procedures, Duration limit, TextDone done);

  Wire& wire_;
  HttpLogin login_;
};

}  // namespace tundish::switches
