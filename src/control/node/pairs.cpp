#include "control/node/pairs.hpp"

#include <algorithm>
#include <set>

namespace tundish::control {
namespace {

struct Sheet {
  std::set<NodeId> good;
  std::map<NodeId, std::vector<const PairResult*>> failed, unknown;
};

Sheet read(const std::vector<PairResult>& results) {
  Sheet out;
  for (const auto& result : results) {
    for (const auto& node : {result.pair.first, result.pair.second}) {
      switch (result.state) {
        case VerdictState::ok:
        case VerdictState::warn: out.good.insert(node); break;
        case VerdictState::fail: out.failed[node].push_back(&result); break;
        case VerdictState::unknown: out.unknown[node].push_back(&result); break;
      }
    }
  }
  return out;
}

/// The fail that accuses the node: with a partner that is good with somebody else.
const PairResult* proof_against(const Sheet& sheet, const NodeId& node) {
  const auto found = sheet.failed.find(node);
  if (found == sheet.failed.end()) return nullptr;
  for (const PairResult* result : found->second) {
    if (sheet.good.contains(result->pair.other(node))) return result;
  }
  return nullptr;
}

Verdict say(VerdictState state, std::string reason) {
  Verdict out;
  out.state = state;
  out.reason = std::move(reason);
  return out;
}

std::string names_of(const std::vector<const PairResult*>& results, const NodeId& node) {
  std::string out;
  for (const PairResult* result : results) {
    out += (out.empty() ? "" : ", ") + result->pair.other(node).str();
  }
  return out;
}

/// Neither good nor proved bad, or the odd one that sat out; and may still be tried.
bool is_open(const Sheet& sheet, const NodeId& node) {
  if (sheet.good.empty() || sheet.good.contains(node) || proof_against(sheet, node)) return false;
  const auto silent = sheet.unknown.find(node);
  if (silent != sheet.unknown.end() && !sheet.failed.contains(node)) return false;
  const auto tries = silent == sheet.unknown.end() ? 0 : static_cast<int>(silent->second.size());
  return tries < most_pair_tries;
}

Verdict verdict_of(const Sheet& sheet, const NodeId& node) {
  const auto failed = sheet.failed.find(node);
  if (sheet.good.contains(node)) {
    if (failed == sheet.failed.end()) return say(VerdictState::ok, "good with its partner");
    // The partner that it failed with is accused, or both are good and the way between them is not.
    for (const PairResult* result : failed->second) {
      if (!sheet.good.contains(result->pair.other(node))) continue;
      return say(VerdictState::warn, "fails with " + result->pair.other(node).str() +
                                         " only, which is good with others: the way between them");
    }
    return say(VerdictState::ok,
               "cleared: failed with " + names_of(failed->second, node) + ", good with another");
  }
  if (const PairResult* proof = proof_against(sheet, node)) {
    return say(VerdictState::fail, "fails with " + proof->pair.other(node).str() +
                                       ", which is good with others: " + proof->reason);
  }
  if (failed != sheet.failed.end()) {
    const bool alone = sheet.good.empty();
    return say(VerdictState::unknown,
               "fails with " + names_of(failed->second, node) +
                   (alone ? ", and no node is known to be good: nobody can be accused"
                          : ", and no pair with a good node gave an answer"));
  }
  const auto silent = sheet.unknown.find(node);
  return say(VerdictState::unknown, silent == sheet.unknown.end()
                                        ? "it met nobody"
                                        : silent->second.front()->reason);
}

}  // namespace

/// The circle method: one node stays, the others move on by one place a round.
std::vector<NodePair> plan_pairs(const std::vector<NodeId>& nodes, int round) {
  std::vector<NodeId> circle = nodes;
  if (circle.size() % 2 == 1) circle.emplace_back();  // whoever meets nobody sits out
  std::vector<NodePair> out;
  if (circle.size() < 2) return out;
  const auto moving = circle.size() - 1;
  const auto shift = static_cast<std::size_t>(round < 0 ? 0 : round) % moving;
  std::rotate(circle.begin() + 1, circle.begin() + 1 + static_cast<std::ptrdiff_t>(shift),
              circle.end());
  for (std::size_t i = 0; i < circle.size() / 2; ++i) {
    const NodeId& a = circle[i];
    const NodeId& b = circle[circle.size() - 1 - i];
    if (!a.empty() && !b.empty()) out.push_back({a, b});
  }
  return out;
}

PairJudgement judge_pairs(const std::vector<NodeId>& nodes,
                          const std::vector<PairResult>& results) {
  const Sheet sheet = read(results);
  PairJudgement out;
  std::set<NodeId> taken;
  for (const auto& node : nodes) {
    out.verdicts[node] = verdict_of(sheet, node);
    if (!is_open(sheet, node)) continue;
    for (const auto& partner : nodes) {
      const auto met = [&](const PairResult& result) {
        return result.pair.has(node) && result.pair.has(partner);
      };
      if (!sheet.good.contains(partner) || taken.contains(partner)) continue;
      if (std::any_of(results.begin(), results.end(), met)) continue;
      taken.insert(partner);
      out.next.push_back({node, partner});
      break;
    }
  }
  return out;
}

}  // namespace tundish::control
