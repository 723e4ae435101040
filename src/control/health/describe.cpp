// Findings in words: evidence by weight, what was cleared, what would change it.
#include <algorithm>

#include "base/text.hpp"
#include "control/health/blame_parts.hpp"

namespace tundish::control::health {
namespace {

constexpr std::size_t evidence_kept = 12;

std::string plural(int n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

BlameEvidence evidence_of(const Case& given, const Sighting& s, int weight) {
  BlameEvidence out;
  out.at = s.first;
  out.node = given.place(s.node).name;
  out.part = s.part;
  out.what = s.what;
  out.says = s.says;
  out.weight = weight;
  return out;
}

BlameEvidence remark(Instant at, Resource part, std::string says, int weight) {
  BlameEvidence out;
  out.at = at;
  out.part = part;
  out.what = "compared";
  out.says = std::move(says);
  out.weight = weight;
  return out;
}

std::string rule_of(const Fate& fate) {
  if (!fate.own_word.empty()) return "own_word";
  if (fate.shared->kind == SubjectKind::job) return "job_storm";
  return fate.shared->kind == SubjectKind::domain ? "burst" : "shared_fate";
}

int confidence_of(const Fate& fate) {
  if (!fate.own_word.empty()) return 95;
  if (fate.shared->kind == SubjectKind::job) return 90;
  if (fate.shared->kind == SubjectKind::domain) return fate.kinds > 1 ? 90 : 80;
  const int share = static_cast<int>(fate.affected.size()) * 100 / std::max(1, fate.heard);
  return std::min(95, 50 + share * 4 / 10);
}

/// Why another shared part is not it. Who did not look since clears nobody.
std::string why_not(const Case& given, const Fate& fate, const Shared& other,
                    const Parts& symptoms) {
  int inside = 0, fine = 0;
  for (const auto& [node, devices] : other.users) {
    const bool hit = fate.affected.contains(node);
    const bool speaks = given.hears(other, node) && would_show(given, other, symptoms, node);
    inside += hit ? 1 : 0;
    fine += !hit && speaks && has_looked(given, fate, node) ? 1 : 0;
  }
  const auto affected = static_cast<int>(fate.affected.size());
  if (inside == 0) return "";
  if (fine > 0) return plural(fine, "other node") + " on it show nothing";
  if (inside == affected) return "explains less of what was seen";
  return "only " + std::to_string(inside) + " of " + plural(affected, "node") + " hang on it";
}

/// What else could have caused the same, and why it did not.
void clear_others(const Case& given, const Fate& fate, Blame& out) {
  Parts symptoms;
  for (const std::size_t i : fate.explains) symptoms.insert(given.seen[i].part);
  const std::string all = plural(static_cast<int>(fate.affected.size()), "node");
  for (const Resource part : symptoms) {
    if (find_cause(fate.shared->part, part, Reach::users) && fate.affected.size() > 1) {
      out.cleared.push_back({part, "each node by itself", all + " show it at the same time"});
    }
    if (!find_cause(Resource::cpu, part, Reach::same_node)) continue;
    const auto strained =
        std::count_if(fate.affected.begin(), fate.affected.end(),
                      [&](const NodeId& node) { return given.is_strained(node); });
    out.cleared.push_back({Resource::cpu, "",
                           strained == 0 ? "none of the nodes was short of CPU or memory"
                                         : "only " + std::to_string(strained) + " of " + all +
                                               " was short of CPU or memory"});
    break;
  }
  for (const auto& other : given.topology.shared) {
    if (&other == fate.shared) continue;
    const bool possible = std::any_of(fate.explains.begin(), fate.explains.end(),
                                      [&](auto i) { return could_cause(other, given.seen[i]); });
    const std::string why = possible ? why_not(given, fate, other, symptoms) : "";
    if (why.empty()) continue;
    out.cleared.push_back({other.part, subject_text(other), why});
    if (out.cleared.size() > 6) break;
  }
}

std::vector<std::string> doubts_of(const Fate& fate) {
  const std::string name = subject_text(*fate.shared);
  switch (fate.shared->kind) {
    case SubjectKind::job:
      return {"the same events on nodes that do not run " + name,
              "a fault of one node's GPU or link that came before them"};
    case SubjectKind::domain:
      return {"a fault of one node's GPU that came before the others",
              "the same events on nodes outside " + name};
    default:
      return {"users of " + name + " that are fine while the others are not",
              "the same symptom on nodes that do not use " + name};
  }
}

}  // namespace

std::string subject_text(const Shared& shared) {
  switch (shared.kind) {
    case SubjectKind::storage: return "storage server " + shared.name;
    case SubjectKind::network_switch: return "switch " + shared.name;
    case SubjectKind::domain: return "NVLink domain " + shared.name;
    case SubjectKind::job: return "job " + shared.name;
    case SubjectKind::engine: return "the engine of " + shared.name;
    case SubjectKind::rack: return "rack " + shared.name;
    case SubjectKind::site: return "site " + shared.name;
    case SubjectKind::node: break;
  }
  return "node " + shared.name;
}

std::string part_text(Resource part) {
  std::string out(enum_names(part)[static_cast<std::size_t>(part)]);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

void rank(std::vector<BlameEvidence>& evidence) {
  std::stable_sort(
      evidence.begin(), evidence.end(), [](const BlameEvidence& a, const BlameEvidence& b) {
        return std::tie(b.weight, a.at, a.node, a.what) < std::tie(a.weight, b.at, b.node, b.what);
      });
  if (evidence.size() <= evidence_kept) return;
  const auto more = static_cast<int>(evidence.size() - evidence_kept + 1);
  evidence.resize(evidence_kept - 1);
  evidence.push_back(remark(evidence.front().at, Resource::unknown,
                            "and " + std::to_string(more) + " more like these", 0));
}

Finding describe_fate(const Case& given, const Fate& fate) {
  const Shared& shared = *fate.shared;
  Finding out;
  out.affected = {fate.affected.begin(), fate.affected.end()};
  out.first = fate.first;
  // It takes nothing out of service: it waits only for a look that may name another.
  out.settled = !fate.open_until.is_set();
  out.wake_at = fate.open_until;
  out.blame.part = shared.part;
  out.blame.subject_kind = shared.kind;
  out.blame.object = shared.name;
  out.blame.rule = rule_of(fate);
  out.blame.confidence = confidence_of(fate);
  if (!fate.own_word.empty()) {
    out.blame.evidence.push_back(remark(fate.first, shared.part, fate.own_word, 95));
  }
  out.blame.evidence.push_back(
      remark(fate.first, shared.part,
             std::to_string(fate.affected.size()) + " of " + plural(fate.heard, "node") + " on " +
                 subject_text(shared) + " show it" +
                 (fate.fine > 0 ? ", " + std::to_string(fate.fine) + " show nothing" : "") +
                 (fate.elsewhere > 0 ? "; of them " + std::to_string(fate.elsewhere) +
                                           " elsewhere, whose storage is cabled to it"
                                     : ""),
             90));
  for (const std::size_t i : fate.explains) {
    const Sighting& s = given.seen[i];
    if (out.symptom == Resource::unknown || s.first < out.first) out.symptom = s.part;
    const bool own = fate.unexplained.contains(s.node) && given.root(i) == i;
    out.blame.evidence.push_back(evidence_of(given, s, own ? 70 : 40));
  }
  rank(out.blame.evidence);
  clear_others(given, fate, out.blame);
  out.blame.would_change = doubts_of(fate);
  return out;
}

std::vector<Finding> find_leaks(const Case& given) {
  std::vector<Finding> out;
  for (const auto& shared : given.topology.shared) {
    if (shared.kind != SubjectKind::domain || shared.part != Resource::cooling) continue;
    Finding found;
    int worst = 0;
    for (const auto& [node, devices] : shared.users) {
      const auto mine = given.by_node.find(node);
      if (mine == given.by_node.end()) continue;
      for (const std::size_t i : mine->second) {
        const Sighting& s = given.seen[i];
        if (s.part != Resource::cooling || s.level < Level::warn) continue;
        const bool first = !found.first.is_set() || s.first < found.first;
        if (first) found.first = s.first;
        worst = std::max(worst, s.level == Level::fail ? 95 : 70);
        found.blame.evidence.push_back(evidence_of(given, s, s.level == Level::fail ? 95 : 70));
        if (found.affected.empty() || found.affected.back() != node) {
          found.affected.push_back(node);
        }
      }
    }
    if (found.affected.empty()) continue;
    found.symptom = Resource::cooling;
    found.settled = true;
    found.blame.part = Resource::cooling;
    found.blame.subject_kind = SubjectKind::domain;
    found.blame.object = shared.name;
    found.blame.rule = "own_word";
    found.blame.confidence = worst;
    rank(found.blame.evidence);
    found.blame.would_change = {"the detectors of every tray saying OK again"};
    out.push_back(std::move(found));
  }
  return out;
}

std::vector<Finding> find_racks(const Case& given) {
  constexpr int most_trays = 2;  // Source: facts/health.md section 4, NVL72; checked 2026-11
  std::vector<Finding> out;
  for (const auto& shared : given.topology.shared) {
    if (shared.kind != SubjectKind::domain || shared.part != Resource::nvswitch) continue;
    std::map<std::string, std::vector<NodeId>> racks;
    int trays = 0;
    for (const auto& [node, devices] : shared.users) {
      if (!given.place(node).out) continue;
      racks[given.place(node).rack].push_back(node);
      ++trays;
    }
    if (trays <= most_trays) continue;
    const auto most = std::max_element(
        racks.begin(), racks.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    Finding found;
    found.affected = most->second;
    found.first = given.now;
    found.settled = true;
    found.blame.part = Resource::nvswitch;
    found.blame.subject_kind = SubjectKind::rack;
    found.blame.object = most->first.empty() ? shared.name : most->first;
    found.blame.confidence = 75;
    found.blame.rule = "trays";
    found.blame.evidence.push_back(remark(given.now, Resource::nvswitch,
                                          std::to_string(trays) + " trays of NVLink domain " +
                                              shared.name + " are out: more than " +
                                              std::to_string(most_trays) + " is the rack",
                                          90));
    for (const auto& node : found.affected) {
      BlameEvidence tray = remark(given.now, Resource::nvlink, "the tray is out of service", 60);
      tray.node = given.place(node).name;
      found.blame.evidence.push_back(std::move(tray));
    }
    rank(found.blame.evidence);
    found.blame.would_change = {"trays that are back in service"};
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace tundish::control::health
