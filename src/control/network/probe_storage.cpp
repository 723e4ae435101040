#include "control/network/probe_storage.hpp"

#include "control/network/storage.hpp"

namespace tundish::control::network {
namespace {

/// What a participant uses of the storage; nullopt: nothing.
std::optional<ProbeExport> own_export(const View& view, const ProbeParticipant& one) {
  const Cluster* cluster = view.reg.find(one.cluster);
  const Allocation* held = cluster ? view.reg.find(cluster->status.allocation) : nullptr;
  const Network* network = held ? find_network(view.reg, held->id) : nullptr;
  const auto plan = network ? storage_plan(view, *network) : std::nullopt;
  if (!plan) return std::nullopt;
  for (const auto& member : held->status.nodes) {
    const bool uses = member.role == MemberRole::member || member.role == MemberRole::login;
    if (member.node != one.node || !uses) continue;
    return ProbeExport{one.cluster.str(), plan->export_name, plan->mount_address,
                       storage_address(*network, member.node)};
  }
  return std::nullopt;
}

/// Who answers nothing says nothing: the reason is then the silence itself.
std::string why_not(const ProbeExportSeen& seen, ProbeReach reach) {
  if (reach == ProbeReach::silent) {
    return seen.detail.empty() ? "timed out" : "timed out: " + seen.detail;
  }
  if (!seen.detail.empty()) return seen.detail;
  return reach == ProbeReach::refused ? "refused" : "the try itself failed";
}

struct Tries {
  std::string reached, unproved;
  bool any = false;
};

void note(std::string& list, const std::string& text) { list += (list.empty() ? "" : ", ") + text; }

/// One node's tries of one other cluster.
void judge_other(const ProbeParticipant& one, const ProbeExport& asked, const ProbeExportSeen& seen,
                 bool own_works, Tries& out) {
  out.any = true;
  const bool tried_login = !asked.export_name.empty();
  if (tried_login && seen.login == ProbeReach::reached) note(out.reached, one.name + " logs in");
  if (seen.address == ProbeReach::reached) {
    note(out.reached, one.name + " connects as " + asked.address);
  }
  const bool failed = (tried_login && seen.login == ProbeReach::failed) ||
                      (!asked.address.empty() && seen.address == ProbeReach::failed);
  // A server that does not answer an own login says nothing of another's.
  const bool silent = tried_login && seen.login == ProbeReach::silent;
  const bool told_by_login = silent || (tried_login && seen.login == ProbeReach::failed);
  if (failed || silent) {
    note(out.unproved,
         one.name + " could not try: " + why_not(seen, told_by_login ? seen.login : seen.address));
  } else if (!own_works) {
    note(out.unproved, one.name + " does not reach its own export");
  }
}

ProbeStorage row_of(const Registry& reg, const std::pair<std::string, std::string>& pair,
                    const Tries& tries) {
  ProbeStorage row;
  row.from = cluster_label(reg, ClusterId(pair.first));
  row.to = cluster_label(reg, ClusterId(pair.second));
  row.same = pair.first == pair.second;
  if (!tries.reached.empty() && (!row.same || tries.unproved.empty())) {
    row.cell = ProbeCell::open;
  } else if (tries.any && tries.unproved.empty()) {
    row.cell = ProbeCell::closed;
  }
  row.good = row.cell == (row.same ? ProbeCell::open : ProbeCell::closed);
  row.detail = row.same || tries.reached.empty() ? tries.unproved : tries.reached;
  return row;
}

}  // namespace

void plan_exports(const View& view, ProbePlan& plan) {
  std::map<std::string, ProbeExport> one_of;  // cluster -> its first node's
  std::map<std::string, ProbeExport> own;     // participant -> its own
  for (const auto& one : plan.participants) {
    auto mine = own_export(view, one);
    if (!mine) continue;
    one_of.emplace(mine->name, *mine);
    own.emplace(one.id, std::move(*mine));
  }
  for (auto& one : plan.participants) {
    const auto mine = own.find(one.id);
    if (mine == own.end()) continue;
    ProbeExport first = mine->second;
    first.address.clear();
    one.probe.exports.push_back(std::move(first));
    for (const auto& [cluster, other] : one_of) {
      if (cluster == mine->second.name) continue;
      ProbeExport next = other;
      // Clusters of one tenant share its export; their addresses are still each one's own.
      if (next.export_name == mine->second.export_name) next.export_name.clear();
      one.probe.exports.push_back(std::move(next));
    }
  }
}

std::vector<ProbeStorage> judge_exports(const Registry& reg, const ProbePlan& plan,
                                        const std::map<std::string, ProbeAnswer>& answers) {
  std::map<std::pair<std::string, std::string>, Tries> found;
  for (const auto& one : plan.participants) {
    const auto& asked = one.probe.exports;
    if (asked.empty()) continue;
    const auto answer = answers.find(one.id);
    const bool answered = answer != answers.end() && answer->second.answered &&
                          answer->second.seen.exports.size() == asked.size();
    bool own_works = false;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      Tries& tries = found[{asked.front().name, asked[i].name}];
      if (!answered) {
        note(tries.unproved, one.name + " gave no answer");
        continue;
      }
      const ProbeExportSeen& seen = answer->second.seen.exports[i];
      if (i > 0) {
        judge_other(one, asked[i], seen, own_works, tries);
        continue;
      }
      own_works = seen.login == ProbeReach::reached;
      tries.any = true;
      note(own_works ? tries.reached : tries.unproved,
           one.name + (own_works ? "" : " is not let in: " + why_not(seen, seen.login)));
    }
  }
  std::vector<ProbeStorage> out;
  for (const auto& [pair, tries] : found) out.push_back(row_of(reg, pair, tries));
  return out;
}

}  // namespace tundish::control::network
