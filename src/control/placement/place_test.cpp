#include "control/placement/place.hpp"

#include <gmock/gmock.h>

#include "control/placement/fleet_for_test.hpp"

namespace tundish::control::placement {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Placement placed(const Fleet& fleet, const Request& request) {
  const auto index = FleetIndex::create(fleet);
  const Outcome outcome = place(*index, request);
  if (const auto* refused = std::get_if<Shortfall>(&outcome)) {
    ADD_FAILURE() << refused->text;
    return {};
  }
  return std::get<Placement>(outcome);
}

Shortfall refused(const Fleet& fleet, const Request& request) {
  const auto index = FleetIndex::create(fleet);
  const Outcome outcome = place(*index, request);
  if (const auto* placement = std::get_if<Placement>(&outcome)) {
    ADD_FAILURE() << "placed " << placement->members.size() << " nodes";
    return {};
  }
  return std::get<Shortfall>(outcome);
}

std::vector<int> first_four(const Placement& placement) {
  const Key& key = placement.key;
  return {key.pods, key.leaves, key.stranded, key.broken};
}

/// Nodes per "pod/leaf" of a placement.
std::map<std::string, int> takes(const Placement& placement) {
  std::map<std::string, int> result;
  for (const std::string& node : placement.members) ++result[node.substr(0, node.rfind('/'))];
  return result;
}

using Takes = std::map<std::string, int>;

// P1-P8: facts/cloud.md 7.3, optimum keys found there by enumeration.
TEST(Place, P1_kueue_example) {
  const auto got = placed(fleet_of(4, {{"a", {3, 3, 2, 1}}}), {.sku = "s", .count = 7});
  EXPECT_THAT(first_four(got), ElementsAre(1, 3, 0, 0));
  EXPECT_EQ(takes(got), (Takes{{"a/0", 3}, {"a/1", 3}, {"a/3", 1}}));
}

TEST(Place, P2_stays_in_one_pod) {
  const auto got =
      placed(fleet_of(32, {{"a", {32, 12}}, {"b", {20, 24, 4}}}), {.sku = "s", .count = 44});
  EXPECT_THAT(first_four(got), ElementsAre(1, 2, 0, 0));
  EXPECT_EQ(takes(got), (Takes{{"a/0", 32}, {"a/1", 12}}));
}

TEST(Place, P3_fewest_leaves_before_whole_leaves) {
  const auto got = placed(fleet_of(32, {{"a", {32, 9, 8, 15}}}), {.sku = "s", .count = 16});
  EXPECT_THAT(first_four(got), ElementsAre(1, 1, 16, 1));
}

TEST(Place, P4_exact_pair_lowest_id) {
  const auto got =
      placed(fleet_of(32, {{"a", {17, 16, 15, 14, 10}}}), {.sku = "s", .count = 31});
  EXPECT_THAT(first_four(got), ElementsAre(1, 2, 0, 0));
  EXPECT_EQ(takes(got), (Takes{{"a/0", 17}, {"a/3", 14}}));
}

TEST(Place, P5_pod_before_exact_fit) {
  const auto got =
      placed(fleet_of(32, {{"a", {20, 11}}, {"b", {18, 13, 6}}}), {.sku = "s", .count = 33});
  EXPECT_THAT(first_four(got), ElementsAre(1, 3, 4, 0));
}

TEST(Place, P6_pod_with_fewer_leaves) {
  const auto got = placed(fleet_of(32, {{"a", {32, 30, 29, 27}}, {"b", {32, 32, 31, 28}}}),
                          {.sku = "s", .count = 64});
  EXPECT_THAT(first_four(got), ElementsAre(1, 2, 0, 0));
  EXPECT_EQ(takes(got), (Takes{{"b/0", 32}, {"b/1", 32}}));
}

TEST(Place, P7_exact_rack) {
  const auto got = placed(fleet_of(18, {{"a", {18, 17, 16, 9, 4}}}, Domains::per_leaf),
                          {.sku = "s", .count = 16});
  EXPECT_THAT(first_four(got), ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(takes(got), (Takes{{"a/2", 16}}));
}

TEST(Place, P8_each_segment_in_one_domain) {
  const auto got = placed(fleet_of(18, {{"a", {18, 17, 16, 16, 15}}}, Domains::per_leaf),
                          {.sku = "s", .count = 32, .segment_nodes = 16});
  EXPECT_THAT(first_four(got), ElementsAre(1, 2, 0, 0));
  EXPECT_EQ(takes(got), (Takes{{"a/2", 16}, {"a/3", 16}}));
}

TEST(Place, domains_inside_a_leaf_are_kept_whole_too) {
  Fleet fleet;  // one leaf group of three racks with 6, 4 and 3 free of 6
  add_domain(fleet, {"p", "l", "r0"}, {6, 6});
  add_domain(fleet, {"p", "l", "r1"}, {4, 6});
  add_domain(fleet, {"p", "l", "r2"}, {3, 6});
  const auto got = placed(fleet, {.sku = "s", .count = 4});
  EXPECT_EQ(got.key, (Key{1, 1, 9, 0, 1, 0, 0}));
  EXPECT_EQ(takes(got), (Takes{{"p/l/r1", 4}}));
}

TEST(Place, several_pods_only_when_none_fits) {
  const auto fleet = fleet_of(4, {{"a", {3}}, {"b", {2}}, {"c", {4}}});
  const auto got = placed(fleet, {.sku = "s", .count = 6});
  EXPECT_THAT(first_four(got), ElementsAre(2, 2, 0, 0));
  EXPECT_EQ(takes(got), (Takes{{"b/0", 2}, {"c/0", 4}}));
}

TEST(Place, exclusions_and_pin) {
  auto fleet = fleet_of(4, {{"a", {4, 4}}});
  for (Slot& slot : fleet.slots) slot.rack = slot.node.substr(0, 3) + "-rack";
  const Request base{.sku = "s", .count = 2};
  Request request = base;
  request.pinned_leaf_group = "1";
  EXPECT_THAT(placed(fleet, request).members, ElementsAre("a/1/00", "a/1/01"));
  request = base;
  request.excluded_racks = {"a/0-rack"};
  EXPECT_EQ(takes(placed(fleet, request)), (Takes{{"a/1", 2}}));
  request = base;
  request.excluded_leaf_groups = {"0"};
  EXPECT_EQ(takes(placed(fleet, request)), (Takes{{"a/1", 2}}));
  request = base;
  request.excluded_nodes = {"a/0/00", "a/0/02"};
  EXPECT_THAT(placed(fleet, request).members, ElementsAre("a/0/01", "a/0/03"));
}

TEST(Place, spare_stands_in_the_rack_of_its_segment) {
  const auto fleet = fleet_of(18, {{"a", {16, 18}}}, Domains::per_leaf);
  const Request request{.sku = "s", .count = 16, .spares = 2, .segment_nodes = 16};
  const auto got = placed(fleet, request);
  EXPECT_EQ(takes(got), (Takes{{"a/1", 16}}));
  EXPECT_THAT(got.spares, ElementsAre(Spare{"a/1/16", Stand::same_domain},
                                      Spare{"a/1/17", Stand::same_domain}));
}

TEST(Place, spares_climb_from_leaf_to_pod_and_leave_the_optimum_alone) {
  const auto fleet = fleet_of(4, {{"a", {3, 2, 1}}});
  const auto got = placed(fleet, {.sku = "s", .count = 5, .spares = 1});
  EXPECT_EQ(takes(got), (Takes{{"a/0", 3}, {"a/1", 2}}));
  EXPECT_THAT(got.spares, ElementsAre(Spare{"a/2/00", Stand::same_pod}));
  const auto near = placed(fleet, {.sku = "s", .count = 1, .spares = 1});
  EXPECT_THAT(near.spares, ElementsAre(Spare{"a/1/00", Stand::same_pod}));
  const auto leaf = placed(fleet_of(4, {{"a", {3}}}), {.sku = "s", .count = 2, .spares = 1});
  EXPECT_THAT(leaf.spares, ElementsAre(Spare{"a/0/02", Stand::same_leaf}));
}

TEST(Place, shortfall_says_what_would_fit) {
  const auto fleet = fleet_of(8, {{"a", {3, 2}}});
  const auto got = refused(fleet, {.sku = "s", .count = 8});
  EXPECT_EQ(got.text,
            "asked 8 nodes of sku s, 5 free and healthy; "
            "would fit: 5 nodes, or 4 nodes + 1 spare");
  EXPECT_EQ(got.blocked_by, Blocker::capacity);
  ASSERT_EQ(got.leaves.size(), 2u);
  EXPECT_EQ(got.leaves[1].usable, 2);
  EXPECT_EQ(to_error(got).code, Code::exhausted);
}

TEST(Place, shortfall_names_the_constraint) {
  const auto racks = fleet_of(18, {{"a", {9, 9}}}, Domains::per_leaf);
  const auto segment = refused(racks, {.sku = "s", .count = 16, .segment_nodes = 16});
  EXPECT_EQ(segment.blocked_by, Blocker::segment);
  EXPECT_THAT(segment.text, HasSubstr("the largest has 9"));
  Request request{.sku = "s", .count = 12};
  request.pinned_leaf_group = "0";
  EXPECT_EQ(refused(racks, request).blocked_by, Blocker::exclusion);
  const auto spares =
      refused(fleet_of(4, {{"a", {4}}, {"b", {1}}}), {.sku = "s", .count = 4, .spares = 1});
  EXPECT_EQ(spares.blocked_by, Blocker::spares);
  EXPECT_EQ(spares.largest_with_spares, 3);
  EXPECT_EQ(refused(racks, {.sku = "t", .count = 1}).blocked_by, Blocker::unknown_sku);
  const auto odd = refused(racks, {.sku = "s", .count = 7, .segment_nodes = 2});
  EXPECT_EQ(odd.blocked_by, Blocker::invalid_request);
  EXPECT_EQ(to_error(odd).code, Code::invalid);
}

TEST(FleetIndex, updates_and_refusals) {
  auto index = FleetIndex::create(fleet_of(2, {{"a", {2, 1}}}));
  ASSERT_TRUE(index);
  ASSERT_TRUE(index->mark_busy("a/0/00"));
  ASSERT_TRUE(index->mark_busy("a/0/00"));
  const Pool& pool = *index->find_pool("s");
  EXPECT_EQ(pool.leaf_tally[0].free, 1);
  EXPECT_EQ(pool.leaf_tally[0].busy, 1);
  ASSERT_TRUE(index->mark_free("a/0/00"));
  EXPECT_TRUE(pool.leaf_tally[0].wholly_free());
  EXPECT_EQ(index->mark_free("nobody").error().code, Code::not_found);
  auto twice = fleet_of(1, {{"a", {1}}});
  twice.slots.push_back(twice.slots[0]);
  EXPECT_EQ(FleetIndex::create(twice).error().code, Code::invalid);
}

Replacement swapped(const Fleet& fleet, const Swap& swap, const Request& request) {
  const auto index = FleetIndex::create(fleet);
  const SwapOutcome outcome = pick_replacement(*index, swap, request);
  if (const auto* none = std::get_if<Shortfall>(&outcome)) {
    ADD_FAILURE() << none->text;
    return {};
  }
  return std::get<Replacement>(outcome);
}

TEST(Replace, keeps_the_segment_rule) {
  Fleet fleet;  // busy nodes come after the free ones: r0/2 and r0/3 are the gang
  add_domain(fleet, {"p", "l", "r0"}, {2, 4});
  add_domain(fleet, {"p", "l", "r1"}, {4, 4});
  const Swap swap{.lost = "p/l/r0/02", .members = {"p/l/r0/02", "p/l/r0/03"}, .held_spares = {}};
  const Request request{.sku = "s", .count = 2, .segment_nodes = 2};
  const auto got = swapped(fleet, swap, request);
  EXPECT_EQ(got.node, "p/l/r0/00");
  EXPECT_EQ(got.stand, Stand::same_domain);
  Request full = request;
  full.excluded_nodes = {"p/l/r0/00", "p/l/r0/01"};
  const auto none = pick_replacement(*FleetIndex::create(fleet), swap, full);
  ASSERT_TRUE(std::holds_alternative<Shortfall>(none));
  EXPECT_THAT(std::get<Shortfall>(none).text, HasSubstr("NVLink domain"));
}

TEST(Replace, prefers_a_held_spare_then_the_leaf_then_the_pod) {
  const auto fleet = fleet_of(4, {{"a", {1, 2, 4}}, {"b", {4}}});
  const Request request{.sku = "s", .count = 2};
  Swap swap{.lost = "a/0/01", .members = {"a/0/01", "a/0/02"}, .held_spares = {"a/1/03"}};
  EXPECT_EQ(swapped(fleet, swap, request).node, "a/1/03");
  EXPECT_TRUE(swapped(fleet, swap, request).from_spare);
  swap.held_spares.clear();
  EXPECT_EQ(swapped(fleet, swap, request).node, "a/0/00");
  Request other = request;
  other.excluded_nodes = {"a/0/00"};
  const auto pod = swapped(fleet, swap, other);
  EXPECT_EQ(pod.node, "a/1/00") << "leaf 1 strands 1 free node, leaf 2 would strand 3";
  EXPECT_EQ(pod.stand, Stand::same_pod);
  other.excluded_leaf_groups = {"1", "2"};
  swap.members = {"a/0/01"};
  const auto outcome = pick_replacement(*FleetIndex::create(fleet), swap, other);
  EXPECT_TRUE(std::holds_alternative<Shortfall>(outcome)) << "b is another pod";
}

}  // namespace
}  // namespace tundish::control::placement
