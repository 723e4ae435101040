#pragma once
// Bodies about remediation policies.
//
// GET  /v1/policies                    -> [PolicyRow]: the one that is loaded, or why none is
// GET  /v1/policy                      -> RemediationPolicy that is loaded
// POST /v1/policy/load PolicyRequest   -> PolicyAnswer (422 with the counterexample: not proved,
//                                         the loaded one stays); role operator
// POST /v1/policy/try  PolicyRequest   -> [Rehearsal] over the incidents since since_s ago
#include "control/verify/rehearse.hpp"
#include "control/verify/verify.hpp"
#include "model/policy.hpp"

namespace tundish::edge {

struct PolicyRow {
  std::string name, doc, state, why, content;
  int version = 0, states = 0;
  void fields(Fields& f) {
    f(1, "name", name, "of the policy");
    f(2, "version", version, "its version");
    f(3, "state", state, "loaded, or none: observed and claimed only");
    f(4, "states", states, "how many it has");
    f(5, "doc", doc, "what it is for");
    f(6, "why", why, "why none is loaded, or a kept one was");
    f(7, "content", content, "first digits of the SHA-256 of all it says; comments do not count");
  }
};

struct PolicyRequest {
  std::string text, name;
  std::int64_t since_s = 0;
  void fields(Fields& f) {
    f(1, "text", text, "the policy, YAML");
    f(2, "name", name, "file that it came from, for messages");
    f(3, "since_s", since_s, "try: incidents opened at most so many seconds ago");
  }
};

struct PolicyAnswer {
  PolicyRow policy;
  control::verify::Verification verification;
  void fields(Fields& f) {
    f(1, "policy", policy, "what is loaded now");
    f(2, "verification", verification, "the proof");
  }
};

}  // namespace tundish::edge
