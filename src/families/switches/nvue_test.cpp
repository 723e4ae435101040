// The NVUE item: golden files, read-back, steps as merge patches of one tree, and a configuration
// that render never writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "families/switches/item_for_test.hpp"

namespace tundish::switches {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const SwitchItem& item() { return *find_switch_item("nvue"); }

StateShape shape() {
  StateShape out;
  out.vrf_text = StateShape::VrfText::lost;
  return out;
}

TEST(SwitchNvue, golden_files) { expect_golden(item(), shape()); }

TEST(SwitchNvue, what_is_rendered_reads_back_and_steps_name_what_changed) {
  expect_item_holds(item(), shape());
}

TEST(SwitchNvue, a_configuration_that_somebody_else_wrote_reads_right) {
  SwitchOwnership ownership;
  ownership.ports = {"swp1", "swp2", "swp3"};
  const auto seen = *item().parse(data_files("nvue", {"nvue.json"}), ownership);
  EXPECT_THAT(seen.unclear, IsEmpty());
  EXPECT_EQ(seen.own.asn, 65001);
  EXPECT_EQ(seen.own.anycast_mac, "00:00:5e:00:01:10");
  ASSERT_EQ(seen.own.vrfs.size(), 1u);
  EXPECT_EQ(seen.own.vrfs[0].l3vni, 50010);
  EXPECT_THAT(seen.own.vrfs[0].export_targets, ElementsAre("65000:50010"));
  ASSERT_EQ(seen.own.segments.size(), 1u);
  EXPECT_EQ(seen.own.segments[0].gateway, "10.10.0.1/24");
  EXPECT_THAT(seen.own.segments[0].import_targets, ElementsAre("65000:10010"));
  EXPECT_THAT(seen.own.segments[0].export_targets, ElementsAre("65000:10010"));
  ASSERT_EQ(seen.own.ports.size(), 3u);
  EXPECT_EQ(seen.own.ports[0].vlan, 110);
  EXPECT_EQ(seen.own.ports[1].mode, PortMode::quarantine);
  EXPECT_EQ(seen.own.ports[2].address, "10.1.0.0/31");
  EXPECT_THAT(seen.foreign.vrfs, ElementsAre("BLUE"));
  EXPECT_THAT(seen.foreign.vlans, ElementsAre(3400));
  EXPECT_THAT(seen.foreign.vnis, ElementsAre(4000, 4001));
  EXPECT_THAT(seen.foreign.route_targets, ElementsAre("65000:4000"));
  EXPECT_THAT(seen.foreign.acls, ElementsAre("mgmt-in"));
}

TEST(SwitchNvue, a_change_by_hand_is_read_as_a_difference_or_as_unclear) {
  const SwitchState state = golden_cases(item().capabilities(), shape())[2].to;
  const std::pair<const char*, const char*> changes[] = {
      {"\"access\": 110", "\"access\": 112"},
      {"\"access\": 110", "\"untagged\": 110"},
      {"\"vrf\": \"Vrf00010\"", "\"vrf\": \"Vrf60001\""},
      {"\"permit\"", "\"deny\""},
      {"\"max-prefix-len\": 32", "\"max-prefix-len\": 30"},
      {"\"source-vrf\": \"Vrf00010\"", "\"source-vrf\": \"Vrf00011\""},
      {"\"rd\": \"10.0.0.1:110\"", "\"rd\": \"10.0.0.1:112\""},
      {"\"down\"", "\"up\""},
      {"\"inbound\"", "\"outbound\""},
      {"\"mac-learning\": \"off\"", "\"mac-learning\": \"on\""},
  };
  for (const auto& [from, to] : changes) {
    SwitchFiles files = *item().render(state);
    files[0].text = replaced(files[0].text, from, to);
    const auto seen = *item().parse(files, ownership_for_test(state));
    EXPECT_TRUE(!(seen.own == state) || !seen.unclear.empty()) << from << " -> " << to;
  }
}

/// RFC 7396 is what PATCH does to a revision: all steps together give what is rendered.
TEST(SwitchNvue, steps_lead_to_what_is_rendered) {
  using nlohmann::json;
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    StateMaker maker(seed, item().capabilities(), shape());
    const SwitchState from = maker.make(4), to = maker.change(from);
    json tree = json::parse((*item().render(from))[0].text);
    for (const auto& step : steps_between(item(), from, to))
      tree.merge_patch(json::parse(step.text));
    const auto seen = item().parse({{"nvue.json", tree.dump()}}, ownership_for_test(to));
    ASSERT_TRUE(seen.has_value()) << seed;
    EXPECT_TRUE(seen->own == to) << seed << show(steps_between(item(), from, to));
    EXPECT_TRUE(seen->unclear.empty())
        << seed << ": " << seen->unclear[0] << show(steps_between(item(), from, to));
  }
}

TEST(SwitchNvue, a_reserved_vlan_is_refused) {
  SwitchState state = golden_cases(item().capabilities(), shape())[0].to;
  state.segments[0].vlan = 3800;
  const auto result = item().accept(state);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().object, "segment/vlan 3800");
}

}  // namespace
}  // namespace tundish::switches
