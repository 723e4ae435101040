#pragma once
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

enum class StepOutcome { running, done, failed, timeout, proposed, refused };
inline std::span<const std::string_view> enum_names(StepOutcome) {
  static constexpr std::string_view names[] = {"running", "done",     "failed",
                                               "timeout", "proposed", "refused"};
  return names;
}

/// One act on the outside world: recorded before it starts, finished by its result. After a crash
/// a running step is started again under the same key, which every driver treats as the same act.
struct Step {
  std::string name;  ///< requeue_jobs, reboot, run_checks ...
  std::string key;   ///< (object, version, attempt): the identity that makes it idempotent
  int attempt = 1;
  Instant started_at;
  Instant ended_at;
  StepOutcome outcome = StepOutcome::running;
  std::string detail;
  void fields(Fields& f) {
    f(1, "name", name, "what was done");
    f(2, "key", key, "identity of the act; a repeat under the same key is the same act");
    f(3, "attempt", attempt, "counted from 1");
    f(4, "started_at", started_at, "when the intent was recorded");
    f(5, "ended_at", ended_at, "when the result was recorded; empty while running");
    f(6, "outcome", outcome, "running, done, failed, timeout, proposed or refused");
    f(7, "detail", detail, "result or reason, for people");
  }
};

}  // namespace tundish
