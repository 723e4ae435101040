#pragma once
#include <string>
#include <vector>

#include "base/describe.hpp"
#include "model/resource.hpp"

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
  std::string device = {};  ///< which of several; empty: the node's
  Resource watches = Resource::unknown;
  Locality locality = Locality::symptom;
  Instant since = {};
  std::string source = {};
  void fields(Fields& f) {
    f(1, "check", check, "name of the check");
    f(2, "state", state, "ok, warn, fail or unknown");
    f(3, "reason", reason, "why, in one sentence");
    f(4, "evidence", evidence, "what was read");
    f(5, "at", at, "when it was judged");
    f(6, "device", device,
      "which of several: PCI address, HCA/port, interface, mount; empty: node");
    f(7, "watches", watches, "the part that the check looks at");
    f(8, "locality", locality, "device_local: the part itself is broken; symptom: maybe another's");
    f(9, "since", since, "set by tundishd: since when this check says this of this device");
    f(10, "source", source, "other program whose word it is, for example dcgm; empty: our own");
  }
};

inline bool is_about_same(const Verdict& a, const Verdict& b) {
  return a.check == b.check && a.device == b.device && a.source == b.source;
}

}  // namespace tundish
