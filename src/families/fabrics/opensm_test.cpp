#include <gmock/gmock.h>

#include "families/fabrics/fabric_samples_test.hpp"
#include "families/fabrics/opensm_parts/partition_text.hpp"

namespace tundish::fabrics {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const FabricItem& item() { return *find_fabric_item("opensm"); }
const FabricOwnership ours;

const std::vector<std::string> foreign_texts = {
    "",
    "# by hand\n\nDefault=0x7fff, ipoib : ALL=limited, SELF=full ;\n",
    "store=0x4001, defmember=limited : 0x99, ALL_SWITCHES ;  # storage",
    "a=0x5:0x1;b=0x6:0x2=full;\n\n  # end",
    "Default=0x7fff,ipoib:\n  mgid=ff12:401b::0707,sl=1 # group\n  ALL=limited;\n",
    "old=0x4002 : 0x1,\n 0x2",  // no ';' at the end
    "auto, ipoib : 0x123456=full ;\n"};

TEST(Opensm, keeps_what_others_wrote) {
  RandomState random(1);
  for (int i = 0; i < 300; ++i) {
    const std::string& foreign = random.pick(foreign_texts);
    const FabricState x = random.state({256, 1024, 2048, 4096}, {0, 10, 100, 400});
    const auto text = item().render(x, foreign, ours);
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_TRUE(text->ends_with(foreign));
    const auto seen = item().parse(*text, ours);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->own, x);
    EXPECT_FALSE(seen->default_is_full);
    EXPECT_EQ(item().render(x, *text, ours).value(), *text);  // again: the same
    const FabricState y = random.state({4096}, {0});
    const auto next = item().render(y, *text, ours);  // ours goes, theirs stays
    ASSERT_TRUE(next);
    EXPECT_TRUE(next->ends_with(foreign));
    EXPECT_EQ(item().parse(*next, ours)->own, y);
  }
}

TEST(Opensm, always_has_a_limited_default_rule) {
  for (const auto& foreign : foreign_texts) {
    const auto text = item().render({}, foreign, ours);
    ASSERT_TRUE(text);
    const auto rule = read_default_rule(read_partition_text(*text));
    EXPECT_TRUE(rule.is_written);
    EXPECT_FALSE(rule.all_full);
  }
}

TEST(Opensm, takes_ours_out_wherever_they_stand) {
  const std::string text =
      "a=0x5:0x1; t00010=0x110 : 0x3=full, # stale\n 0x4 ;b=0x6:0x2;\n"
      "t00011 : ALL=full ;\nt00010=0x0110 : 0x5=full ;\n# end\n";
  EXPECT_TRUE(item().render({}, text, ours)->ends_with("a=0x5:0x1; b=0x6:0x2;\n# end\n"));
  const auto seen = item().parse(text, ours);
  EXPECT_EQ(seen->own.partitions.at(0).members.size(), 3U);
  EXPECT_THAT(seen->foreign_pkeys, ElementsAre(5, 6));
  EXPECT_THAT(seen->unclear, ElementsAre(HasSubstr("t00011 (line 3) has no PKey"),
                                         HasSubstr("t00010 is written a second time")));
}

/// opensm drops the whole file for one such line; facts/cloud.md 3.8.
TEST(Opensm, refuses_a_file_that_opensm_would_drop) {
  const std::vector<std::string> bad = {"x=0x5 : 0xzz ;\n",
                                        "broken line\n",
                                        "x=zz : 0x1 ;\n",
                                        "x= : 0x1 ;\n",
                                        "x=0x5 : 0x1 ;\r\n",
                                        "x=0x5 : defmember=full : 0x1 ;\n",
                                        "x=0x5 : " + std::string(4100, ' ') + "0x1 ;\n",
                                        std::string("x=0x5 : 0x1\0 ;\n", 15),
                                        "x=0x5 : 0x0 ;\n",
                                        "x=0x5 : mgid=ff12:401-1b::0707 ;\n",
                                        "x=0x5 : mgid=fe80::1 ;\n",
                                        "x=0x5 : 0x123456789012345678 ;\n"};
  for (const auto& text : bad) {
    const auto made = item().render({}, text, ours);
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().code, Code::conflict);
    EXPECT_THAT(made.error().message(), HasSubstr("line 1"));
    EXPECT_TRUE(item().parse(text, ours)->default_is_full) << text;
  }
}

