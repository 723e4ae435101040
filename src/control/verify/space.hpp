#pragma once
// The policy beside its environment: every position that can be reached, and every way on.
//
// Time is abstract: in a state it is one of its own deadlines, or none of them. At each, every
// combination of what can be known meanwhile is tried, also the ones that a tundishd that was away
// for hours finds at once. So a deadline may fire before, after or together with any event, and no
// real order of events is missed. Facts are free wherever nothing binds them.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/fault/check_plan.hpp"
#include "control/fault/policy.hpp"
#include "control/verify/space_index.hpp"
#include "control/verify/verify.hpp"

namespace tundish::control::verify {

/// Faults that no guard of the policy can tell apart.
struct FaultClass {
  std::string name, action;
  bool device_lost = false;
  bool by_person = false;
  int severity = 0;
  std::vector<std::string> members;
};

enum class ActSeen : std::uint8_t { none, running, done, failed, unknown };

/// What is remembered between two states. An incident that a person ended has no position.
struct Config {
  std::uint8_t state = 0;
  std::uint8_t fault = 0;
  bool hardware = false;        ///< a hardware witness is there
  bool held_by_tenant = false;  ///< the node is in an allocation: drained must come to be
  bool asked = false;           ///< leave was given to drain it
  bool drained = false;         ///< was known to be
  bool isolated = false;        ///< was known to be
  bool bad = false;             ///< the fault was seen since anything was tried against it
  bool sick = false;            ///< the fault was seen since a repair took effect
  bool proved = false;          ///< since the last witness checks ran, measured, and said ok
  bool wiped = false;
  bool hold = false;  ///< set before the state was entered: no act begins that needs leave
  std::array<std::uint8_t, 16> spent{};  ///< entries of states with a budget, cut off above it
  auto operator<=>(const Config&) const = default;
};

enum class MoveKind : std::uint8_t {
  step,        ///< policy_step went on
  again,       ///< after the return, the same fault on the same part
  taken_back,  ///< a person resumes the node or forces its claim; later the same fault again
  forget,      ///< what carries the budget is deleted
  release      ///< of the hold: everything is decided anew
};

/// What a state does, as far as a step out of it leaves traces.
enum class Deed : std::uint8_t { none, evacuate, reset, power, checks, wipe, end };

/// One way on, and what led to it.
struct Move {
  MoveKind kind = MoveKind::step;
  std::uint8_t go = 0;
  std::uint8_t fault = 0;
  Escalation escalate = Escalation::log;
  ActSeen act = ActSeen::none;
  int after_s = 0;
  std::uint16_t facts = 0;  ///< bits over free_facts()
  bool witness = false;     ///< a new hardware witness came meanwhile
  bool honest = false;      ///< passed checks measured the part
  bool hold = false;        ///< a person set one before the next state was entered
  bool works = false;       ///< possible when all that is tried succeeds
  bool sticky = false;      ///< possible when acts succeed and checks go on failing
  bool unwipeable = false;  ///< possible when all succeeds, but wiping
  bool quick = false;       ///< possible at once, without a new witness
};

/// The policy goes on by itself; or it may do so again, for the hold is over.
inline bool is_way_on(const Move& move) {
  return move.kind == MoveKind::step || move.kind == MoveKind::release;
}

/// Facts that the environment decides, whatever the policy does.
const std::vector<std::string>& free_facts();
std::uint16_t bit_of(std::string_view fact);
inline bool has_fact(std::uint16_t facts, std::string_view name) {
  return (facts & bit_of(name)) != 0;
}

class Space {
 public:
  static Result<Space> build(const VerifyInput& input);

  const RemediationPolicy& policy() const { return *policy_; }
  const std::vector<FaultClass>& faults() const { return faults_; }
  const std::vector<std::string>& names() const { return names_; }
  const PolicyState& state(int index) const { return *states_[static_cast<std::size_t>(index)]; }
  const PolicyState& state_of(const Config& at) const { return state(at.state); }
  const std::vector<Config>& configs() const { return configs_; }
  const Ways& ways() const { return ways_; }
  std::span<const Edge> edges_of(std::size_t config) const { return ways_.out_of(config); }
  /// Breadth first: the shortest way from a beginning. -1: it is one.
  int parent(int config) const { return parents_[static_cast<std::size_t>(config)].first; }
  const Move* entered_by(int config) const {
    return parents_[static_cast<std::size_t>(config)].second;
  }
  std::int64_t transitions() const { return static_cast<std::int64_t>(ways_.size()); }
  bool uses_wipe() const { return uses_wipe_; }
  bool knows_witness() const { return knows_witness_; }
  int slot_of(int state) const { return slots_[static_cast<std::size_t>(state)]; }

