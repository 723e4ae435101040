#pragma once
// A switch whose configuration we render: read, merge, step, read back, confirm or undo. One change
// of a switch at a time; what waits meanwhile goes together in the next one.
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "families/switches/driver_transport.hpp"

namespace tundish::switches {

class ConfiguredSwitch final : public SwitchDriver {
 public:
  ConfiguredSwitch(const SwitchItem& item, SwitchTransport& transport)
      : item_(item), transport_(transport) {}
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
    SwitchState before, wanted;
    Duration limit;
  };
  using ChangePtr = std::shared_ptr<Change>;
  void start_next(const std::string& name);
  void plan(const ChangePtr& change, const SwitchFetched& fetched);
  void check_back(const ChangePtr& change, const Result<SwitchFetched>& fetched);
  void refuse(const ChangePtr& change, const Error& why);
  void undo(const ChangePtr& change, const SwitchState& now, Error why);
  void finish(const ChangePtr& change, const Result<>& result);

  const SwitchItem& item_;
  SwitchTransport& transport_;
  std::map<std::string, std::deque<Request>> waiting_;
  std::map<std::string, ChangePtr> running_;
};

/// Ports of ours with their segment "seg<l2vni>", as the configuration and the links show them.
SwitchReading read_of(const std::string& switch_name, SwitchSeen seen, const SwitchFacts& facts);
/// What of `wanted` that the patches name is not in `seen`; empty: all there.
std::string find_missing(const SwitchState& wanted, const SwitchSeen& seen);

}  // namespace tundish::switches
