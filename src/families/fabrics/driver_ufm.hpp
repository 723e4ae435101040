#pragma once
// UFM over Wire. What UFM accepted and what it shows are kept apart: a change is done when a read
// shows it. UFM does not show the ports' PKey tables, so a reading has none.
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "ports/drivers.hpp"
#include "ports/scheduler.hpp"
#include "ports/wire.hpp"

namespace tundish::families {

class UfmManager final : public FabricManager {
 public:
  /// The Authorization header's value for a fabric; empty: none.
  using Authorization = std::function<std::string(const std::string& fabric)>;

  UfmManager(Wire& wire, Scheduler& scheduler, Authorization authorization);
  void apply(const FabricRef& ref, const FabricState& desired, Duration limit, Done done) override;
  void read(const FabricRef& ref, Duration limit, ReadDone done) override;

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace tundish::families
