#pragma once
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

enum class VerdictState { unknown, ok, warn, fail };
inline std::span<const std::string_view> enum_names(VerdictState) {
  static constexpr std::string_view names[] = {"unknown", "ok", "warn", "fail"};
  return names;
}

/// What a check found. `unknown` means it could not look; that is never a pass.
struct Verdict {
  std::string check;
  VerdictState state = VerdictState::unknown;
  std::string reason;    ///< one sentence; never empty for warn, fail and unknown
  std::string evidence;  ///< what was read, short enough to store
  Instant at;
  void fields(Fields& f) {
    f(1, "check", check, "name of the check");
    f(2, "state", state, "ok, warn, fail or unknown");
    f(3, "reason", reason, "why, in one sentence");
    f(4, "evidence", evidence, "what was read");
    f(5, "at", at, "when it was judged");
  }
};

}  // namespace tundish
