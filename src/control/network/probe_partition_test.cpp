#include "control/network/probe_partition.hpp"

#include <gmock/gmock.h>

#include "control/network/port_tables.hpp"
#include "control/network/reconcile_switch.hpp"
#include "control/network/site_for_test.hpp"

namespace tundish::control::network {
namespace {

using testing::HasSubstr;

class ProbePartitionTest : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    ASSERT_EQ(site.faults, "");
    site.show_as_planned();
    for (const char* name : {"a", "b"}) {
      clusters.push_back(site.registry.find_named<Cluster>(name)->id);
    }
    // What a subnet manager answers that keeps the tables' rule.
    auto asked = plan_paths(site.view(), clusters).at("ib0");
    for (auto& path : asked) {
      path.answered = true;
      for (const auto& partition : site.seen.fabrics["ib0"].seen.own.partitions) {
        const auto in = [&](const std::string& guid) {
          return std::any_of(partition.members.begin(), partition.members.end(),
                             [&](const IbMember& member) { return member.guid == guid; });
        };
        if (in(path.from) && in(path.to)) path.pkeys.push_back(partition.pkey);
      }
    }
    answers.insert_or_assign("ib0", asked);
  }
  std::vector<FabricPath>& paths() { return *answers.at("ib0"); }
  void judge() {
    matrix = {};
    for (const char* from : {"acme/a", "bolt/b"}) {
      for (const char* to : {"acme/a", "bolt/b"}) {
        matrix.pairs.push_back({from, to, std::string_view(from) == to, true, {}});
      }
    }
    judge_partitions(site.view(), clusters, answers, matrix);
  }
  const ProbePartitions& pair(const std::string& from, const std::string& to) {
    for (const auto& one : matrix.partitions) {
      if (one.from == from && one.to == to) return one;
    }
    ADD_FAILURE() << "no pair " << from << " " << to;
    static const ProbePartitions none;
    return none;
  }
  TestSite site;
  std::vector<ClusterId> clusters;
  PathAnswers answers;
  ProbeMatrix matrix;
};

TEST_F(ProbePartitionTest, two_tenants_are_open_inside_and_closed_across) {
  judge();
  EXPECT_TRUE(matrix.isolated);
  ASSERT_EQ(matrix.partitions.size(), 4u);
  for (const auto& one : matrix.partitions) {
    EXPECT_EQ(one.tables, one.same ? ProbeCell::open : ProbeCell::closed);
    EXPECT_EQ(one.paths, one.same ? ProbeCell::open : ProbeCell::closed);
  }
}

TEST_F(ProbePartitionTest, one_shared_key_is_a_leak_and_names_the_ports) {
  const int pkey = site.network("a").status.pkey;
  site.port_table("0x0002c90000000102").pkeys.push_back({pkey, IbMembership::limited});
  judge();
  EXPECT_FALSE(matrix.isolated);
  EXPECT_EQ(pair("acme/a", "bolt/b").tables, ProbeCell::open);
  EXPECT_THAT(pair("bolt/b", "acme/a").tables_detail, HasSubstr("(n0102)"));
}

TEST_F(ProbePartitionTest, a_full_member_of_the_default_partition_reaches_everybody) {
  site.port_table("0x0002c90000000102").pkeys[0].membership = IbMembership::full;
  judge();
  EXPECT_EQ(pair("acme/a", "bolt/b").tables, ProbeCell::open);
  EXPECT_THAT(pair("acme/a", "bolt/b").tables_detail, HasSubstr("by PKey 0x7fff"));
}

TEST_F(ProbePartitionTest, a_path_record_across_is_a_leak_whatever_the_tables_say) {
  for (auto& path : paths()) {
    if (path.from == "0x0002c90000000101" && path.to == "0x0002c90000000102") path.pkeys = {0x7fff};
  }
  judge();
  EXPECT_FALSE(matrix.isolated);
  EXPECT_EQ(pair("acme/a", "bolt/b").paths, ProbeCell::open);
  EXPECT_EQ(pair("acme/a", "bolt/b").tables, ProbeCell::closed);
  EXPECT_TRUE(pair("bolt/b", "acme/a").good);
}

TEST_F(ProbePartitionTest, what_could_not_be_asked_is_unknown_and_nothing_is_proved) {
  answers.insert_or_assign("ib0", make_error(Code::unavailable, "sm1 is frozen"));
  judge();
  EXPECT_FALSE(matrix.isolated);
  EXPECT_EQ(pair("acme/a", "bolt/b").paths, ProbeCell::unknown);
  EXPECT_THAT(pair("acme/a", "bolt/b").paths_detail, HasSubstr("sm1 is frozen"));
  answers.clear();
  judge();
  EXPECT_EQ(pair("acme/a", "acme/a").paths, ProbeCell::unknown);
}

TEST_F(ProbePartitionTest, an_old_look_a_silent_port_and_one_lost_answer_are_unknown) {
  paths()[0].answered = false;
  judge();
  EXPECT_FALSE(matrix.isolated);
  site.port_table("0x0002c90000000101").has_table = false;
  judge();
  EXPECT_EQ(pair("acme/a", "bolt/b").tables, ProbeCell::unknown);
  EXPECT_THAT(pair("acme/a", "bolt/b").tables_detail, HasSubstr("did not answer"));
  site.show_tables();
  site.now = site.now + stale_after + seconds(1);
  judge();
  EXPECT_EQ(pair("acme/a", "bolt/b").tables, ProbeCell::unknown);
}

TEST_F(ProbePartitionTest, a_gap_inside_a_tenant_is_no_proof) {
  for (auto& path : paths()) {
    if (path.from == "0x0002c90000000101" && path.to == "0x0002c90000000201") path.pkeys.clear();
  }
  judge();
  EXPECT_EQ(pair("acme/a", "acme/a").paths, ProbeCell::closed);
  EXPECT_FALSE(pair("acme/a", "acme/a").good);
  EXPECT_FALSE(matrix.isolated);
}

TEST_F(ProbePartitionTest, a_fabric_that_nobody_drives_is_not_asked_and_is_unknown) {
  FabricSpec ib = site.registry.find_named<Fabric>("ib0")->spec;
  ib.management_url = "";
  site.must(put_fabric("ib0", ib));
  EXPECT_TRUE(plan_paths(site.view(), clusters).empty());
  judge();
  EXPECT_FALSE(matrix.isolated);
  EXPECT_THAT(pair("acme/a", "bolt/b").tables_detail, HasSubstr("management_url"));
}

TEST(NameGuids, tells_whose_each_is) {
  Intent intent;
  intent.guids["0x0002c90000000101"] = {"n1", nobody};
  EXPECT_EQ(name_guids(intent, "PKey 0x0100: also has 0x0002c90000000101, 0x00000000000000aa"),
            "PKey 0x0100: also has 0x0002c90000000101 (n1), 0x00000000000000aa (not in the "
            "inventory)");
  EXPECT_EQ(name_guids(intent, ""), "");
}

}  // namespace
}  // namespace tundish::control::network