TEST(Opensm, refuses_what_would_join_tenants) {
  FabricState x;
  x.partitions = {sample_partition(16, {1, 2})};
  const std::string guid = sample_guid(1);
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"Default=0x7fff, ipoib : ALL=full ;\n", "every port a full member"},
      {"Default : ALL=full ;\n", "every port a full member"},
      {"x=0xffff, defmember=full : ALL_CAS, SELF ;\n", "every port a full member"},
      {"x=0x7fff : A=f ;\n", "every port a full member"},  // opensm takes beginnings of words
      {"Default=0x7fff : ALL=limited, " + guid + "=full ;\n", "a full member of the default"},
      {"other=0x0110 : ALL=full ;\n", "would merge"},
      {"other=0x18110 : ALL=full ;\n", "would merge"}};  // 16 bits, of which 15 count
  for (const auto& [foreign, why] : rows) {
    const auto made = item().render(x, foreign, ours);
    ASSERT_FALSE(made) << foreign;
    EXPECT_THAT(made.error().message(), HasSubstr(why)) << foreign;
    EXPECT_FALSE(made.error().remedy.empty());
  }
}

TEST(Opensm, refuses_hostile_names_and_numbers) {
  RandomState random(3);
  const std::vector<std::string> hostile = {"",
                                            "0x",
                                            "ALL",
                                            "A",
                                            "SELF",
                                            "0x1;Default=0x7fff:ALL=full;",
                                            "0x1\n",
                                            "0x20001",
                                            "-1",
                                            "0xG000000000000001",
                                            "0x0000000000000000",
                                            "0xffffffffffffffff",
                                            "0X0000000000020001",
                                            " 0x0000000000020001",
                                            "0x0000000000020001 ",
                                            "0x000000000002000A",
                                            std::string("0x000000000002000\0", 18),
                                            "#"};
  for (const auto& text : hostile) {
    FabricState x;
    x.partitions = {sample_partition(16, {1})};
    x.partitions[0].members[0].guid = text;
    EXPECT_FALSE(item().render(x, "", ours)) << text;
    x.partitions = {sample_partition(16, {1})};
    x.partitions[0].name = text;
    EXPECT_FALSE(item().render(x, "", ours)) << text;
  }
  // Bytes at random: refused, or what comes out is one that opensm takes and reads the same.
  for (int i = 0; i < 3000; ++i) {
    FabricState x;
    x.partitions = {sample_partition(16, {1, 2})};
    auto& partition = x.partitions[0];
    std::string& target = random.below(2) == 0 ? partition.name : partition.members[1].guid;
    const auto at = static_cast<std::size_t>(random.below(static_cast<int>(target.size())));
    target[at] = static_cast<char>(random.below(256));
    const auto made = item().render(x, "", ours);
    if (!made) continue;
    EXPECT_TRUE(read_partition_text(*made).rejected.empty());
    EXPECT_EQ(item().parse(*made, ours)->own, x);
  }
}

TEST(Opensm, refuses_numbers_out_of_range) {
  const auto refused = [](auto change) {
    FabricState x;
    x.partitions = {sample_partition(16, {1, 2})};
    change(x.partitions[0]);
    const auto made = item().render(x, "", ours);
    return !made && !made.error().object.empty() && !made.error().remedy.empty();
  };
  for (const int pkey : {0, -1, 0x7fff, 0x8110, 0x10110, 0x4000, 0xff}) {
    EXPECT_TRUE(refused([&](IbPartitionState& p) { p.pkey = pkey; })) << pkey;
  }
  EXPECT_TRUE(refused([](IbPartitionState& p) { p.service_level = 16; }));
  EXPECT_TRUE(refused([](IbPartitionState& p) { p.mtu_bytes = 1500; }));
  EXPECT_TRUE(refused([](IbPartitionState& p) { p.rate_gbps = 7; }));
  EXPECT_TRUE(refused([](IbPartitionState& p) { std::swap(p.members[0], p.members[1]); }));
  EXPECT_TRUE(refused([](IbPartitionState& p) { p.members[1] = p.members[0]; }));
  EXPECT_TRUE(refused([](IbPartitionState& p) { p.name = "x00016"; }));
}

