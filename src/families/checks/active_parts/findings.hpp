#pragma once
// What the judges of active checks share: runs that gave nothing to read, floors of the catalogue,
// and the comparison of equal devices. Measured numbers stand in the reason: a run is made once.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codec/tools/tool_output.hpp"
#include "families/checks/check.hpp"

namespace tundish::checks {

class ActiveFindings {
 public:
  ActiveFindings(const CheckSample& sample, std::string_view check)
      : sample_(sample), check_(check) {}

  /// Runs of this check. None at all is unknown.
  std::vector<const ToolRun*> runs() {
    std::vector<const ToolRun*> out;
    if (sample_.active) {
      for (const auto& run : *sample_.active) {
        if (run.check == check_) out.push_back(&run);
      }
    }
    if (out.empty()) unseen("it was not run: " + sample_.fault_of("active"));
    return out;
  }

  /// False: the run gave nothing to read, which is noted.
  bool is_readable(const ToolRun& run) {
    const std::string where = run.device.empty() ? "" : " on " + run.device;
    switch (run.end) {
      case ToolEnd::done: return true;
      case ToolEnd::missing:
        unseen(run.tool + " is not installed; it comes with " + run.package +
               (run.err.empty() ? "" : ": " + run.err));
        return false;
      case ToolEnd::failed: unseen(run.tool + where + " could not work: " + run.err); return false;
      case ToolEnd::timed_out:
        unseen(run.tool + where + " hung: killed after " + render_duration(run.took));
        return false;
      case ToolEnd::preempted:
        preempted_ = run.err.empty() ? "the lease ended" : run.err;
        return false;
    }
    return false;
  }

  /// Output that is not understood, or an exit code that its tool gives only for its own faults.
  void broken(const ToolRun& run, const std::string& why) {
    std::string text = run.tool + (run.device.empty() ? "" : " on " + run.device) + ": " + why;
    text += run.signal != 0 ? " (ended by signal " + std::to_string(run.signal) + ")"
                            : " (exit " + std::to_string(run.exit_code) + ")";
    if (!run.err.empty()) text += ": " + run.err.substr(0, 300);
    unseen(text);
  }

  void unseen(std::string why) { unseen_.push_back(std::move(why)); }

  void add(VerdictState state, const std::string& device, std::string reason,
           std::string evidence = {}) {
    Verdict verdict = make_verdict(state, std::move(reason), std::move(evidence));
    verdict.device = device;
    bad_.push_back(std::move(verdict));
  }
  void fail(const std::string& device, std::string reason, std::string evidence = {}) {
    add(VerdictState::fail, device, std::move(reason), std::move(evidence));
  }

  /// Against the floors of that name for this GPU model. Without one nothing is proved.
  void floor(std::string_view name, const std::string& device, std::int64_t value,
             const std::string& what) {
    note_measured(what + unit_of(name), value);
    judge(name, device, value, what + " " + std::to_string(value));
  }

  /// Each against the median of all, as percent of it. One alone proves nothing.
  void compare(std::string_view name, const std::map<std::string, std::int64_t>& values,
               const std::string& what) {
    if (values.size() < 2) return unseen(what + ": no second GPU to compare with");
    std::vector<std::int64_t> sorted;
    for (const auto& [device, value] : values) sorted.push_back(value);
    std::sort(sorted.begin(), sorted.end());
    // Of an even number the upper one: a bad half must not lower what is asked of it.
    const std::int64_t median = sorted[sorted.size() / 2];
    if (median <= 0) return unseen(what + ": nothing was measured");
    for (const auto& [device, value] : values) {
      note_measured(what, value);
      const std::int64_t percent = value * 100 / median;
      judge(name, device, percent,
            what + " " + std::to_string(value) + ", of the node's median " +
                std::to_string(median) + " these are " + std::to_string(percent));
    }
  }

  void note(std::string text) { notes_.push_back(std::move(text)); }

  Verdicts take(const std::string& when_good) {
    if (!bad_.empty()) return std::move(bad_);
    if (!preempted_.empty()) {
      return {make_verdict(VerdictState::unknown, "preempted: " + preempted_)};
    }
    if (!unseen_.empty()) {
      std::string all;
      for (const auto& why : unseen_) all += (all.empty() ? "" : "; ") + why;
      return {make_verdict(VerdictState::unknown, unseen_.front(), all)};
    }
    std::vector<std::string> told = notes_;
    for (const auto& [what, span] : measured_) {
      const std::string least = std::to_string(span.first);
      const std::string most = std::to_string(span.second);
      told.push_back(what + " " + least + (least == most ? "" : " to " + most));
    }
    std::string evidence;
    for (const auto& text : told) evidence += (evidence.empty() ? "" : "; ") + text;
    return {make_verdict(VerdictState::ok, when_good, evidence)};
  }

 private:
  /// ", mbyte_per_s:" as the limit of that name is in.
  std::string unit_of(std::string_view name) const {
    const Limit* limit = find_limit(sample_, check_, name);
    if (limit == nullptr) return "";
    return ", " + std::string(enum_names(limit->unit)[static_cast<std::size_t>(limit->unit)]) + ":";
  }
  void note_measured(const std::string& what, std::int64_t value) {
    const auto [it, fresh] = measured_.try_emplace(what, value, value);
    if (fresh) return;
    it->second.first = std::min(it->second.first, value);
    it->second.second = std::max(it->second.second, value);
  }

  void judge(std::string_view name, const std::string& device, std::int64_t value,
             const std::string& told) {
    const Limit* worst = nullptr;
    bool known = false;
    for (const auto& limit : sample_.limits) {
      if (limit.check != check_ || limit.name != name) continue;
      known = true;
      if (!limit.is_hit_by(value)) continue;
      if (worst == nullptr || limit.verdict > worst->verdict) worst = &limit;
    }
    if (!known) {
      const std::string model = sample_.nameplate ? sample_.nameplate->model : "this GPU model";
      return unseen("thresholds.yaml has no limit " + std::string(check_) + "." +
                    std::string(name) + " for " + model + "; measured: " + told);
    }
    if (worst == nullptr) return;
    const std::string unit(enum_names(LimitUnit{})[static_cast<std::size_t>(worst->unit)]);
    add(worst->verdict, device, told + " " + unit + ", limit " + std::to_string(worst->value),
        "limit from " + worst->source);
  }

  const CheckSample& sample_;
  std::string_view check_;
  Verdicts bad_;
  std::vector<std::string> unseen_;
  std::vector<std::string> notes_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> measured_;  ///< least and most
  std::string preempted_;
};

/// GB/s as MB/s, rounded.
inline std::int64_t mbytes_of(double gbyte_per_s) {
  return static_cast<std::int64_t>(std::min(gbyte_per_s, 1e9) * 1000 + 0.5);
}

/// How many GPUs must have been measured; 0: nobody knows.
inline std::size_t gpus_of(const CheckSample& sample) {
  if (sample.gpus) return sample.gpus->gpus.size();
  return static_cast<std::size_t>(std::max(sample.expect.gpu_count, 0));
}

/// The GPU of a tool's own index, by PCI address where the driver told it. Tools count in PCI
/// order, as the driver's own index does.
inline std::string gpu_name(const CheckSample& sample, std::int64_t index) {
  if (sample.gpus) {
    for (const auto& gpu : sample.gpus->gpus) {
      if (gpu.index == index && gpu.pci) return *gpu.pci;
    }
  }
  return "GPU " + std::to_string(index);
}

}  // namespace tundish::checks
