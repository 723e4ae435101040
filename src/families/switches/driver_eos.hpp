#pragma once
// Arista EOS over eAPI: one configuration session for a change, committed with a timer, so that a
// switch which loses us goes back by itself.
// Source: Kestra's ConfigSession for EOS (a commit with a timer goes back unless confirmed);
// checked 2026-11. The EOS user manual, pyeapi and napalm's eos driver: from memory.
#include <map>

#include "families/switches/driver_http.hpp"
#include "ports/scheduler.hpp"

namespace tundish::switches {

class EosTransport final : public SwitchTransport {
 public:
  EosTransport(Wire& wire, Scheduler& scheduler, HttpLogin login)
      : wire_(wire), scheduler_(scheduler), login_(std::move(login)) {}
  void fetch(const SwitchRef& ref, Duration limit, FetchDone done) override;
  void run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode mode,
           Duration limit, Done done) override;
  void confirm(const SwitchRef& ref, const SwitchState& now, Duration limit, Done done) override;

 private:
  enum class Form { json, text };
  /// A session whose commit waits for its confirmation.
  struct Pending {
    std::string session;
    bool is_committed = false;  ///< it answered so; else it may or may not be
  };
  using ResultsDone = std::function<void(Result<std::vector<JsonValue>>)>;
  void call(const SwitchRef& ref, const std::vector<std::string>& commands, Form form,
            Duration limit, ResultsDone done);
  void abort(const SwitchRef& ref, const std::string& session, Duration limit, Error why,
             const Done& done);

  Wire& wire_;
  Scheduler& scheduler_;
  HttpLogin login_;
  std::map<std::string, Pending> pending_;  ///< by switch
};

}  // namespace tundish::switches
