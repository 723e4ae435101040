#pragma once
// Three tenants on two leaves, everything as wanted and seen.
#include <gtest/gtest.h>

#include "control/network/reconcile_switch.hpp"
#include "control/network/site_for_test.hpp"

namespace tundish::control::network {

class ReconcileSite : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    ASSERT_EQ(site.faults, "");
    site.seen.started_at = site.now;
    site.now = site.now + minutes(5);
    site.show_as_planned();
    settle();
  }
  NetworkOutcome settle() {
    auto out = reconcile_networks(site.view(), "access");
    for (const auto& change : out.changes) site.must(change.operation);
    EXPECT_EQ(site.faults, "");
    return out;
  }
  const NetworkSync* sync(const std::string& network, const std::string& object) {
    for (const auto& one : site.network(network).status.sync) {
      if (one.object == object) return &one;
    }
    return nullptr;
  }
  const Condition* condition(const std::string& leaf, const std::string& type) {
    for (const auto& one : site.registry.find_named<Switch>(leaf)->status.conditions) {
      if (one.type == type) return &one;
    }
    return nullptr;
  }
  void look_again(Duration later) {
    site.now = site.now + later;
    for (auto& [name, seen] : site.seen.switches) seen.at = site.now;
    for (auto& [name, seen] : site.seen.fabrics) seen.at = site.now;
  }
  void mark_nodes() {
    for (const auto& [id, node] : site.registry.all<Node>()) before[id] = node.meta.revision;
  }
  TestSite site;
  std::map<NodeId, std::int64_t> before;
};

}  // namespace tundish::control::network
