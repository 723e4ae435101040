#pragma once
// The passive checks of a node, each at its own pace: gathered, judged in a child, and told when
// something changed.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/agent/sample_maker.hpp"
#include "runtime/agent/told_verdicts.hpp"
#include "runtime/agent/verbs.hpp"
#include "runtime/agent/verdict_news.hpp"

namespace tundish::agent {

struct PassiveParts {
  const AgentConfig& config;
  SampleMaker& samples;
  Gatherer& gatherer;
  const ExpectationBox& expectation;
  VerdictNews& news;
  Judge judge;
  std::vector<PassiveCheck> checks;
  std::function<GpuLook()> gpus;
  std::function<Instant()> now;
  std::function<void()> ring;
  /// Active checks of ours run: their processes and load are nobody's leftover.
  std::function<bool()> works = [] { return false; };
  /// Grows with every kernel event that says something new.
  std::function<std::int64_t()> events_noted = [] { return std::int64_t{0}; };
};

class PassiveLoop {
 public:
  explicit PassiveLoop(PassiveParts parts);
  /// Judges what is due; returns the pause until something is due again.
  Duration step();
  /// What the node is to have is another thing than at the last step, or its kernel said something
  /// new: do not wait any longer.
  bool is_overtaken() const { return parts_.expectation.mark() != mark_ || has_events(); }

 private:
  struct Due {
    Instant next;
  };
  bool has_events() const;
  void take_events(Instant now);
  std::vector<const PassiveCheck*> take_due(Instant now);
  Duration pace(Duration every) const;
  void judge(const CheckSample& sample, const std::vector<const PassiveCheck*>& due);
  std::vector<Verdict> judge_contained(const CheckSample& sample,
                                       const std::vector<const PassiveCheck*>& due);
  Result<std::vector<Verdict>> try_judge(const CheckSample& sample,
                                         const std::vector<std::string>& names);

  PassiveParts parts_;
  ToldVerdicts told_;
  std::map<std::string, Due> due_;
  Instant all_due_;
  std::string mark_;  ///< of the expectation that was judged by
  std::int64_t events_ = 0;
  Instant events_at_;
};

}  // namespace tundish::agent
