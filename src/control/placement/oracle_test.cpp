// Compares place() with enumeration of every subset of nodes on thousands of small fleets.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>

#include "control/placement/draw_for_test.hpp"
#include "control/placement/fleet_for_test.hpp"
#include "control/placement/place.hpp"

namespace tundish::control::placement {
namespace {

/// Free, busy, usable and picked nodes of one place.
struct Count {
  int free = 0, busy = 0, usable = 0, picked = 0;
};

struct Answer {
  Key key;
  // Negated, so that more from an earlier place compares smaller.
  std::vector<int> leaf_takes, domain_takes;
  std::vector<std::string> nodes;
  int room_in_domains = 0, room_in_pods = 0;
  auto rank() const { return std::tie(key, leaf_takes, domain_takes, nodes); }
};

/// Straight from the definition of the objective, on texts, sharing no code with the engine.
class Oracle {
 public:
  Oracle(const Fleet& fleet, const Request& request) : request_(request), slots_(fleet.slots) {
    std::map<std::string, int> sizes;
    for (const Slot& slot : slots_) ++sizes[domain_of(slot)];
    for (Slot& slot : slots_) {
      if (sizes[domain_of(slot)] == 1) slot.nvlink_domain.clear();
    }
    std::sort(slots_.begin(), slots_.end(), [](const Slot& a, const Slot& b) {
      return std::tie(a.pod, a.leaf_group, a.nvlink_domain, a.node) <
             std::tie(b.pod, b.leaf_group, b.nvlink_domain, b.node);
    });
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (usable(slots_[i])) usable_.push_back(i);
    }
  }

  /// Best of the subsets that `allowed` accepts.
  template <class Allowed>
  std::optional<Answer> best(Allowed allowed) const {
    std::optional<Answer> found;
    for (std::uint32_t mask = 0; mask < (1u << usable_.size()); ++mask) {
      if (std::popcount(mask) != request_.count) continue;
      const auto answer = judge(mask);
      if (!answer || !allowed(*answer)) continue;
      if (!found || answer->rank() < found->rank()) found = answer;
    }
    return found;
  }

 private:
  static std::string leaf_of(const Slot& slot) { return slot.pod + "|" + slot.leaf_group; }
  static std::string domain_of(const Slot& slot) {
    return leaf_of(slot) + "|" + slot.nvlink_domain;
  }
  bool usable(const Slot& slot) const {
    return slot.placeable && !request_.excluded_nodes.contains(slot.node) &&
           (request_.pinned_leaf_group.empty() || request_.pinned_leaf_group == slot.leaf_group);
  }

  std::optional<Answer> judge(std::uint32_t mask) const {
    std::vector<bool> picked(slots_.size());
    for (std::size_t bit = 0; bit < usable_.size(); ++bit) {
      if (mask >> bit & 1u) picked[usable_[bit]] = true;
    }
    std::map<std::string, Count> pods, leaves, domains;
    Answer answer;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      if (picked[i]) answer.nodes.push_back(slot.node);
      for (Count* count : {&pods[slot.pod], &leaves[leaf_of(slot)], &domains[domain_of(slot)]}) {
        count->free += slot.placeable;
        count->busy += !slot.placeable && slot.counts_as_capacity;
        count->usable += usable(slot);
        count->picked += picked[i];
      }
    }
    for (const auto& [name, domain] : domains) {
      if (request_.segment_nodes <= 1) break;
      if (domain.picked % request_.segment_nodes != 0) return std::nullopt;
      if (domain.picked > 0 && name.back() == '|') return std::nullopt;
    }
    for (const auto& [name, pod] : pods) {
      answer.key.pods += pod.picked > 0;
      answer.room_in_pods += pod.picked > 0 ? pod.usable - pod.picked : 0;
    }
    for (const auto& [name, leaf] : leaves) {
      answer.leaf_takes.push_back(-leaf.picked);
      if (leaf.picked == 0) continue;
      ++answer.key.leaves;
      answer.key.stranded += leaf.free - leaf.picked;
      answer.key.broken += leaf.busy == 0 && leaf.free > leaf.picked;
    }
    for (const auto& [name, domain] : domains) {
      answer.domain_takes.push_back(-domain.picked);
      if (domain.picked == 0) continue;
      answer.room_in_domains += domain.usable - domain.picked;
      ++answer.key.domains;
      answer.key.domain_stranded += domain.free - domain.picked;
      answer.key.domain_broken += domain.busy == 0 && domain.free > domain.picked;
    }
    return answer;
  }

  const Request& request_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> usable_;
};

