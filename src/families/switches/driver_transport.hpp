#pragma once
// How texts get to one kind of switch and back. One per protocol; all knowledge of the dialect is
// in the item, all knowledge of order, read-back and undoing in ConfiguredSwitch.
#include <functional>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "families/switches/switch_item.hpp"
#include "ports/drivers.hpp"

namespace tundish::switches {

struct SwitchRef {
  std::string name;
  std::string management_url;
};

/// Beside the configuration: what the switch sees.
struct SwitchFacts {
  std::vector<std::string> ports_up;
  std::vector<PortNeighbour> neighbours;
};

struct SwitchFetched {
  SwitchFiles files;
  SwitchFacts facts;
  /// A change of ours was cut off on the switch itself; resume() finishes it.
  bool is_interrupted = false;
};

enum class StepMode {
  strict,   ///< stop at the first command that fails
  tolerant  ///< go on: to clean up what may be there or not. Transactions have no such thing
};

class SwitchTransport {
 public:
  virtual ~SwitchTransport() = default;
  using Done = std::function<void(Result<>)>;
  using FetchDone = std::function<void(Result<SwitchFetched>)>;
  virtual void fetch(const SwitchRef& ref, Duration limit, FetchDone done) = 0;
  /// All steps or, where the switch can, none. With a confirmed commit the switch undoes them by
  /// itself unless confirm() follows.
  virtual void run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode mode,
                   Duration limit, Done done) = 0;
  /// Makes the change permanent: confirms the commit, saves the start-up configuration. `now` is
  /// all of ours that has to be there after a restart.
  virtual void confirm(const SwitchRef& ref, const SwitchState& now, Duration limit, Done done) = 0;
  /// Finishes an interrupted change. Only called where fetch() showed one.
  virtual void resume(const SwitchRef& ref, Duration limit, Done done) {
    (void)ref;
    (void)limit;
    done({});
  }
};

}  // namespace tundish::switches
