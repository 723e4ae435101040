// Until when a tenant was a node short, also where no replacement of the incident's own came.
#include "control/fault/reconcile_incident.hpp"
#include "control/health/health_site_for_test.hpp"

namespace tundish::control {
namespace {

class WholeAgain : public health::HealthSite {
 protected:
  void SetUp() override {
    HealthSite::SetUp();
    KernelEvent event;
    event.kind = KernelEventKind::fallen_off_bus;
    event.device = "0000:3b:00";
    writes(1, event);
    ASSERT_TRUE(open());
    id_ = open()->id;
  }
  const Incident& after(Duration passed) {
    now_ = now_ + passed;
    const Outcome out = reconcile_incident(view(), *reg_.find(id_));
    for (const auto& operation : out.operations) must(operation);
    return *reg_.find(id_);
  }
  void phase(AllocationPhase to) { must(set_allocation_phase(allocation().id, to, "test")); }

  IncidentId id_;
};

TEST_F(WholeAgain, the_node_that_comes_back_ends_it) {
  EXPECT_FALSE(after(seconds(1)).member_restored_at.is_set()) << "nobody saw it short yet";
  phase(AllocationPhase::degraded);
  EXPECT_FALSE(after(seconds(60)).member_restored_at.is_set());
  phase(AllocationPhase::active);
  const Incident& incident = after(seconds(1));
  EXPECT_EQ(incident.member_restored_at, now_);
  EXPECT_TRUE(incident.replacement.empty());
  EXPECT_EQ(incident.timeline.back().what, "allocation whole again");
}

TEST_F(WholeAgain, one_that_ended_while_short_says_so_until_the_tenant_has_its_nodes) {
  phase(AllocationPhase::degraded);
  must(close_incident(id_));
  EXPECT_FALSE(after(seconds(1)).member_restored_at.is_set()) << "still";
  now_ = now_ + seconds(60);
  phase(AllocationPhase::active);
  EXPECT_TRUE(after(seconds(1)).member_restored_at.is_set());
}

// As in a lab: five minutes after the tenant was whole again the incident said "short, still".
TEST_F(WholeAgain, one_that_ended_looks_again_until_its_replacement_serves) {
  phase(AllocationPhase::degraded);
  must(close_incident(id_));
  Incident ended = *reg_.find(id_);
  ended.replacement = node(2);
  must(make_operation("put", "test", [&](Txn& txn) -> Result<> {
    txn.put(ended);
    return {};
  }));
  phase(AllocationPhase::active);
  const Outcome out = reconcile_incident(view(), *reg_.find(id_));
  EXPECT_EQ(out.wake_at, now_ + seconds(5)) << "the engine has not shown it yet";
  now_ = now_ + minutes(11);
  EXPECT_FALSE(reconcile_incident(view(), *reg_.find(id_)).wake_at.is_set());
}

TEST_F(WholeAgain, one_that_never_cost_a_node_ends_with_itself) {
  must(close_incident(id_));
  EXPECT_TRUE(after(seconds(1)).member_restored_at.is_set());
}

}  // namespace
}  // namespace tundish::control
