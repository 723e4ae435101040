#include "model/registry.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

Node make_node(Txn& txn, const std::string& name) {
  Node node;
  node.id = txn.make_id<Node>();
  node.meta.name = name;
  return node;
}

TEST(Registry, an_undone_transaction_leaves_nothing) {
  Registry registry;
  Txn first(registry, Instant{1}, "test");
  Node node = make_node(first, "n01");
  const NodeId id = node.id;
  first.put(node);
  Txn second(registry, Instant{2}, "test");
  node.meta.name = "renamed";
  second.put(node);
  Claim claim;
  claim.id = second.make_id<Claim>();
  claim.node = id;
  second.put(claim);
  EXPECT_EQ(registry.claims_on(id).size(), 1u);
  second.undo();
  EXPECT_TRUE(registry.claims_on(id).empty());
  ASSERT_NE(registry.find_named<Node>("n01"), nullptr);
  EXPECT_EQ(registry.find_named<Node>("renamed"), nullptr);
}

TEST(Registry, another_tenants_object_is_not_found_by_name_or_id) {
  Registry registry;
  Txn txn(registry, Instant{1}, "test");
  Cluster cluster;
  cluster.id = txn.make_id<Cluster>();
  cluster.meta.name = "train";
  cluster.meta.tenant = TenantId("tenant-a");
  txn.put(cluster);
  EXPECT_NE(registry.find_named<Cluster>("train", TenantId("tenant-a")), nullptr);
  EXPECT_EQ(registry.find_named<Cluster>("train", TenantId("tenant-b")), nullptr);
  EXPECT_EQ(registry.find_named<Cluster>(cluster.id.str(), TenantId("tenant-b")), nullptr);
}

TEST(Registry, a_name_used_by_two_tenants_is_ambiguous_for_the_operator) {
  Registry registry;
  Txn txn(registry, Instant{1}, "test");
  for (const char* tenant : {"tenant-a", "tenant-b"}) {
    Cluster cluster;
    cluster.id = txn.make_id<Cluster>();
    cluster.meta.name = "train";
    cluster.meta.tenant = TenantId(tenant);
    txn.put(cluster);
  }
  EXPECT_EQ(registry.find_named<Cluster>("train"), nullptr);
  EXPECT_NE(registry.find_named<Cluster>("train", TenantId("tenant-b")), nullptr);
}

TEST(Registry, revisions_only_grow_and_every_kind_can_be_made) {
  Registry registry;
  Txn txn(registry, Instant{1}, "test");
  Node node = make_node(txn, "n01");
  txn.put(node);
  const auto before = registry.revision();
  txn.put(node);
  EXPECT_GT(registry.revision(), before);
  EXPECT_NE(make_object("incident"), nullptr);
  EXPECT_EQ(make_object("unheard_of"), nullptr);
}

}  // namespace
}  // namespace tundish
