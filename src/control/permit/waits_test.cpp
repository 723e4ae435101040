// An order that nobody may carry out says so, and what would change that.
#include <gmock/gmock.h>

#include "control/allocation/reconcile_allocation.hpp"
#include "control/network/reconcile_switch.hpp"
#include "control/network/site_for_test.hpp"
#include "control/permit/permit.hpp"

namespace tundish::control {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class WaitsTest : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    ASSERT_EQ(site.faults, "");
    site.seen.started_at = site.now;
    site.now = site.now + minutes(5);
  }
  Outcome look(const std::string& name) {
    Outcome out = reconcile_allocation(site.view(), site.allocation(name));
    for (const auto& operation : out.operations) site.must(operation);
    return out;
  }
  std::string reason(const std::string& name) { return site.allocation(name).status.reason; }
  network::TestSite site;
};

TEST_F(WaitsTest, at_observe_the_reason_names_the_scope_and_the_command) {
  site.must(set_authority("site:site", "*", AuthorityLevel::observe));
  look("a");
  EXPECT_EQ(reason("a"),
            "waits: site:site is at observe for network; tundish authority set --scope site:site "
            "--level act");
  site.must(set_authority("site:site", "*", AuthorityLevel::act));
  look("a");
  EXPECT_EQ(reason("a"), "");
}

TEST_F(WaitsTest, without_any_word_the_widest_scope_is_named) {
  look("a");
  EXPECT_THAT(reason("a"), HasSubstr("authority set --scope site:site --level act"));
}

TEST_F(WaitsTest, a_rack_at_observe_for_one_class_is_named_with_the_class) {
  site.must(set_authority("site:site", "*", AuthorityLevel::act));
  site.must(set_authority("rack:r01", "network", AuthorityLevel::observe));
  look("a");
  EXPECT_EQ(reason("a"),
            "waits: rack:r01 is at observe for network; tundish authority set --scope rack:r01 "
            "--class network --level act");
}

TEST_F(WaitsTest, at_advise_it_points_to_the_proposals) {
  site.must(set_authority("*", "*", AuthorityLevel::advise));
  look("a");
  EXPECT_THAT(reason("a"), StartsWith("waits: everything is at advise for network"));
  EXPECT_THAT(reason("a"), HasSubstr("tundish proposal list"));
}

TEST_F(WaitsTest, a_hold_is_named) {
  site.must(set_authority("*", "*", AuthorityLevel::act));
  site.must(set_hold("*", "power works", {}));
  look("a");
  EXPECT_EQ(reason("a"), "waits: hold *: power works");
}

TEST_F(WaitsTest, a_network_that_nobody_may_write_is_not_being_applied) {
  site.must(set_authority("site:site", "*", AuthorityLevel::observe));
  look("a");
  site.show_as_planned();
  // Something of it is there, as on a switch that was in use before.
  site.shown("leaf1").ports.front().mode = PortMode::quarantine;
  site.now = site.now + seconds(1);
  for (const auto& change : network::reconcile_networks(site.view(), "access").changes) {
    site.must(change.operation);
  }
  for (const auto& sync : site.network("a").status.sync) {
    if (sync.object != "leaf1") continue;
    EXPECT_EQ(sync.state, SyncState::planned);
    EXPECT_THAT(sync.reason, StartsWith("waits: site:site is at observe"));
  }
}

TEST_F(WaitsTest, what_a_driver_said_is_the_reason_until_the_act_is_done) {
  site.must(set_authority("site:site", "*", AuthorityLevel::act));
  const Outcome out = look("a");
  ASSERT_FALSE(out.actions.empty());
  EXPECT_EQ(reason("a"), "");
  const std::string said = "switch leaf1: access list T-10-IN does not fit\nsecond line";
  site.seen.faults[out.actions.front().key] = {fault_text("attach_port", said),
                                               out.actions.front().node, site.allocation("a").id,
                                               site.now};
  look("a");
  EXPECT_EQ(reason("a"),
            "waits: attach_port failed: switch leaf1: access list T-10-IN does not fit");
  site.seen.faults.clear();
  look("a");
  EXPECT_EQ(reason("a"), "");
}

TEST_F(WaitsTest, a_long_word_of_a_driver_is_cut_between_characters) {
  std::string dashes;
  while (dashes.size() < 250) dashes += "\xe2\x80\x93";
  const std::string text = fault_text("x", dashes);
  EXPECT_EQ(text.size(), std::string("x failed: ").size() + 198 + 3);
}

TEST_F(WaitsTest, only_the_waiting_part_is_passed_on) {
  EXPECT_EQ(waiting_part("1 of 2 members serve; waits: x"), "waits: x");
  EXPECT_EQ(waiting_part("1 of 2 members serve"), "");
}

TEST_F(WaitsTest, a_used_up_approval_covers_nothing) {
  site.must(set_authority("*", "*", AuthorityLevel::advise));
  const Outcome wanted = look("a");
  ASSERT_FALSE(wanted.actions.empty());
  const Action& act = wanted.actions.front();
  Proposal proposal;
  proposal.group = proposal.action_key = act.key;
  proposal.expires_at = site.now + hours(1);
  site.must(open_proposal(proposal));
  const auto id = site.registry.all<Proposal>().begin()->first;
  site.must(decide_proposal(id, ProposalState::approved));
  Action own = act;
  own.group = own.key;
  EXPECT_EQ(permit(own, site.view(), {}).leave, Leave::execute);
  site.must(close_proposal(id, "done"));
  EXPECT_EQ(permit(own, site.view(), {}).leave, Leave::propose);
  EXPECT_EQ(site.registry.find(id)->state, ProposalState::approved);
  own.group = "";
  EXPECT_EQ(permit(own, site.view(), {}).leave, Leave::propose);
}

TEST_F(WaitsTest, what_was_denied_says_how_it_goes_on) {
  site.must(set_authority("*", "*", AuthorityLevel::advise));
  const Outcome wanted = look("a");
  ASSERT_FALSE(wanted.actions.empty());
  Action own = wanted.actions.front();
  own.group = own.key;
  Proposal proposal;
  proposal.group = proposal.action_key = own.key;
  proposal.expires_at = site.now + hours(1);
  site.must(open_proposal(proposal));
  const auto id = site.registry.all<Proposal>().begin()->first;
  site.must(decide_proposal(id, ProposalState::denied));
  EXPECT_EQ(permit(own, site.view(), {}).leave, Leave::refuse);
  EXPECT_EQ(waits_for(own, site.view()),
            "waits: a person denied it; tundish proposal approve " + id.str());
  site.must(decide_proposal(id, ProposalState::approved));
  EXPECT_EQ(waits_for(own, site.view()), "");
}

}  // namespace
}  // namespace tundish::control
