#include "control/network/probe_partition.hpp"

#include <algorithm>

#include "control/network/intent.hpp"
#include "control/network/port_tables.hpp"
#include "control/network/reconcile_switch.hpp"

namespace tundish::control::network {
namespace {

/// One cluster's ports in one fabric.
struct Group {
  std::string label;
  std::vector<std::string> guids;
};
struct FabricGroups {
  const Fabric* fabric = nullptr;
  Intent intent;
  std::vector<Group> groups;
};

std::vector<FabricGroups> groups_of(const View& view, const std::vector<ClusterId>& clusters) {
  std::set<std::string> chosen;
  for (const auto& id : clusters) {
    const Cluster* cluster = view.reg.find(id);
    const Allocation* held = cluster ? view.reg.find(cluster->status.allocation) : nullptr;
    if (held) chosen.insert(held->status.network.str());
  }
  std::vector<FabricGroups> out;
  for (const auto& [id, fabric] : view.reg.all<Fabric>()) {
    if (fabric.spec.technology != FabricTechnology::infiniband) continue;
    FabricGroups one{&fabric, intent_of(view, fabric.meta.name), {}};
    for (const auto& network : one.intent.networks) {
      const bool here = network.partition_fabric == fabric.meta.name && !network.guids.empty();
      if (!here || !chosen.contains(network.id.str())) continue;
      one.groups.push_back({network.label, {network.guids.begin(), network.guids.end()}});
    }
    if (!one.groups.empty()) out.push_back(std::move(one));
  }
  return out;
}

template <class Visit>
void each_pair(const Group& from, const Group& to, Visit visit) {
  for (const auto& a : from.guids) {
    for (const auto& b : to.guids) {
      if (a != b) visit(a, b);
    }
  }
}

/// The PKey by which two tables let their ports talk; 0: none.
int shared(const FabricPort& a, const FabricPort& b) {
  for (const auto& x : a.pkeys) {
    for (const auto& y : b.pkeys) {
      const bool full = x.membership == IbMembership::full || y.membership == IbMembership::full;
      if (x.pkey == y.pkey && full) return x.pkey;
    }
  }
  return 0;
}

struct Cell {
  ProbeCell cell = ProbeCell::unknown;
  std::string detail;
};

/// Of one pair of clusters: `open` and `shut` name pairs of ports, `doubt` says why one is unknown.
Cell sum_up(const std::string& open, const std::string& shut, const std::string& doubt) {
  if (!open.empty() && shut.empty() && doubt.empty()) return {ProbeCell::open, open};
  if (open.empty() && !shut.empty() && doubt.empty()) return {ProbeCell::closed, ""};
  if (!doubt.empty() && open.empty()) return {ProbeCell::unknown, doubt};
  return {ProbeCell::unknown, "no two ports"};
}

class PairJudge {
 public:
  PairJudge(const View& view, const FabricGroups& groups, const PathAnswers& answers)
      : intent_(groups.intent) {
    const std::string& name = groups.fabric->meta.name;
    if (groups.fabric->spec.management_url.empty()) {
      no_tables_ = no_paths_ = "nobody drives the fabric: it has no management_url";
      return;
    }
    const auto seen = view.seen.fabrics.find(name);
    const bool read = seen != view.seen.fabrics.end() && seen->second.at.is_set();
    if (read) age_ms_ = (view.now - seen->second.at).ms();
    if (!read || view.now - seen->second.at > stale_after) {
      no_tables_ = "the fabric was not read lately";
      if (read && !seen->second.fault.empty()) no_tables_ += ": " + seen->second.fault;
    } else if (!seen->second.has_tables) {
      no_tables_ = "the fabric's manager shows no tables";
    } else {
      for (const auto& port : seen->second.ports) tables_[port.guid] = &port;
    }
    const auto answer = answers.find(name);
    if (answer == answers.end()) {
      no_paths_ = "the subnet manager was not asked";
    } else if (!answer->second) {
      no_paths_ = answer->second.error().message();
    } else {
      for (const auto& path : *answer->second) paths_[{path.from, path.to}] = &path;
    }
  }