  /// What policy_step is asked in one position, as policy_step answers.
  struct Question {
    int fault = 0;
    ActSeen act = ActSeen::none;
    int after_s = 0;
    std::uint16_t facts = 0;
    bool hardware = false;
    bool witness = false;
  };
  PolicyStep ask(const Config& at, const Question& question) const;
  std::set<std::string> facts_for(const Config& at, const Question& question) const;
  /// Ends that the act of the position can come to; `running`: it never begins.
  std::vector<ActSeen> ends_of(const Config& at, int fault, bool hardware) const;
  /// Free facts that guards of the state read, as bits.
  std::uint16_t facts_read(int state) const { return read_[static_cast<std::size_t>(state)]; }
  /// Of those, the ones that can hold here.
  bool is_possible(const Config& at, const Question& question) const;
  const std::vector<int>& deadlines(int state) const {
    return deadlines_[static_cast<std::size_t>(state)];
  }
  /// No hardware witness: the permit refuses the act, and the clock of the state stands still.
  bool is_refused(const Config& at, bool hardware) const;
  /// The act of the state has not begun for there is a hold; its clock stands still, too. Missing
  /// consent, `advise` and a limit are the same to the policy.
  bool is_held(const Config& at) const { return at.hold && needs_leave(at.state); }
  bool stands_still(const Config& at, bool hardware) const {
    return is_held(at) || is_refused(at, hardware);
  }
  CheckPlan plan_at(const Config& at, int fault, bool hardware) const;
  /// Equal keys: equal ways on.
  using MemoKey = std::array<std::uint32_t, 3>;
  MemoKey memo_key(const Config& at) const;

 private:
  bool needs_leave(int state) const;
  Result<> prepare(const VerifyInput& input);
  void classify(const std::vector<KnownFault>& faults);
  void read_state(const PolicyState& state);
  void explore();
  void visit(int config);
  void visit_people(int config);
  void follow(int config, const Move& move);
  void begin_again(Config& next) const;
  std::vector<Move> fixed_moves(MoveKind kind) const;
  void enter(Config& at) const;
  struct Signs {
    bool bad = false, sick = false;
    auto operator<=>(const Signs&) const = default;
  };
  Signs signs_after(const Config& at, const Move& move) const;
  int intern(const Config& config, int from, const Move* move);
  const std::vector<Move>& moves_of(const Config& at);
  std::vector<Move> find_moves(const Config& at) const;
  void try_question(const Config& at, const Question& question, std::vector<Move>& out) const;
  Config apply(const Config& at, const Move& move) const;
  std::map<std::string, int> entries_of(const Config& at) const;
  bool is_honest(const Config& at, const Question& question) const;

  const RemediationPolicy* policy_ = nullptr;
  std::vector<FaultClass> faults_;
  std::vector<std::string> names_;
  std::vector<const PolicyState*> states_;
  std::vector<Deed> deeds_;  ///< of states
  std::map<std::string, int> index_;
  std::vector<int> slots_;  ///< of states in Config::spent; -1: not counted
  std::vector<int> caps_;   ///< by slot
  std::vector<std::uint16_t> read_;
  std::vector<std::vector<int>> deadlines_;
  std::vector<std::vector<int>> budgets_read_;  ///< slots, by state
  std::vector<Config> configs_;
  Ways ways_;
  std::vector<std::pair<int, const Move*>> parents_;
  ConfigIndex known_;
  std::map<MemoKey, std::vector<Move>> memo_;
  std::vector<std::set<int>> worse_;  ///< what a second fault can make of a class
  std::map<MoveKind, std::vector<Move>> fixed_;  ///< what is no step, by class of fault
  bool uses_wipe_ = false;
  bool knows_witness_ = false;  ///< else checks are all that the policy sees
};

}  // namespace tundish::control::verify
