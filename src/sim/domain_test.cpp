// An NVLink domain under the shipped controllers: tray, IMEX daemon, switch tray, leak, the rack.
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "sim/catalogues.hpp"
#include "sim/script_parts.hpp"

namespace tundish::sim {
namespace {

void quiet(LogLevel, std::string_view, const std::vector<LogField>&) {}

struct Catalogues {
  Result<XidCatalogue> xids = load_xids(std::string(TUNDISH_SOURCE_DIR) + "/catalog");
  Result<RemediationPolicy> policy = load_policy(std::string(TUNDISH_SOURCE_DIR) + "/catalog");
};

const Catalogues& catalogues() {
  static const Catalogues loaded;
  return loaded;
}

/// Two domains of six trays; acme's cluster of three and a spare lies in one of them.
class Domain : public testing::Test {
 protected:
  Domain() {
    set_log_sink(quiet);
    site_ = std::make_unique<Site>(options_);
    site_->build();
    site_->order("acme", "train", spec_of(3, 1));
    site_->start_job("train", 3);
    pass(minutes(15));
    domain_ = domain_of(members().at(0));
  }
  static SimOptions options() {
    SimOptions out;
    out.faults = out.decoys = out.crashes = 0;
    out.trouble = {0, 0, 0, milliseconds(50)};
    out.pace = Pace::shipped;
    out.domains = true;
    out.catalogue = &*catalogues().xids;
    out.policy = &*catalogues().policy;
    return out;
  }
  void pass(Duration time) { site_->run_until(site_->now() + time); }
  const Registry& reg() { return *site_->view(); }
  std::vector<SimNode*> members() {
    std::vector<SimNode*> out;
    for (const auto& [id, held] : reg().all<Allocation>()) {
      for (const auto& member : held.status.nodes) {
        if (member.role != MemberRole::member) continue;
        out.push_back(site_->world().find_id(member.node.str()));
      }
    }
    return out;
  }
  std::string domain_of(const SimNode* node) {
    return reg().find(NodeId(node->id))->spec.nvlink_domain;
  }
  std::vector<SimNode*> trays(const std::string& domain) {
    std::vector<SimNode*> out;
    for (auto& [name, node] : site_->world().nodes) {
      if (domain_of(&node) == domain) out.push_back(&node);
    }
    return out;
  }
  bool is_claimed(const SimNode* node) { return !reg().claims_on(NodeId(node->id)).empty(); }
  const Incident* shared(SubjectKind kind, Resource part) {
    for (const auto& [id, incident] : reg().all<Incident>()) {
      const bool same = incident.node.empty() && incident.subject_kind == kind;
      if (same && incident.blamed->part == part) return &incident;
    }
    return nullptr;
  }
  const Incident* of_node(const SimNode* node) {
    for (const auto& [id, incident] : reg().all<Incident>()) {
      if (incident.node.str() == node->id) return &incident;
    }
    return nullptr;
  }
  int claims() {
    int count = 0;
    for (const auto& [id, claim] : reg().all<Claim>()) count += claim.state == ClaimState::active;
    return count;
  }

