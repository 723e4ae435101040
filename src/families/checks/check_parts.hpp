#pragma once
// What the judges share: findings per device, limits of the catalogue, GPUs one by one.
#include <algorithm>
#include <string>

#include "families/checks/check.hpp"

namespace tundish::checks {

/// Collects what is wrong and ends in verdicts. Reasons are stable texts, measured numbers are
/// evidence: a number that moves is no news.
class Findings {
 public:
  Findings(const CheckSample& sample, std::string_view check) : sample_(sample), check_(check) {}

  void add(VerdictState state, const std::string& device, std::string reason,
           std::string evidence = {}) {
    Verdict verdict = make_verdict(state, std::move(reason), std::move(evidence));
    verdict.device = device;
    bad_.push_back(std::move(verdict));
  }
  void fail(const std::string& device, std::string reason, std::string evidence = {}) {
    add(VerdictState::fail, device, std::move(reason), std::move(evidence));
  }
  void warn(const std::string& device, std::string reason, std::string evidence = {}) {
    add(VerdictState::warn, device, std::move(reason), std::move(evidence));
  }
  /// Something could not be seen. It counts when nothing worse was found.
  void unseen(const std::string& device, const std::string& why) {
    unseen_ += (unseen_.empty() ? "" : "; ") + (device.empty() ? why : device + " " + why);
    if (first_unseen_.empty()) first_unseen_ = why;
  }
  /// Against every limit of that name; the worst one that is hit is the finding.
  void measure(std::string_view name, const std::string& device, std::int64_t value,
               const std::string& what) {
    const Limit* worst = nullptr;
    bool known = false;
    for (const auto& limit : sample_.limits) {
      if (limit.check != check_ || limit.name != name) continue;
      known = true;
      if (!limit.is_hit_by(value)) continue;
      if (worst == nullptr || limit.verdict > worst->verdict) worst = &limit;
    }
    if (!known) {
      return unseen(device, "no limit " + std::string(name) + " is in thresholds.yaml");
    }
    if (worst == nullptr) return;
    const std::string unit(enum_names(LimitUnit{})[static_cast<std::size_t>(worst->unit)]);
    const std::string side = worst->side == LimitBound::below      ? " is below "
                             : worst->side == LimitBound::at_least ? " is at least "
                                                                   : " is above ";
    add(worst->verdict, device, what + side + std::to_string(worst->value) + " " + unit,
        "measured " + std::to_string(value) + "; limit from " + worst->source);
  }
  /// Within `seconds` before the sample, by the catalogue's limit of that name.
  bool is_recent(std::string_view name, Instant at) {
    const Limit* limit = find_limit(sample_, check_, name);
    if (limit == nullptr) {
      unseen("", "no limit " + std::string(name) + " is in thresholds.yaml");
      return false;
    }
    return at.is_set() && sample_.now - at <= seconds(limit->value);
  }
  bool empty() const { return bad_.empty() && unseen_.empty(); }

  Verdicts take(const std::string& when_good) {
    if (!bad_.empty()) return std::move(bad_);
    if (!unseen_.empty()) return {make_verdict(VerdictState::unknown, first_unseen_, unseen_)};
    return {make_verdict(VerdictState::ok, when_good)};
  }

 private:
  const CheckSample& sample_;
  std::string_view check_;
  Verdicts bad_;
  std::string unseen_;
  std::string first_unseen_;
};

/// Of checks about what a cluster gives a node, when nobody said what that is: a node that serves
/// nobody has nothing, and of one that a tenant holds nothing was measured.
inline Verdict nothing_asked(const CheckSample& sample, const std::string& what) {
  return sample.expect.in_use
             ? make_verdict(VerdictState::unknown, "not measured: nobody says " + what)
             : make_verdict(VerdictState::ok, "the node serves no cluster");
}

inline std::string place_of(const GpuReading& gpu) {
  return gpu.pci.value_or("GPU " + std::to_string(gpu.index));
}

/// Calls `look` for every GPU that answers. A node without GPUs by the inventory is good.
template <class Look>
Verdicts each_gpu(const CheckSample& sample, std::string_view check, const std::string& when_good,
                  Look&& look) {
  if (sample.expect.gpu_count == 0 && (!sample.gpus || sample.gpus->gpus.empty())) {
    return {make_verdict(VerdictState::ok, "the SKU has no GPU")};
  }
  if (!sample.gpus) return {make_unknown("GPUs", sample.gpus_fault)};
  if (sample.gpus->gpus.empty()) return {make_unknown("GPUs", "none is listed")};
  Findings found(sample, check);
  for (const auto& gpu : sample.gpus->gpus) {
    if (gpu.lost.value_or(false)) {
      found.unseen(place_of(gpu), "a GPU is lost");
    } else {
      look(gpu, found);
    }
  }
  return found.take(when_good);
}

/// Counters of one group; `look` gets each. None of the group is unknown.
template <class Look>
Verdicts each_counter(const CheckSample& sample, std::string_view check, std::string_view group,
                      const std::string& when_good, Look&& look) {
  if (!sample.counters) return {make_unknown("counters", sample.fault_of("counters"))};
  Findings found(sample, check);
  int seen = 0;
  for (const auto& counter : sample.counters.value()) {
    if (counter.group != group) continue;
    ++seen;
    if (!counter.grown) {
      found.unseen(counter.device, "counters were read only once");
      continue;
    }
    look(counter, found);
  }
  if (seen == 0) {
    const std::string why = sample.fault_of(group);
    return {make_unknown(std::string(group) + " counters", why.empty() ? "none is there" : why)};
  }
  return found.take(when_good);
}

/// A measured value that the driver did not tell.
inline bool has(const std::optional<std::int64_t>& value, const GpuReading& gpu, Findings& found,
                const std::string& what) {
  if (!value) found.unseen(place_of(gpu), "the driver does not tell " + what);
  return value.has_value();
}

}  // namespace tundish::checks
