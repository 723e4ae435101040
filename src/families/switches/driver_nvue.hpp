#pragma once
// Cumulus Linux over the NVUE API: a revision for each change, applied as a whole or not at all.
// Source: Cumulus Linux 5.10 user guide, "NVUE API": POST revision, PATCH ?rev=ID, PATCH
// revision/ID {"state": "apply"}, poll, and {"state": "save"} on the applied one; NVUE reference,
// Config Commands: from 5.9 on an apply saves by itself, so that also a change which is then undone
// was saved for a moment; checked 2026-11.
#include <memory>

#include "families/switches/driver_http.hpp"
#include "ports/scheduler.hpp"

namespace tundish::switches {

class NvueTransport final : public SwitchTransport {
 public:
  NvueTransport(Wire& wire, Scheduler& scheduler, HttpLogin login)
      : wire_(wire), scheduler_(scheduler), login_(std::move(login)) {}
  void fetch(const SwitchRef& ref, Duration limit, FetchDone done) override;
  void run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode mode,
           Duration limit, Done done) override;
  void confirm(const SwitchRef& ref, const SwitchState& now, Duration limit, Done done) override;

 private:
  /// A revision on its way.
  struct Change {
    SwitchRef ref;
    std::string revision;  ///< ready for a URL
    std::vector<SwitchStep> steps;
    std::size_t next = 0;
    Duration limit;
    Instant until;
    Done done;
  };
  using ChangePtr = std::shared_ptr<Change>;
  void call(const SwitchRef& ref, const std::string& method, const std::string& path,
            std::string body, Duration limit, JsonDone done);
  void patch(const ChangePtr& change);
  void apply(const ChangePtr& change);
  void poll(const ChangePtr& change);
  void drop(const ChangePtr& change, const Error& why);

  Wire& wire_;
  Scheduler& scheduler_;
  HttpLogin login_;
};

}  // namespace tundish::switches
