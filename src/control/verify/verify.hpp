#pragma once
// Proves a remediation policy, or tells the shortest story of how it goes wrong. Pure: an explicit
// search over the policy and its environment that asks the same policy_step as the controllers.
#include <string>
#include <vector>

#include "base/describe.hpp"
#include "base/result.hpp"
#include "model/policy.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish::control::verify {

/// A fault that can open an incident, as the catalogue or the policy states it.
struct KnownFault {
  std::string name;    ///< as incidents state it: xid 79
  std::string action;  ///< reset, reboot, rma, fabric ...
  std::string scope;   ///< gpu, port, fabric, node
  bool device_lost = false;
  bool by_person = false;
};
/// Every row of the catalogue that opens incidents, and what opens them without a row.
std::vector<KnownFault> faults_of(const XidCatalogue& catalogue);

/// What is done first about a fault that asks for `wish`.
std::string first_action(const std::string& wish);

/// A limit of a check beside what a sound part can show.
struct ThresholdRow {
  std::string check;
  std::string object;  ///< model, or where the row stands
  PolicyThreshold threshold;
};

struct VerifyInput {
  const RemediationPolicy& policy;
  std::vector<KnownFault> faults;  ///< of the catalogue; the policy's own come before them
  std::vector<ThresholdRow> thresholds;
};

/// One step of a story: where it was, what happened, where that led.
struct StoryStep {
  std::string state, event, go;
  std::string act;                 ///< how the act ended: done, failed, unknown; empty: it did not
  std::vector<std::string> facts;  ///< of the environment, that held
  int after_s = 0;                 ///< so long had it been in the state
  std::string fault;               ///< the incident's fault then
  void fields(Fields& f);
};

/// A limit that says the wrong thing, and the value that shows it.
struct ThresholdReading {
  std::string check;
  PolicyThreshold threshold;
  std::int64_t measured = 0;
  bool is_sound = false;  ///< of the part that shows the value
  bool fails() const {
    return threshold.fails == LimitSide::below ? measured < threshold.limit
                                               : measured > threshold.limit;
  }
  void fields(Fields& f);
};

struct Refutation {
  std::string property;
  std::string statement;
  std::string verdict;           ///< what is wrong at the end of the story, in one sentence
  std::string sticks_in;         ///< state that it cannot leave; empty: it ends badly elsewhere
  bool hardware_witness = true;  ///< how the story begins
  std::vector<StoryStep> story;
  std::string about;                        ///< state, or STATE.NUMBER of its edge; empty: a story
  std::optional<ThresholdReading> reading;  ///< of a threshold that is refuted
  void fields(Fields& f);
};

struct Verification {
  std::string policy;
  int version = 0;
  std::vector<std::string> proved;
  std::vector<Refutation> refuted;
  std::vector<std::string> assumptions;
  std::int64_t states = 0, transitions = 0;
  std::int64_t codes = 0, limits = 0;  ///< of the catalogue, that were looked at
  bool is_proved() const { return refuted.empty(); }
  void fields(Fields& f);
};

/// An error only when the policy cannot be read (check_policy) or is larger than can be searched.
Result<Verification> verify(const VerifyInput& input);

/// "proved: 11 properties, N states, under these assumptions" or the stories.
std::string render(const Verification& verification);

}  // namespace tundish::control::verify
