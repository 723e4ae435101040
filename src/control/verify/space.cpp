#include "control/verify/space.hpp"

#include <algorithm>

#include "control/fault/check_plan.hpp"

namespace tundish::control::verify {
namespace {

constexpr std::size_t most_configs = 4'000'000;
constexpr std::size_t most_states = 200;
constexpr std::size_t most_faults = 200;
constexpr int most_budget = 15;

const std::uint16_t drained_bit = bit_of("drained");
const std::uint16_t isolated_bit = bit_of("isolated");
const std::uint16_t rebooted_bit = bit_of("rebooted");

int severity_of(const std::string& action) {
  if (action == "power_off") return 4;
  if (action == "rma") return 3;
  if (action == "reboot") return 2;
  return action == "reset" || action == "fabric" ? 1 : 0;
}

std::string plain(const std::string& term) { return term.starts_with('!') ? term.substr(1) : term; }

/// Beginnings of fault names that guards ask for, and which of them a name has.
std::vector<std::string> prefixes_of(const RemediationPolicy& policy) {
  std::set<std::string> out;
  for (const auto& [name, state] : policy.states) {
    for (const auto& edge : state.next) {
      for (const auto& term : edge.when) {
        if (plain(term).starts_with("fault:")) out.insert(plain(term).substr(6));
      }
    }
  }
  return {out.begin(), out.end()};
}

std::string pattern_of(const std::vector<std::string>& prefixes, const std::string& name) {
  std::string out;
  for (const auto& prefix : prefixes) out += name.starts_with(prefix) ? '1' : '0';
  return out;
}

Deed deed_of(const PolicyState& state) {
  if (state.final) return Deed::end;
  if (state.action == "evacuate") return Deed::evacuate;
  if (state.action == "reset_gpus") return Deed::reset;
  if (is_power_action(state.action)) return Deed::power;
  if (state.action == "run_checks") return Deed::checks;
  return state.action == "wipe" ? Deed::wipe : Deed::none;
}

Error too_large(const std::string& what) {
  return make_error(Code::unsupported, "the policy is larger than can be searched: " + what)
      .with_remedy("fewer states, smaller budgets");
}

}  // namespace

const std::vector<std::string>& free_facts() {
  static const std::vector<std::string> names = {"permitted",    "drained",    "isolated",
                                                 "rebooted",     "agent_back", "in_allocation",
                                                 "engine_known", "brake"};
  return names;
}

Result<Space> Space::build(const VerifyInput& input) {
  Space space;
  TRY_VOID(space.prepare(input));
  space.explore();
  if (space.configs_.size() > most_configs) {
    return too_large("more than " + std::to_string(most_configs) + " positions");
  }
  return space;
}

Result<> Space::prepare(const VerifyInput& input) {
  policy_ = &input.policy;
  TRY_VOID(check_policy(*policy_));
  if (policy_->states.size() > most_states) return too_large("more than 200 states");
  int slots = 0;
  for (const auto& [name, state] : policy_->states) {
    if (state.budget > most_budget) return too_large("a budget above 15 in state " + name);
    index_[name] = static_cast<int>(names_.size());
    names_.push_back(name);
    states_.push_back(&state);
    deeds_.push_back(deed_of(state));
    const bool costs = is_disruptive_action(state.action);
    const bool counted = state.budget > 0 || costs;
    slots_.push_back(counted ? slots++ : -1);
    // One more than the budget of what costs the tenant is kept apart: it must never come to it.
    if (counted) caps_.push_back(state.budget + (costs ? 1 : 0));
    uses_wipe_ = uses_wipe_ || state.action == "wipe";
  }
  if (slots > static_cast<int>(Config{}.spent.size())) return too_large("more than 16 budgets");
  for (const PolicyState* state : states_) read_state(*state);
  std::vector<KnownFault> faults = input.faults;
  if (!policy_->faults.empty()) {
    faults.clear();
    for (const auto& fault : policy_->faults) {
      faults.push_back({fault.name, fault.action, "node", fault.device_lost, fault.by_person});
    }
  }
  if (faults.empty()) {
    return make_error(Code::invalid, "no fault is known: neither a catalogue nor the policy's own");
  }
  classify(faults);
  if (faults_.size() > most_faults) return too_large("more than 200 kinds of fault");
  return {};
}

void Space::read_state(const PolicyState& state) {
  std::uint16_t read = 0;
  std::set<int> deadlines = {0};
  std::set<int> budgets;
  for (const auto& edge : state.next) {
    deadlines.insert(edge.after_s);
    for (const auto& term : edge.when) {
      const std::string name = plain(term);
      knows_witness_ = knows_witness_ || name == "new_witness";
      const auto& free = free_facts();
      const auto found = std::find(free.begin(), free.end(), name);
      if (found != free.end()) read |= static_cast<std::uint16_t>(1u << (found - free.begin()));
      if (!name.starts_with("budget:")) continue;
      const auto other = policy_->states.find(name.substr(7));
      const auto index = std::distance(policy_->states.begin(), other);
      // Slots of later states are not known yet: numbers of states are.
      if (other->second.budget > 0) budgets.insert(static_cast<int>(index));
    }
  }
  read_.push_back(read);
  deadlines_.emplace_back(deadlines.begin(), deadlines.end());
  budgets_read_.emplace_back(budgets.begin(), budgets.end());
}

/// Classes by what guards can see, closed under a second fault on the same node: it raises the
/// action and may lose the device, and the incident keeps its name.
void Space::classify(const std::vector<KnownFault>& faults) {
  const auto prefixes = prefixes_of(*policy_);
  std::map<std::string, int> known;
  const auto add = [&](const FaultClass& fault, const std::string& member) {
    const std::string key = pattern_of(prefixes, fault.name) + "/" +
                            std::to_string(severity_of(fault.action)) +
                            (fault.device_lost ? "lost" : "") + (fault.by_person ? "person" : "");
    const auto [at, fresh] = known.emplace(key, static_cast<int>(faults_.size()));
    if (fresh) {
      faults_.push_back(fault);
      faults_.back().severity = severity_of(fault.action);
    }
    if (!member.empty()) faults_[static_cast<std::size_t>(at->second)].members.push_back(member);
    return at->second;
  };
  for (const auto& fault : faults) {
    add({fault.name, fault.action, fault.device_lost, fault.by_person, 0, {}}, fault.name);
  }
  const auto first = faults_;
  worse_.assign(faults_.size(), {});
  for (std::size_t a = 0; a < faults_.size(); ++a) {
    worse_.resize(faults_.size());
    if (!policy_->faults.empty()) continue;  // the policy's word stays the first one
    for (const auto& b : first) {
      FaultClass merged = faults_[a];
      merged.members.clear();
      if (severity_of(b.action) > severity_of(merged.action)) merged.action = b.action;
      merged.device_lost = merged.device_lost || b.device_lost;
      merged.by_person = merged.by_person && b.by_person;
      const int worse = add(merged, "");
      worse_.resize(faults_.size());
      if (worse != static_cast<int>(a)) worse_[a].insert(worse);
    }
  }
}

int Space::intern(const Config& config, int from, const Move* move) {
  const auto found = known_.add(config);
  if (found.is_new) {
    configs_.push_back(config);
    parents_.emplace_back(from, move);
  }
  return found.number;
}

void Space::explore() {
  for (const MoveKind kind :
       {MoveKind::again, MoveKind::taken_back, MoveKind::forget, MoveKind::release}) {
    fixed_[kind] = fixed_moves(kind);
  }
  for (const bool hardware : {true, false}) {
    // What the policy names itself is stated by probes; lines of the catalogue a user can write.
    if (!hardware && !policy_->faults.empty()) continue;
    for (const bool tenant : {true, false}) {
      for (std::size_t fault = 0; fault < faults_.size(); ++fault) {
        Config start;
        start.fault = static_cast<std::uint8_t>(fault);
        start.hardware = hardware;
        start.held_by_tenant = tenant;
        begin_again(start);
        intern(start, -1, nullptr);
      }
    }
  }
  for (std::size_t i = 0; i < configs_.size() && configs_.size() <= most_configs; ++i) {
    ways_.begin();
    visit(static_cast<int>(i));
  }
  ways_.finish(configs_.size());
}

void Space::enter(Config& at) const {
  const int slot = slots_[at.state];
  if (slot < 0) return;
  auto& spent = at.spent[static_cast<std::size_t>(slot)];
  spent =
      static_cast<std::uint8_t>(std::min<int>(caps_[static_cast<std::size_t>(slot)], spent + 1));
}

std::vector<Move> Space::fixed_moves(MoveKind kind) const {
  std::vector<Move> out;
  for (std::size_t fault = 0; fault < faults_.size(); ++fault) {
    Move& move = out.emplace_back();
    move.kind = kind;
    move.fault = static_cast<std::uint8_t>(fault);
    move.go = static_cast<std::uint8_t>(index_.at(policy_->initial));
  }
  return out;
}

void Space::follow(int config, const Move& move) {
  const Config next = apply(configs_[static_cast<std::size_t>(config)], move);
  ways_.add({intern(next, config, &move), &move});
}

void Space::visit(int config) {
  const Config at = configs_[static_cast<std::size_t>(config)];
  if (state_of(at).final) {
    if (state_of(at).action != "return_node") return;
    follow(config, fixed_[MoveKind::again][at.fault]);
    for (const Move& move : moves_of(at)) follow(config, move);
    return;
  }
  for (const Move& move : moves_of(at)) follow(config, move);
  visit_people(config);
  if (policy_->budgets.kept_in == BudgetKeeper::object && at.spent != Config{}.spent) {
    follow(config, fixed_[MoveKind::forget][at.fault]);
  }
}

/// What people do at any time, whatever the policy is at. A hold that is set while an act runs lets
/// it end; so it is part of the step to the next state. Claims: property_claims.cpp.
void Space::visit_people(int config) {
  const Config at = configs_[static_cast<std::size_t>(config)];
  if (at.hold) follow(config, fixed_[MoveKind::release][at.fault]);
  follow(config, fixed_[MoveKind::taken_back][at.fault]);
}

/// A new incident; of the same fault, when something was spent on it already.
void Space::begin_again(Config& next) const {
  next.state = static_cast<std::uint8_t>(index_.at(policy_->initial));
  next.asked = next.drained = next.isolated = next.proved = next.wiped = false;
  next.bad = next.sick = true;
  const auto& budgets = policy_->budgets;
  const bool kept = budgets.kept_in == BudgetKeeper::history && budgets.window_h > 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (slots_[i] < 0 || (kept && is_disruptive_action(states_[i]->action))) continue;
    next.spent[static_cast<std::size_t>(slots_[i])] = 0;
  }
  enter(next);
}