TEST(Opensm, codes_are_those_of_the_standard) {
  const std::vector<std::pair<int, int>> mtus = {
      {256, 1}, {512, 2}, {1024, 3}, {2048, 4}, {4096, 5}};
  const std::vector<std::pair<int, int>> rates = {
      {10, 3},   {30, 4},   {5, 5},   {20, 6},   {40, 7},   {60, 8},  {80, 9},
      {120, 10}, {14, 11},  {56, 12}, {112, 13}, {168, 14}, {25, 15}, {100, 16},
      {200, 17}, {300, 18}, {28, 19}, {50, 20},  {400, 21}, {600, 22}};
  FabricState x;
  x.partitions = {sample_partition(16, {})};
  for (const auto& [bytes, code] : mtus) {
    x.partitions[0].mtu_bytes = bytes;
    EXPECT_THAT(*item().render(x, "", ours), HasSubstr("mtu=" + std::to_string(code) + ","));
  }
  for (const auto& [gbps, code] : rates) {
    x.partitions[0].rate_gbps = gbps;
    EXPECT_THAT(*item().render(x, "", ours), HasSubstr("rate=" + std::to_string(code) + ","));
  }
}

TEST(Opensm, whoever_leaves_has_left_before_anybody_joins) {
  FabricState from, to;
  from.partitions = {sample_partition(16, {1, 2}), sample_partition(17, {3})};
  to.partitions = {sample_partition(16, {1}), sample_partition(17, {2, 3})};
  const auto steps = item().steps(from, to);
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ(steps->at(0).what, "GUID " + sample_guid(2) + " leaves PKey 0x0110");
  EXPECT_EQ(steps->at(1).what, "GUID " + sample_guid(2) + " joins PKey 0x0111 as full");
  EXPECT_EQ(item().parse(steps->at(1).text, ours)->own, to);
  EXPECT_TRUE(item().steps(to, to)->empty());
  RandomState random(4);
  for (int i = 0; i < 200; ++i) {
    const FabricState a = random.state({4096}, {0}), b = random.state({4096}, {0});
    const auto list = item().steps(a, b);
    ASSERT_EQ(list->empty(), a == b);
    if (list->empty()) continue;
    EXPECT_EQ(item().parse(list->back().text, ours)->own, b);
    if (list->size() < 2) continue;
    const FabricState between = item().parse(list->front().text, ours)->own;
    for (const auto& change : member_changes(a, between)) EXPECT_FALSE(change.to);
  }
}

/// From opensm(8), with the manual's own mistake: a second ':' in one rule, which opensm rejects.
TEST(Opensm, reads_the_manuals_example) {
  const std::string text =
      "Default=0x7fff : ALL, SELF=full ;\nNewPartition , ipoib : 0x123456=full, 0x3456789034=limi,"
      " 0x2134af2306 ;\nYetAnotherOne = 0x300 : SELF=full ;\nYetAnotherOne = 0x300 : ALL=limited "
      ";\n"
      "ShareIO = 0x80 , defmember=full : 0x123451, 0x123452;\n# 0x123453, 0x123454 will be "
      "limited\n"
      "ShareIO = 0x80 : 0x123453, 0x123454, 0x123455=full;\n";
  const auto seen = item().parse(text, ours);
  EXPECT_THAT(seen->foreign_pkeys, ElementsAre(0x80, 0x300));
  EXPECT_FALSE(seen->default_is_full);
  EXPECT_TRUE(item().parse(text + "S = 0x80 : defmember=limited : 0x1;\n", ours)->default_is_full);
}

TEST(Opensm, golden_files) {
  const std::string foreign = "# storage, by hand\nstore=0x4001 : 0x0000000000020201=full ;\n";
  FabricState x;
  x.partitions = {sample_partition(16, {1, 2})};
  const auto step = [&](const std::string& name, const FabricState& to) {
    const auto text = item().render(to, foreign, ours);
    ASSERT_TRUE(text);
    expect_golden("opensm_" + name + ".conf", *text);
    expect_golden("opensm_" + name + ".steps", render_steps(*item().steps(x, to)));
    x = to;
  };
  FabricState next;
  x = {};
  next.partitions = {sample_partition(16, {1, 2})};
  next.partitions[0].ipoib = next.partitions[0].index0 = true;
  next.partitions[0].rate_gbps = 100;
  step("create", next);
  next.partitions.push_back(sample_partition(17, {3}));
  next.partitions[1].members[0].membership = IbMembership::limited;
  step("second", next);
  next.partitions[0] = sample_partition(16, {1});
  step("shrink", next);
  next.partitions.erase(next.partitions.begin());
  step("delete", next);
}

}  // namespace
}  // namespace tundish::fabrics