  const SimOptions options_ = options();  ///< the site refers to it
  std::unique_ptr<Site> site_;
  std::string domain_;
};

TEST_F(Domain, a_gang_and_its_spare_lie_in_one_domain) {
  ASSERT_EQ(members().size(), 3u);
  for (const SimNode* node : members()) EXPECT_EQ(domain_of(node), domain_);
}

TEST_F(Domain, a_tray_that_fails_is_replaced_from_its_own_domain) {
  SimNode* hit = members().at(0);
  site_->world().fail_gpu(*hit, 0, 79, false);
  site_->sync(*hit);
  pass(minutes(10));
  ASSERT_EQ(members().size(), 3u);
  for (const SimNode* node : members()) {
    EXPECT_NE(node, hit);
    EXPECT_EQ(domain_of(node), domain_);
  }
}

TEST_F(Domain, an_imex_daemon_that_is_down_is_the_domains_and_costs_no_tray) {
  SimNode* hit = members().at(1);
  hit->imex_down = true;
  site_->sync(*hit);
  pass(minutes(3));
  const Incident* told = shared(SubjectKind::domain, Resource::nvswitch);
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->subject, domain_);
  EXPECT_EQ(claims(), 0);
  hit->imex_down = false;
  site_->sync(*hit);
  pass(minutes(3));
  EXPECT_EQ(shared(SubjectKind::domain, Resource::nvswitch)->state, IncidentState::resolved);
}

TEST_F(Domain, a_switch_tray_that_fails_is_the_domains_and_costs_no_tray) {
  for (SimNode* node : members()) {
    site_->world().write_kernel_line(
        *node,
        "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 "
        "(0x004505c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)",
        Provenance::kernel);
    site_->sync(*node);
  }
  pass(minutes(2));
  const Incident* told = shared(SubjectKind::domain, Resource::nvswitch);
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->affected.size(), 3u);
  EXPECT_EQ(claims(), 0);
}

TEST_F(Domain, a_tray_that_leaks_is_told_of_the_domain_and_goes_off_and_away) {
  SimNode* hit = members().at(0);
  site_->world().wet(*hit);
  pass(minutes(10));
  const Incident* told = shared(SubjectKind::domain, Resource::cooling);
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->subject, domain_);
  EXPECT_EQ(told->state, IncidentState::open) << "it is wet still";
  EXPECT_EQ(told->affected, std::vector<NodeId>{NodeId(hit->id)});
  const Incident* own = of_node(hit);
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->fault, "leak");
  EXPECT_EQ(own->state, IncidentState::rma);
  EXPECT_EQ(own->entries.count("power_off"), 1u);
  EXPECT_EQ(own->witnesses.at(0).provenance, Provenance::bmc);
  EXPECT_FALSE(hit->powered);
  EXPECT_TRUE(is_claimed(hit));
  ASSERT_EQ(members().size(), 3u);
  for (const SimNode* node : members()) EXPECT_EQ(domain_of(node), domain_);
  hit->leak = "OK";
  pass(minutes(3));
  EXPECT_EQ(shared(SubjectKind::domain, Resource::cooling)->state, IncidentState::resolved);
}

TEST_F(Domain, drops_are_told_and_cost_no_tray) {
  SimNode* hit = members().at(0);
  hit->leak = "Warning";
  pass(minutes(5));
  EXPECT_NE(shared(SubjectKind::domain, Resource::cooling), nullptr);
  EXPECT_EQ(claims(), 0);
  EXPECT_TRUE(hit->powered);
  const Node* node = reg().find(NodeId(hit->id));
  EXPECT_EQ(node->status.bmc_verdicts.at(0).state, VerdictState::warn);
}

TEST_F(Domain, without_a_tray_of_its_own_left_the_gang_stays_short) {
  const std::vector<SimNode*> own = trays(domain_);
  std::vector<SimNode*> hit;
  for (SimNode* node : own) {  // two trays that are neither member nor spare, then the spare's turn
    if (hit.size() == 3) break;
    const auto gang = members();
    if (std::find(gang.begin(), gang.end(), node) != gang.end()) continue;
    site_->world().wet(*node);
    hit.push_back(node);
  }
  pass(minutes(10));
  SimNode* member = members().at(0);
  site_->world().wet(*member);
  pass(minutes(20));
  for (const SimNode* node : members()) EXPECT_EQ(domain_of(node), domain_);
  EXPECT_EQ(members().size(), 2u) << "no tray of another domain stands in";
  for (const auto& [id, held] : reg().all<Allocation>()) {
    EXPECT_EQ(held.status.phase, AllocationPhase::degraded);
  }
  const Incident* rack = shared(SubjectKind::rack, Resource::nvswitch);
  ASSERT_NE(rack, nullptr) << "more than two trays are out";
  EXPECT_EQ(rack->blamed->rule, "trays");
}

}  // namespace
}  // namespace tundish::sim
