// The fixed story: every act and every operation of the controllers, in an order that does not
// depend on chance. It is run once per hook with a crash exactly there.
#include "model/ops/allocation_ops.hpp"
#include "model/ops/governance_ops.hpp"
#include "sim/script_parts.hpp"

namespace tundish::sim {
namespace {

/// What the checks of nodes show from `at` on; all of them, or the member of one cluster.
struct Sign {
  std::string cluster = {};
  bool SimNode::*shows = nullptr;
  bool on = true;
};

void show(Site& site, Duration at, Sign sign) {
  site.after(at, [&site, sign] {
    SimNode* only =
        sign.cluster.empty() ? nullptr : find_node(site, sign.cluster, MemberRole::member);
    if (!only && !sign.cluster.empty()) {
      show(site, seconds(3), sign);  // tundishd is down just now
      return;
    }
    for (auto& [name, node] : site.world().nodes) {
      if (only && &node != only) continue;
      node.*sign.shows = sign.on;
      site.after({}, [&site, &node = node] { site.sync(node); });  // it may end in a crash
    }
  });
}

/// Trouble that the others share costs nobody a node; one port alone is waited for.
void plan_signs(Site& site) {
  show(site, minutes(15), {"small", &SimNode::link_down});
  show(site, minutes(15) + seconds(20), {"small", &SimNode::link_down, false});
  show(site, minutes(50) + seconds(30), {"alone", &SimNode::nic_errors});
  // Gone before a person insists on the node: its tenant never consents to a drain.
  show(site, minutes(54), {"alone", &SimNode::nic_errors, false});
  show(site, minutes(68), {"", &SimNode::storage_hangs});
  show(site, minutes(70), {"", &SimNode::storage_hangs, false});
}

void resume(Site& site, Duration at, const std::string& cluster) {
  site.after(at, [&site, cluster] {
    for (auto& [name, node] : site.world().engines[cluster].nodes) {
      if (node.drained && !node.reason.starts_with("tundish: headroom")) {
        site.world().resume_by_person(cluster, name);
        return;
      }
    }
  });
}

void drain(Site& site, Duration at, const std::string& cluster) {
  site.after(at, [&site, cluster] {
    const auto& names = site.world().engines[cluster].partition;
    if (names.empty()) return;
    const std::string name = names.front();
    site.world().drain_by_person(cluster, name);
    site.after(minutes(5),
               [&site, cluster, name] { site.world().resume_by_person(cluster, name); });
  });
}

void advise(Site& site, Duration at, AuthorityLevel level) {
  site.after(at, [&site, level] {
    site.want(
        [&site, level] {
          for (const auto& [id, authority] : site.view()->all<Authority>()) {
            if (authority.scope == "site:site") return authority.level == level;
          }
          return false;
        },
        [&site, level] { site.perform(set_authority("site:site", "*", level)); });
  });
}

void approve(Site& site, Duration at, Duration until) {
  site.after(at, [&site, until] {
    const auto waiting = [&site] {
      std::vector<Id<Proposal>> out;
      for (const auto& [id, proposal] : site.view()->all<Proposal>()) {
        if (proposal.state == ProposalState::waiting) out.push_back(id);
      }
      return out;
    };
    const Instant end = site.now() + until;
    site.want([&site, end] { return site.now() >= end; },
              [&site, waiting] {
                for (const auto& id : waiting()) {
                  site.perform(decide_proposal(id, ProposalState::approved));
                }
              },
              minutes(1));
  });
}

}  // namespace

void plan_script(Site& site) {
  site.order("acme", "train", spec_of(2, 1));
  site.order("bolt", "small", spec_of(1, 0));
  ClusterSpec alone = spec_of(1, 0);
  alone.replace = Consent::never;
  site.order("bolt", "alone", alone);
  for (const char* cluster : {"small", "alone"}) site.start_job(cluster, 1);
  site.start_job("train", 2);
  strike(site, minutes(10), {"train"});
  strike(site, minutes(20), {"train", MemberRole::member, 95});
  strike(site, minutes(30), {"train", MemberRole::spare});
  drain(site, minutes(40), "train");
  strike(site, minutes(50), {"alone", MemberRole::member, 95});
  resume(site, minutes(55), "alone");
  site.after(minutes(60), [&site] {
    if (SimNode* node = find_node(site, "small", MemberRole::member)) {
      site.world().fail_silently(*node, 0);
    }
  });
  site.after(minutes(61), [&site] { site.remove("small"); });
  // A healthy node that comes back: wiped, proved, free.
  site.after(minutes(65), [&site] { site.order("bolt", "brief", spec_of(1, 0)); });
  site.after(minutes(72), [&site] { site.remove("brief"); });
  plan_signs(site);
  advise(site, minutes(80), AuthorityLevel::advise);
  strike(site, minutes(82), {"train"});
  approve(site, minutes(84), minutes(20));
  advise(site, minutes(105), AuthorityLevel::act);
  strike(site, minutes(110), {"train", MemberRole::member, 79, true});
  plan_script_of_people(site);
}

}  // namespace tundish::sim
