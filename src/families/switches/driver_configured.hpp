#pragma once
// A switch whose configuration we render: read, merge, step, read back, confirm or undo. One change
// of a switch at a time; what waits meanwhile goes together in the next one. When a batch fails, it
// is undone and each of its requests is tried alone.
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "families/switches/driver_scope.hpp"
#include "families/switches/driver_transport.hpp"
#include "ports/scheduler.hpp"

namespace tundish::switches {

class ConfiguredSwitch final : public SwitchDriver {
 public:
  ConfiguredSwitch(const SwitchItem& item, SwitchTransport& transport, Scheduler& scheduler)
      : item_(item), transport_(transport), scheduler_(scheduler) {}
  void attach(const PortRef& port, const PortIntent& intent, Duration limit, Done done) override;
  void read(const PortRef& any_port_of_switch, const SwitchOwnership& ownership, Duration limit,
            ReadDone done) override;

 private:
  struct Request {
    PortRef port;
    PortIntent intent;
    Duration limit;
    Done done;
    bool alone = false;  ///< was in a batch that was refused: its neighbours must not suffer
  };
  /// A batch on its way through one switch.
  struct Change {
    SwitchRef ref;
    std::vector<Request> requests;
    SwitchState before, wanted, back;
    std::vector<std::string> unclear;  ///< lines that were not understood before either
    ChangeScope scope;
    Duration limit;
    Instant settle_at;  ///< until then a switch that took the change may still show the old state
    bool resumed = false;
    const SwitchOwnership& ownership() const { return requests.front().intent.ownership; }
  };
  using ChangePtr = std::shared_ptr<Change>;
  void start_next(const std::string& name);
  void look(const ChangePtr& change);
  void plan(const ChangePtr& change, const SwitchFetched& fetched);
  Result<> accept(const ChangePtr& change) const;
  void read_back(const ChangePtr& change, const Result<>& ran);
  void check_back(const ChangePtr& change, const Result<>& ran, const SwitchSeen& seen);
  void undo(const ChangePtr& change, const SwitchSeen& seen, const Error& why);
  void check_undone(const ChangePtr& change, const Result<>& ran, Error why);
  void one_by_one(const ChangePtr& change, const Error& why);
  void finish(const ChangePtr& change, const Result<>& result);
  Result<SwitchSeen> parse(const ChangePtr& change, const Result<SwitchFetched>& fetched) const;

  const SwitchItem& item_;
  SwitchTransport& transport_;
  Scheduler& scheduler_;
  std::map<std::string, std::deque<Request>> waiting_;
  std::map<std::string, ChangePtr> running_;
};

/// Ports of ours with their segment "seg<l2vni>", as the configuration and the links show them.
SwitchReading read_of(const std::string& switch_name, SwitchSeen seen, const SwitchFacts& facts);
}  // namespace tundish::switches