Fleet draw_fleet(Draw& draw) {
  Fleet fleet;
  const int pods = 1 + draw.below(3);
  const int free_percent = 50 + draw.below(51);
  const bool named = draw.percent(60);
  while (fleet.slots.size() < 12) {
    const std::string pod(1, static_cast<char>('a' + draw.below(pods)));
    const std::string leaf(1, static_cast<char>('0' + draw.below(3)));
    const std::string domain =
        named && draw.percent(90) ? std::string(1, static_cast<char>('x' + draw.below(2))) : "";
    Slot slot;
    slot.node = "n" + std::to_string(10 + (fleet.slots.size() * 7) % 13);
    slot.pod = pod;
    slot.leaf_group = leaf;
    slot.nvlink_domain = domain;
    slot.sku = "s";
    slot.placeable = draw.percent(free_percent);
    slot.counts_as_capacity = slot.placeable || draw.percent(80);
    fleet.slots.push_back(slot);
    if (draw.percent(3)) break;
  }
  return fleet;
}

Request draw_request(Draw& draw, const Fleet& fleet) {
  Request request{.sku = "s"};
  request.segment_nodes = draw.percent(50) ? 0 : 1 + draw.below(3);
  const int unit = std::max(1, request.segment_nodes);
  request.count = unit * (1 + draw.below(std::max(1, 8 / unit)));
  if (draw.percent(30)) request.excluded_nodes.insert(fleet.slots[0].node);
  if (draw.percent(10)) request.pinned_leaf_group = "0";
  return request;
}

bool everything(const Answer&) { return true; }

TEST(PlaceOracle, members_are_the_optimum_to_the_last_id) {
  Draw draw(20240607);
  int placed = 0;
  for (int round = 0; round < 4000; ++round) {
    const Fleet fleet = draw_fleet(draw);
    const Request request = draw_request(draw, fleet);
    const auto index = FleetIndex::create(fleet);
    const Outcome outcome = place(*index, request);
    const auto expected = Oracle(fleet, request).best(everything);
    ASSERT_EQ(std::holds_alternative<Placement>(outcome), expected.has_value()) << round;
    if (!expected) continue;
    ++placed;
    ASSERT_EQ(std::get<Placement>(outcome).key, expected->key) << round;
    ASSERT_EQ(std::get<Placement>(outcome).members, expected->nodes) << round;
  }
  EXPECT_GT(placed, 1500) << "the instances must not be all infeasible";
}

/// The rule that place() documents: the members' optimum if it leaves room, else the best that
/// does; without segments the room must be in one pod.
std::optional<Answer> with_room(const Oracle& oracle, const Request& request) {
  const bool segments = request.segment_nodes > 1;
  const auto alone = oracle.best(everything);
  const auto roomy = [&](const Answer& answer) {
    return (segments ? answer.room_in_domains : answer.room_in_pods) >= request.spares;
  };
  if (!alone || roomy(*alone)) return alone;
  return oracle.best([&](const Answer& answer) {
    return roomy(answer) && (segments || answer.key.pods == 1);
  });
}

TEST(PlaceOracle, spares_never_cost_more_than_they_must) {
  Draw draw(77);
  int placed = 0;
  for (int round = 0; round < 3000; ++round) {
    const Fleet fleet = draw_fleet(draw);
    Request request = draw_request(draw, fleet);
    request.spares = 1 + draw.below(3);
    const auto index = FleetIndex::create(fleet);
    const Outcome outcome = place(*index, request);
    const auto expected = with_room(Oracle(fleet, request), request);
    ASSERT_EQ(std::holds_alternative<Placement>(outcome), expected.has_value()) << round;
    if (!expected) continue;
    ++placed;
    const Placement& got = std::get<Placement>(outcome);
    ASSERT_EQ(got.key, expected->key) << round;
    ASSERT_EQ(got.spares.size(), static_cast<std::size_t>(request.spares)) << round;
    for (const Spare& spare : got.spares) {
      ASSERT_THAT(got.members, testing::Not(testing::Contains(spare.node))) << round;
      ASSERT_TRUE(request.segment_nodes <= 1 || spare.stand == Stand::same_domain) << round;
    }
  }
  EXPECT_GT(placed, 800);
}

TEST(PlaceOracle, updates_equal_a_new_index) {
  Draw draw(5);
  Fleet fleet = draw_fleet(draw);
  auto index = FleetIndex::create(fleet);
  for (int round = 0; round < 500; ++round) {
    Slot& slot = fleet.slots[static_cast<std::size_t>(draw.below(
        static_cast<int>(fleet.slots.size())))];
    slot.placeable = draw.percent(60);
    ASSERT_TRUE(slot.placeable ? index->mark_free(slot.node) : index->mark_busy(slot.node));
    const Request request = draw_request(draw, fleet);
    const Outcome kept = place(*index, request);
    const Outcome fresh = place(*FleetIndex::create(fleet), request);
    ASSERT_EQ(kept.index(), fresh.index()) << round;
    if (const auto* placement = std::get_if<Placement>(&kept)) {
      ASSERT_EQ(placement->members, std::get<Placement>(fresh).members) << round;
      ASSERT_EQ(placement->key, std::get<Placement>(fresh).key) << round;
    } else {
      ASSERT_EQ(std::get<Shortfall>(kept).text, std::get<Shortfall>(fresh).text) << round;
    }
  }
}

}  // namespace
}  // namespace tundish::control::placement
