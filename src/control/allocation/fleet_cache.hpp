#pragma once
// The fleet that placement works on, kept true from change to change: to build it anew costs
// milliseconds, and every order and every replacement asks for it.
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/placement/fleet.hpp"
#include "control/view.hpp"

namespace tundish::control {

/// Its owner tells it of everything that placeable() reads, except the time: nodes fall silent by
/// themselves. Then at() is what FleetIndex::create(fleet_of(view)) would be.
class FleetCache {
 public:
  /// Valid until the next call of any member. Time must not go back between calls.
  Result<const placement::FleetIndex*> at(const View& view);

  /// The node, its claims or its presence changed; also for a new node.
  void touch_node(const NodeId& node) { touched_.insert(node); }
  /// What is seen of the port changed.
  void touch_port(const std::string& switch_name, const std::string& port);
  /// Anything may have changed.
  void reset() { stale_ = true; }

 private:
  struct Entry {
    placement::Slot slot;
    bool watched = false;  ///< its falling silent is awaited in silences_
  };
  using Silence = std::pair<Instant, NodeId>;

  Result<void> build(const View& view);
  Result<void> refresh(const View& view);
  void wait_for_silence(const View& view, const NodeId& node, Entry& entry);
  void end_silences(const View& view);
  void keep_ports(const View& view, const Node& node);

  bool stale_ = true;
  placement::FleetIndex index_;
  std::map<NodeId, Entry> entries_;
  std::set<NodeId> touched_;
  /// Nodes that ever had the port: more than needed is harmless.
  std::map<std::pair<std::string, std::string>, std::set<NodeId>> nodes_of_port_;
  std::priority_queue<Silence, std::vector<Silence>, std::greater<>> silences_;
};

/// The view's index where it has one, else a new one in `own`.
Result<const placement::FleetIndex*> find_fleet(const View& view, FleetCache& own);

}  // namespace tundish::control