  ProbePartitions judge(const Group& from, const Group& to) const {
    ProbePartitions out;
    out.from = from.label;
    out.to = to.label;
    out.same = &from == &to;
    out.age_ms = age_ms_;
    const Cell tables = no_tables_.empty() ? judge_tables(from, to, out.same)
                                           : Cell{ProbeCell::unknown, no_tables_};
    const Cell paths =
        no_paths_.empty() ? judge_paths(from, to, out.same) : Cell{ProbeCell::unknown, no_paths_};
    out.tables = tables.cell;
    out.tables_detail = tables.detail;
    out.paths = paths.cell;
    out.paths_detail = paths.detail;
    const ProbeCell good = out.same ? ProbeCell::open : ProbeCell::closed;
    out.good = out.tables == good && out.paths == good;
    return out;
  }

 private:
  std::string name(const std::string& guid) const { return name_guids(intent_, guid); }

  Cell judge_tables(const Group& from, const Group& to, bool same) const {
    std::string open, shut, doubt;
    each_pair(from, to, [&](const std::string& a, const std::string& b) {
      for (const auto& guid : {a, b}) {
        const auto port = tables_.find(guid);
        if (port != tables_.end() && port->second->has_table) continue;
        doubt = "port " + name(guid) + (port == tables_.end() ? " is down" : " did not answer");
        return;
      }
      const int pkey = shared(*tables_.at(a), *tables_.at(b));
      (pkey != 0 ? open : shut) =
          name(a) + " to " + name(b) + (pkey != 0 ? " by PKey " + pkey_text(pkey) : "");
    });
    return finish(same, open, shut, doubt);
  }

  Cell judge_paths(const Group& from, const Group& to, bool same) const {
    std::string open, shut, doubt;
    std::size_t all = 0, asked = 0;
    each_pair(from, to, [&](const std::string& a, const std::string& b) {
      ++all;
      const auto path = paths_.find({a, b});
      if (path == paths_.end()) return;
      ++asked;
      const std::string ends = name(a) + " to " + name(b);
      if (!path->second->answered) {
        doubt = "no answer about " + ends;
      } else if (path->second->pkeys.empty()) {
        shut = ends;
      } else {
        open = ends + " by PKey " + pkey_text(path->second->pkeys.front());
      }
    });
    if (asked == 0 && all > 0) doubt = "ports came or went while it was asked; ask again";
    Cell out = finish(same, open, shut, doubt);
    if (asked < all) {
      out.detail += (out.detail.empty() ? "" : "; ") + ("asked for " + std::to_string(asked)) +
                    " of " + std::to_string(all) + " pairs of ports";
    }
    return out;
  }

  /// Across, one open pair is a leak whatever the others are; inside, one closed pair is a gap.
  static Cell finish(bool same, const std::string& open, const std::string& shut,
                     const std::string& doubt) {
    if (!same && !open.empty()) return {ProbeCell::open, open};
    if (same && !shut.empty()) return {ProbeCell::closed, shut};
    if (same && !open.empty() && doubt.empty()) return {ProbeCell::open, ""};
    return sum_up(open, shut, doubt);
  }

  const Intent& intent_;
  std::map<std::string, const FabricPort*> tables_;
  std::map<std::pair<std::string, std::string>, const FabricPath*> paths_;
  std::string no_tables_, no_paths_;
  std::int64_t age_ms_ = -1;
};

}  // namespace

std::map<std::string, std::vector<FabricPath>> plan_paths(const View& view,
                                                          const std::vector<ClusterId>& clusters) {
  std::map<std::string, std::vector<FabricPath>> out;
  for (const auto& one : groups_of(view, clusters)) {
    if (one.fabric->spec.management_url.empty()) continue;
    std::vector<FabricPath> all;
    for (const auto& from : one.groups) {
      for (const auto& to : one.groups) {
        each_pair(from, to, [&](const std::string& a, const std::string& b) {
          all.push_back({a, b, false, {}});
        });
      }
    }
    auto& asked = out[one.fabric->meta.name];
    const std::size_t step = all.size() / paths_asked + 1;
    for (std::size_t i = 0; i < all.size(); i += step) asked.push_back(std::move(all[i]));
  }
  return out;
}

void judge_partitions(const View& view, const std::vector<ClusterId>& clusters,
                      const PathAnswers& answers, ProbeMatrix& matrix) {
  for (const auto& one : groups_of(view, clusters)) {
    const PairJudge judge(view, one, answers);
    for (const auto& from : one.groups) {
      for (const auto& to : one.groups) {
        if (&from == &to && from.guids.size() < 2) continue;
        ProbePartitions pair = judge.judge(from, to);
        pair.fabric = one.fabric->meta.name;
        matrix.partitions.push_back(std::move(pair));
      }
    }
  }
  conclude_probe(matrix);
}

}  // namespace tundish::control::network