Config Space::apply(const Config& at, const Move& move) const {
  Config next = at;
  switch (move.kind) {
    case MoveKind::forget: next.spent = {}; return next;
    case MoveKind::release: next.hold = false; return next;
    case MoveKind::again:
    case MoveKind::taken_back: begin_again(next); return next;
    case MoveKind::step: break;
  }
  next.state = move.go;
  next.fault = move.fault;
  next.hold = at.hold || move.hold;
  const Deed deed = deeds_[at.state];
  const bool failed = deed == Deed::checks && move.act == ActSeen::failed;
  next.hardware = at.hardware || move.witness || failed;
  if (move.witness || failed) {  // a line that a user wrote takes no proof away
    next.proved = false;
  } else if (move.honest) {
    next.proved = true;
  }
  const bool done = move.act == ActSeen::done;
  next.wiped = at.wiped || (done && deed == Deed::wipe);
  next.asked = at.asked || (done && deed == Deed::evacuate);
  next.isolated = at.isolated || (move.facts & isolated_bit) != 0;
  next.drained = at.drained || next.isolated || (move.facts & drained_bit) != 0;
  const Signs signs = signs_after(at, move);
  next.bad = signs.bad;
  next.sick = signs.sick;
  enter(next);
  return next;
}

/// What is known of the fault after a step: a witness and a failed check show it, a passed one
/// does not; a repair takes the evidence away, as far as it may have taken effect.
Space::Signs Space::signs_after(const Config& at, const Move& move) const {
  const Deed deed = deeds_[at.state];
  const bool failed = move.act == ActSeen::failed;
  if (move.witness || (failed && (deed == Deed::checks || deed == Deed::wipe))) return {true, true};
  if (move.act == ActSeen::done && deed == Deed::checks) return {false, false};
  const bool repairs = deed == Deed::reset || deed == Deed::power;
  if (!repairs || failed) return {at.bad, at.sick};
  const bool answered = move.act != ActSeen::running;
  if (deed == Deed::reset && at.hold) return {at.bad, at.sick};  // it never began
  if (deed == Deed::reset) return {false, at.sick && !answered};
  const bool rebooted = (move.facts & rebooted_bit) != 0;
  const bool gone = move.act == ActSeen::done && move.after_s > 0 && !rebooted;
  return {at.bad && gone, at.sick && !rebooted};
}

}  // namespace tundish::control::verify
