#include <gmock/gmock.h>

#include "codec/json.hpp"
#include "families/fabrics/fabric_samples_test.hpp"

namespace tundish::fabrics {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const FabricItem& item() { return *find_fabric_item("ufm"); }
const FabricOwnership ours;

/// By hand, after the REST guide's examples.
const std::string foreign = R"({
  "guids_data": {
    "0x7fff": {"partition": "management", "ip_over_ib": true, "guids": []},
    "0x5": {"partition": "api_pkey_0x5", "ip_over_ib": false, "guids": [
      {"membership": "full", "guid": "0011223344560200", "index0": true}]},
    "0x300": {"partition": "t00999", "ip_over_ib": true, "guids": [
      {"membership": "limited", "guid": "1070FD0300176625", "index0": false}]}
  },
  "qos_conf": {
    "0x5": {"partition": "api_pkey_0x5", "mtu_limit": 2, "service_level": 0, "rate_limit": 2.5},
    "0x300": {"partition": "t00999", "mtu_limit": 4, "service_level": 3, "rate_limit": 200}
  }
})";

TEST(Ufm, reads_an_answer_written_by_hand) {
  const auto seen = item().parse(foreign, ours);
  ASSERT_TRUE(seen);
  EXPECT_THAT(seen->foreign_pkeys, ElementsAre(5));
  ASSERT_EQ(seen->own.partitions.size(), 1U);
  const auto& partition = seen->own.partitions[0];
  EXPECT_EQ(partition.pkey, 0x300);
  EXPECT_EQ(partition.members[0].guid, "0x1070fd0300176625");
  EXPECT_EQ(partition.members[0].membership, IbMembership::limited);
  EXPECT_EQ(partition.mtu_bytes, 4096);
  EXPECT_EQ(partition.rate_gbps, 200);
  EXPECT_EQ(partition.service_level, 3);
}

TEST(Ufm, reads_back_what_it_renders_and_keeps_others) {
  RandomState random(5);
  for (int i = 0; i < 200; ++i) {
    const FabricState x = random.state({2048, 4096}, {0, 10, 40, 200, 300});
    for (const auto& before : {std::string(), foreign}) {
      const auto text = item().render(x, before, ours);
      ASSERT_TRUE(text) << text.error().message();
      const auto seen = item().parse(*text, ours);
      ASSERT_TRUE(seen);
      EXPECT_EQ(seen->own, x);
      if (before.empty()) continue;
      const auto was = JsonValue::parse(before), is = JsonValue::parse(*text);
      EXPECT_EQ(was->at("guids_data").at("0x5").render(), is->at("guids_data").at("0x5").render());
      EXPECT_EQ(was->at("qos_conf").at("0x5").render(), is->at("qos_conf").at("0x5").render());
    }
  }
}

TEST(Ufm, codes_are_those_of_the_guide) {
  FabricState x;
  x.partitions = {sample_partition(16, {1})};
  const std::vector<std::pair<int, std::string>> rows = {
      {0, "2.5"},   {5, "5"},     {10, "10"},   {14, "14"},   {20, "20"},  {25, "25"},
      {30, "30"},   {40, "40"},   {56, "56"},   {60, "60"},   {80, "80"},  {100, "100"},
      {112, "112"}, {120, "120"}, {168, "168"}, {200, "200"}, {300, "300"}};
  for (const auto& [gbps, text] : rows) {
    x.partitions[0].rate_gbps = gbps;
    EXPECT_THAT(item().steps({}, x)->at(0).text, HasSubstr("\"rate_limit\":" + text));
  }
  for (const int gbps : {1, 28, 50, 400, 600, -1}) {  // opensm has some of them; UFM has not
    x.partitions[0].rate_gbps = gbps;
    EXPECT_FALSE(item().accept(x)) << gbps;
  }
  x.partitions[0].rate_gbps = 0;
  for (const auto& [bytes, text] : {std::pair(2048, "2"), {4096, "4"}}) {
    x.partitions[0].mtu_bytes = bytes;
    EXPECT_THAT(item().steps({}, x)->at(0).text, HasSubstr(std::string("\"mtu_limit\":") + text));
  }
  for (const int bytes : {256, 512, 1024, 1500}) {
    x.partitions[0].mtu_bytes = bytes;
    EXPECT_FALSE(item().accept(x)) << bytes;
  }
}

TEST(Ufm, leaves_before_it_joins) {
  FabricState from, to;
  from.partitions = {sample_partition(16, {1}), sample_partition(17, {2})};
  to.partitions = {sample_partition(16, {2}), sample_partition(17, {1})};  // they change places
  const auto steps = item().steps(from, to);
  bool joined = false;
  for (const auto& step : *steps) {
    const bool leaves = step.call == "POST /actions/remove_guids_from_pkey";
    joined = joined || step.call == "POST /resources/pkeys";
    EXPECT_FALSE(leaves && joined) << step.what;
  }
  EXPECT_TRUE(item().steps(to, to)->empty());
}

TEST(Ufm, never_sets_a_whole_list) {
  RandomState random(6);
  for (int i = 0; i < 200; ++i) {
    const auto steps =
        item().steps(random.state({4096}, {0}), random.state({2048, 4096}, {0, 100}));
    for (const auto& step : *steps) EXPECT_NE(step.call, "PUT /resources/pkeys");
  }
}

TEST(Ufm, golden_steps) {
  FabricState x, y;
  x.partitions = {sample_partition(16, {1, 2})};
  expect_golden("ufm_create.steps", render_steps(*item().steps({}, x)));
  y.partitions = {sample_partition(16, {1}), sample_partition(17, {2, 3})};
  y.partitions[0].rate_gbps = 100;
  expect_golden("ufm_move.steps", render_steps(*item().steps(x, y)));
  FabricState replaced;
  replaced.partitions = {sample_partition(16, {5})};
  expect_golden("ufm_replace_all.steps", render_steps(*item().steps(x, replaced)));
  expect_golden("ufm_delete.steps", render_steps(*item().steps(y, {})));
  expect_golden("ufm_reads.json", *item().render(y, foreign, ours));
}

}  // namespace
}  // namespace tundish::fabrics
