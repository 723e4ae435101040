#include "families/fabrics/opensm_parts/withdrawal.hpp"

#include <gtest/gtest.h>

#include "families/fabrics/fabric_samples_test.hpp"

namespace tundish::fabrics {
namespace {

const FabricOwnership ours;
const std::string foreign = "store=0x4001, defmember=limited : 0x99, ALL_SWITCHES ;  # storage\n";

std::string render(const FabricState& state, const std::string& others = foreign) {
  return *find_fabric_item("opensm")->render(state, others, ours);
}

TEST(Withdrawal, members_and_partitions_that_go) {
  const FabricState both{{sample_partition(16, {1, 2, 3}), sample_partition(17, {4, 5})}, {}};
  const std::string before = render(both);
  for (const FabricState& after :
       std::vector<FabricState>{{{sample_partition(16, {1, 2}), sample_partition(17, {4, 5})}, {}},
                                {{sample_partition(16, {3}), sample_partition(17, {5})}, {}},
                                {{sample_partition(17, {4, 5})}, {}},
                                {}}) {
    EXPECT_TRUE(is_withdrawal(before, render(after), ours));
    EXPECT_FALSE(is_withdrawal(render(after), before, ours)) << "nobody joins this way";
  }
}

TEST(Withdrawal, nothing_else) {
  const FabricState one{{sample_partition(16, {1, 2})}, {}};
  const std::string before = render(one);
  FabricState other = one;
  other.partitions[0].members[1] = {sample_guid(9), IbMembership::full};
  EXPECT_FALSE(is_withdrawal(before, render(other), ours)) << "another member";
  other.partitions[0].members = {{sample_guid(1), IbMembership::limited}};
  EXPECT_FALSE(is_withdrawal(before, render(other), ours)) << "another membership";
  other.partitions[0].members.clear();
  EXPECT_FALSE(is_withdrawal(before, render(other), ours)) << "an empty partition is a new line";
  other.partitions[0] = sample_partition(16, {1});
  other.partitions[0].service_level = 3;
  EXPECT_FALSE(is_withdrawal(before, render(other), ours)) << "another setting";
  const FabricState fewer{{sample_partition(16, {1})}, {}};
  EXPECT_FALSE(is_withdrawal(before, render(fewer, ""), ours)) << "a line of others goes";
  EXPECT_FALSE(is_withdrawal(before, render(fewer) + "more=0x4002 : 0x1 ;\n", ours));
  EXPECT_FALSE(is_withdrawal(before + "broken line", render(fewer), ours));
  std::string open = render(fewer);
  open.replace(open.find("ALL=limited"), 11, "ALL=full");
  EXPECT_FALSE(is_withdrawal(before, open, ours)) << "everybody full by default";
}

TEST(Withdrawal, a_second_definition_by_a_stale_monitor_goes) {
  const FabricState one{{sample_partition(16, {1})}, {}};
  const std::string stale = render(one) + "t00016=0x0110 : " + sample_guid(2) + "=full ;\n";
  EXPECT_TRUE(is_withdrawal(stale, render(one), ours));
}

/// Whatever passes has no member, no partition and no line that was not there.
TEST(Withdrawal, at_random_it_only_ever_takes_away) {
  RandomState random(7);
  int passed = 0;
  for (int i = 0; i < 400; ++i) {
    const FabricState from = random.state({4096}, {0, 100});
    FabricState to = random.below(2) == 0 ? random.state({4096}, {0, 100}) : from;
    for (auto& partition : to.partitions) {
      std::erase_if(partition.members, [&](const IbMember&) { return random.below(3) == 0; });
    }
    std::erase_if(to.partitions,
                  [](const IbPartitionState& partition) { return partition.members.empty(); });
    if (!is_withdrawal(render(from), render(to), ours)) continue;
    ++passed;
    for (const auto& change : member_changes(from, to)) {
      EXPECT_FALSE(change.to) << describe(change);
    }
  }
  EXPECT_GT(passed, 100);
}

}  // namespace
}  // namespace tundish::fabrics
