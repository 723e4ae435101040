#include "runtime/agent/told_verdicts.hpp"

#include <algorithm>
#include <set>

namespace tundish::agent {
namespace {

constexpr std::size_t most_entries = 1024;

bool is_bad(VerdictState state) {
  return state == VerdictState::warn || state == VerdictState::fail;
}

bool says_same(const Verdict& a, const Verdict& b) {
  if (a.state == VerdictState::ok && b.state == VerdictState::ok) return true;
  return a.state == b.state && a.reason == b.reason;
}

}  // namespace

std::vector<Verdict> ToldVerdicts::take(const PassiveCheck& check,
                                        const std::vector<Verdict>& verdicts, Instant now) {
  std::vector<Verdict> changed;
  std::set<Key> named;
  for (const auto& verdict : verdicts) {
    const Key key{check.name, verdict.device, verdict.source};
    if (!named.insert(key).second) continue;
    const auto known = entries_.find(key);
    if (known == entries_.end() && verdict.state == VerdictState::ok) continue;
    if (known == entries_.end() && entries_.size() >= most_entries) continue;
    Entry& entry = known == entries_.end() ? entries_[key] : known->second;
    if (known == entries_.end()) entry.told.state = VerdictState::ok;
    entry.in_a_row = is_bad(verdict.state) ? entry.in_a_row + 1 : 0;
    if (is_bad(verdict.state) && entry.in_a_row < check.looks) continue;
    if (says_same(entry.told, verdict)) continue;
    entry.told = verdict;
    changed.push_back(verdict);
  }
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto& [name, device, source] = it->first;
    if (name != check.name || named.contains(it->first)) {
      const bool forget = name == check.name && it->second.told.state == VerdictState::ok &&
                          it->second.in_a_row == 0;
      it = forget ? entries_.erase(it) : std::next(it);
      continue;
    }
    if (it->second.told.state != VerdictState::ok) {
      Verdict good = it->second.told;
      good.state = VerdictState::ok;
      good.reason = "not seen any more";
      good.evidence.clear();
      good.at = now;
      changed.push_back(std::move(good));
    }
    it = entries_.erase(it);
  }
  return changed;
}

std::vector<Verdict> ToldVerdicts::all() const {
  std::vector<Verdict> out;
  for (const auto& [key, entry] : entries_) {
    if (entry.told.state != VerdictState::ok) out.push_back(entry.told);
  }
  return out;
}

}  // namespace tundish::agent
