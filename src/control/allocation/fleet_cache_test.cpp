#include "control/allocation/fleet_cache.hpp"

#include <gtest/gtest.h>

#include "control/allocation/fleet_view.hpp"
#include "control/placement/draw_for_test.hpp"

namespace tundish::control {
namespace {

/// A fleet in which everything that placement reads changes at random.
class Changing {
 public:
  explicit Changing(std::uint64_t seed) : draw_(seed) {
    Sku sku;
    sku.id = Id<Sku>("sku-1");
    sku.meta.name = "gpu";
    sku.spec.gpus = 8;
    put(sku);
    for (int i = 0; i < nodes; ++i) add_node();
  }

  /// One change, and the cache is told as the manager tells it.
  void change(FleetCache& cache) {
    const NodeId id =
        nodes_[static_cast<std::size_t>(draw_.below(static_cast<int>(nodes_.size())))];
    Node node = *reg_.find(id);
    switch (draw_.below(8)) {
      case 0: return hear(cache, id);
      case 1: now_ = now_ + seconds(draw_.below(9)); return;
      case 2: return claim(cache, id);
      case 3: return see_port(cache, node);
      case 4: node.status.allocation = AllocationId(draw_.percent(50) ? "allocation-1" : ""); break;
      case 5: node.status.phase = draw_.percent(70) ? NodePhase::ready : NodePhase::retired; break;
      case 6:
        node.status.conditions.resize(draw_.percent(30) ? 1 : 0, {"drift", Truth::yes, "", {}});
        break;
      default:
        if (draw_.percent(20)) node.spec.leaf_group = "r" + std::to_string(draw_.below(4));
        if (draw_.percent(5)) cache.touch_node(add_node());
    }
    put(node);
    cache.touch_node(id);
  }

  View view() const { return {reg_, seen_, policy_, limits_, now_}; }

 private:
  static constexpr int nodes = 12;

  template <class T>
  void put(T object) {
    Txn txn(reg_, now_, "test");
    txn.put(std::move(object));
  }
  NodeId add_node() {
    const std::string number = std::to_string(nodes_.size());
    Node node;
    node.id = NodeId("node-" + number);
    node.meta.name = "n" + number;
    node.spec.sku = "gpu";
    node.spec.leaf_group = "r" + std::to_string(draw_.below(4));
    node.spec.ports.push_back({"eth0", PortRole::access, "", "leaf1", "swp" + number, -1});
    node.status.phase = NodePhase::ready;
    nodes_.push_back(node.id);
    put(node);
    return nodes_.back();
  }
  void hear(FleetCache& cache, const NodeId& id) {
    const bool was_silent = !is_present(view(), id);
    seen_.presence[id].last_heard = now_;
    if (was_silent) cache.touch_node(id);
  }
  void claim(FleetCache& cache, const NodeId& id) {
    Claim claim;
    claim.id = Id<Claim>("claim-" + id.str());
    claim.node = id;
    claim.state = draw_.percent(50) ? ClaimState::active : ClaimState::released;
    put(claim);
    cache.touch_node(id);
  }
  void see_port(FleetCache& cache, const Node& node) {
    const Port& port = node.spec.ports.front();
    seen_.ports[{port.switch_name, port.switch_port}].segment = draw_.percent(50) ? "" : "tenant-7";
    cache.touch_port(port.switch_name, port.switch_port);
  }

  placement::Draw draw_;
  Registry reg_;
  Observations seen_;
  RemediationPolicy policy_;
  Limits limits_;
  Instant now_{1'700'000'000'000'000};
  std::vector<NodeId> nodes_;
};

TEST(FleetCache, isAlwaysWhatWouldBeBuiltAnew) {
  int differing = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Changing fleet(seed);
    FleetCache cache;
    auto last = placement::FleetIndex::create(fleet_of(fleet.view()));
    for (int step = 0; step < 400; ++step) {
      fleet.change(cache);
      if (step % 3 != 0) continue;  // several changes between two questions
      const auto kept = cache.at(fleet.view());
      const auto fresh = placement::FleetIndex::create(fleet_of(fleet.view()));
      ASSERT_TRUE(kept && fresh);
      ASSERT_TRUE(**kept == *fresh) << "seed " << seed << " step " << step;
      differing += *fresh == *last ? 0 : 1;
      last = fresh;
    }
  }
  EXPECT_GT(differing, 1000) << "the fleet must change under the cache";
}

TEST(FleetCache, aViewWithoutOneBuildsItsOwn) {
  const Changing fleet(1);
  FleetCache own;
  const auto found = find_fleet(fleet.view(), own);
  ASSERT_TRUE(found);
  EXPECT_TRUE(**found == *placement::FleetIndex::create(fleet_of(fleet.view())));
}

}  // namespace
}  // namespace tundish::control
