// One failure side at a time, as reconcile_allocation decides it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/allocation/reconcile_allocation.hpp"
#include "control/network/drive.hpp"
#include "control/network/site_for_test.hpp"

namespace tundish::control::network {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FailureSideTest : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    site.seen.started_at = site.now;
    site.show_as_planned();
    for (auto& [name, seen] : site.seen.switches) seen.reading.seen.own.ports.clear();
    set_side("leaf1", "a");
    set_side("leaf2", "b");
    ASSERT_EQ(site.faults, "");
  }
  void set_side(const std::string& name, const std::string& side) {
    SwitchSpec spec = site.registry.find_named<Switch>(name)->spec;
    spec.failure_side = side;
    site.must(put_switch(name, spec));
  }
  /// "attach_port leaf1", sorted, of the cluster a, which has a node on each leaf.
  std::vector<std::string> wanted() {
    std::vector<std::string> out;
    const auto outcome = reconcile_allocation(site.view(), site.allocation("a"));
    for (const auto& action : outcome.actions) {
      const auto* attach = std::get_if<AttachAct>(&action.act);
      if (attach && action.name != "quarantine_port" && action.name != "route_storage")
        out.push_back(action.name + " " + attach->port.switch_name);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
  /// The switch shows what is wanted of it, ports too.
  void show(const std::string& name) {
    SwitchObserved& seen = site.seen.switches[name];
    seen.at = site.now;
    seen.reading.seen.own = *plan_switch(site.intent(), name);
    for (const auto& port : seen.reading.seen.own.ports) {
      PortObserved& observed = site.seen.ports[{name, port.name}];
      observed = {name, port.name, "", true, site.now};
      const SegmentState* segment = find_segment(seen.reading.seen.own, port.vlan);
      if (segment) observed.segment = "seg" + std::to_string(segment->l2vni);
    }
  }
  TestSite site;
};

TEST_F(FailureSideTest, the_second_side_follows_when_the_first_shows_its_part) {
  EXPECT_THAT(wanted(), ElementsAre("attach_port leaf1"));
  show("leaf1");
  EXPECT_THAT(wanted(), ElementsAre("attach_port leaf2"));
  show("leaf2");
  EXPECT_THAT(wanted(), IsEmpty());
}

TEST_F(FailureSideTest, a_read_back_that_fails_keeps_the_second_side_untouched) {
  // leaf1 took the change back: it is read again and again, and shows what was before.
  for (int look = 0; look < 5; ++look) {
    site.now = site.now + seconds(10);
    for (auto& [name, seen] : site.seen.switches) seen.at = site.now;
    EXPECT_THAT(wanted(), ElementsAre("attach_port leaf1"));
  }
}

TEST_F(FailureSideTest, switches_without_a_side_are_changed_together) {
  set_side("leaf1", "");
  set_side("leaf2", "");
  EXPECT_THAT(wanted(), ElementsAre("attach_port leaf1", "attach_port leaf2"));
}

TEST_F(FailureSideTest, a_side_that_is_not_heard_does_not_hold_up_the_other) {
  site.seen.switches["leaf1"].fault = "no answer";
  EXPECT_THAT(wanted(), ElementsAre("attach_port leaf1", "attach_port leaf2"));
}

/// A tenant's node leaves on both sides at once: isolation waits for nothing.
TEST_F(FailureSideTest, isolation_is_never_held_back) {
  std::vector<Action> actions(2);
  for (std::size_t i = 0; i < 2; ++i) {
    AttachAct act;
    act.port = {"leaf" + std::to_string(i + 1), "ssh://x", "swp1", "frr"};
    actions[i].act = std::move(act);
  }
  keep_to_one_side(site.view(), actions);
  EXPECT_EQ(actions.size(), 2u);
}

}  // namespace
}  // namespace tundish::control::network
