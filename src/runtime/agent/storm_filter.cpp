#include "runtime/agent/storm_filter.hpp"

#include <algorithm>
#include <functional>

namespace tundish {

void StormFilter::Slot::count(const Witness& witness) {
  const std::int64_t before = last ? last->repeat : 0;
  if (before == 0) first_seq = witness.seq;
  last = witness;
  last->repeat = before + witness.repeat;
}

StormFilter::Key StormFilter::key_of(const Witness& witness, std::size_t detail) {
  const KernelEvent& event = witness.event;
  return {event.kind,
          event.code,
          event.device,
          event.mig,
          witness.provenance,
          event.reset,
          event.drain_reset,
          event.severity,
          event.recovery_action.value_or(-1),
          detail};
}

bool StormFilter::admit(const Witness& witness) {
  if (exact_.empty()) window_start_ = witness.observed_at;
  const KernelEvent& event = witness.event;
  // An event without a code (an OOM kill, a cut line) is only equal to one with the same words.
  const std::size_t words = std::hash<std::string>{}(event.detail);
  const Key exact = key_of(witness, words);
  if (const auto at = exact_.find(exact); at != exact_.end()) {
    at->second.count(witness);
    return false;
  }
  if (exact_.size() < limits_.distinct) {
    exact_.emplace(exact, Slot{});
    return true;
  }
  const Key coarse = key_of(witness, 0);
  if (const auto at = coarse_.find(coarse); at != coarse_.end()) {
    at->second.count(witness);
    return false;
  }
  if (coarse_.size() < limits_.coarse) {
    coarse_.emplace(coarse, Slot{});
    return true;
  }
  rest_.count(witness);
  return false;
}

std::vector<Witness> StormFilter::drain(Instant now) {
  if (exact_.empty() || now - window_start_ < limits_.window) return {};
  return drain_all();
}

std::vector<Witness> StormFilter::drain_all() {
  std::vector<Witness> out;
  for (auto* slots : {&exact_, &coarse_}) {
    for (auto& [key, slot] : *slots) {
      if (slot.last) out.push_back(std::move(*slot.last));
    }
    slots->clear();
  }
  if (rest_.last) out.push_back(std::move(*rest_.last));
  rest_ = {};
  std::sort(out.begin(), out.end(),
            [](const Witness& a, const Witness& b) { return a.seq < b.seq; });
  return out;
}

std::int64_t StormFilter::oldest_pending_seq() const {
  std::int64_t oldest = rest_.last ? rest_.first_seq : -1;
  for (const auto* slots : {&exact_, &coarse_}) {
    for (const auto& [key, slot] : *slots) {
      if (slot.last && (oldest < 0 || slot.first_seq < oldest)) oldest = slot.first_seq;
    }
  }
  return oldest;
}

std::optional<Instant> StormFilter::due_at() const {
  if (oldest_pending_seq() < 0) return std::nullopt;
  return window_start_ + limits_.window;
}

}  // namespace tundish
