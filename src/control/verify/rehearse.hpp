#pragma once
// What a policy would have done with incidents that are history, by what is known of them.
#include <string>
#include <vector>

#include "base/describe.hpp"
#include "model/policy.hpp"
#include "model/registry.hpp"

namespace tundish::control::verify {

struct Rehearsal {
  std::string incident, node, fault;
  std::vector<std::string> did, would;  ///< acts in order, with how they ended
  std::string ended, would_end;
  bool differs = false;
  std::string person;     ///< what a person did about it; empty: nobody did
  std::string agreement;  ///< agrees, disagrees or nobody
  void fields(Fields& f) {
    f(1, "incident", incident, "its id");
    f(2, "node", node, "name of the node");
    f(3, "fault", fault, "as it was opened");
    f(4, "did", did, "acts in order, with their ends");
    f(5, "would", would, "acts that the other policy would have taken");
    f(6, "ended", ended, "returned, rma, open ...");
    f(7, "would_end", would_end,
      "return, rma, or unknown: the history says nothing about an act that was never tried");
    f(8, "differs", differs, "the acts or the end differ");
    f(9, "person", person, "what a person did about it; empty: nobody did");
    f(10, "agreement", agreement, "whether that agrees with the other policy's end");
  }
};

struct RehearsalInput {
  const RemediationPolicy& policy;  ///< the one to try
  const RemediationPolicy& loaded;  ///< the one that acted
  const Registry& reg;
  Instant since;
};

/// Pure: an act ends as it ended then, in its order; time passes as long as nothing else moves.
std::vector<Rehearsal> rehearse(const RehearsalInput& input);

}  // namespace tundish::control::verify
