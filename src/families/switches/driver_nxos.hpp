#pragma once
// Cisco NX-OS over NX-API (JSON-RPC). It has neither sessions for everything nor confirmed commits:
// a checkpoint is set before a change, for people; what a change left half done is undone by steps,
// because a rollback would put isolated ports back.
// Source: NX-API REST SDK guide 9.3(x), "Configuring Checkpoints and Rollback" (`checkpoint NAME`,
// `rollback running-config checkpoint NAME`); checked 2026-11. Programmability guide 10.5, "NX-API
// CLI" (JSON-RPC): from memory, not to be read in 2026-11.
#include "families/switches/driver_http.hpp"

namespace tundish::switches {

class NxosTransport final : public SwitchTransport {
 public:
  NxosTransport(Wire& wire, HttpLogin login) : wire_(wire), login_(std::move(login)) {}
  void fetch(const SwitchRef& ref, Duration limit, FetchDone done) override;
  void run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode mode,
           Duration limit, Done done) override;
  void confirm(const SwitchRef& ref, const SwitchState& now, Duration limit, Done done) override;

 private:
  struct Command {
    std::string method;  ///< cli: structured; cli_ascii: text
    std::string text;
  };
  using ResultsDone = std::function<void(Result<std::vector<JsonValue>>)>;
  void call(const SwitchRef& ref, const std::vector<Command>& commands, Duration limit,
            ResultsDone done);
  void change(const SwitchRef& ref, const std::vector<SwitchStep>& steps, Duration limit,
              const Done& done);

  Wire& wire_;
  HttpLogin login_;
};

}  // namespace tundish::switches
