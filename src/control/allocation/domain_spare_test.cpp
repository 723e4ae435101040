// A gang that lies in one NVLink domain gets no stand-in from another one.
#include "control/allocation/fleet_view.hpp"
#include "control/health/health_site_for_test.hpp"

namespace tundish::control::health {
namespace {

class DomainSpare : public HealthSite {
 protected:
  void SetUp() override {
    HealthSite::SetUp();
    for (int i = 1; i <= nodes; ++i) put_in(i, i == 5 ? "nvl2" : "nvl1");
    Txn txn(reg_, now_, "test");
    Allocation held = allocation();
    for (const int i : {5, 6}) {
      AllocationNode spare;
      spare.node = node(i);
      spare.role = MemberRole::spare;
      held.status.nodes.push_back(spare);
    }
    txn.put(held);
  }
  void put_in(int i, const std::string& domain) {
    Txn txn(reg_, now_, "test");
    Node node = at(i);
    node.spec.nvlink_domain = domain;
    txn.put(node);
  }
};

TEST_F(DomainSpare, a_spare_of_the_own_domain_serves) {
  EXPECT_EQ(find_spare(view(), allocation(), node(1)), node(6));
}

TEST_F(DomainSpare, a_foreign_spare_does_not_even_when_it_is_the_only_one) {
  must(take_claim(node(6), "person:ann", "work"));
  EXPECT_EQ(find_spare(view(), allocation(), node(1)), std::nullopt);
  std::string why;
  EXPECT_EQ(find_stand_in(view(), allocation(), node(1), why), std::nullopt);
}

TEST_F(DomainSpare, a_gang_across_domains_takes_either) {
  put_in(2, "nvl2");
  must(take_claim(node(6), "person:ann", "work"));
  EXPECT_EQ(find_spare(view(), allocation(), node(1)), node(5));
}

}  // namespace
}  // namespace tundish::control::health
