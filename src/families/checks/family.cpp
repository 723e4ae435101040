#include <algorithm>
#include <exception>

#include "families/checks/check.hpp"
#include "model/ops/incident_proof.hpp"

namespace tundish::checks {
#include "families/checks/table.inc"

namespace {

/// Evidence is stored with every verdict and shown to people.
constexpr std::size_t evidence_limit = 2000;
constexpr std::size_t most_devices = 64;

Verdicts judge_guarded(const Check& check, const CheckSample& sample) {
  try {
    return check.judge(sample);
  } catch (const std::exception& thrown) {
    return {make_unknown("check", std::string("it broke: ") + thrown.what())};
  }
}

/// What kept the check from running; empty: nothing did. Its own thread may sleep while a child
/// that tries the storage gets no CPU, so the pressure of the node counts as well.
std::string starved_by(const CheckSample& sample) {
  if (!sample.pressure) return "";
  const auto look = [&](std::string_view name, const std::optional<std::int64_t>& share,
                        const char* what) {
    const Limit* limit = find_limit(sample, "pressure", name);
    const bool hit = limit != nullptr && share && limit->is_hit_by(*share / 100);
    return hit ? std::string(what) + " " + std::to_string(*share / 100) + " % of the time" : "";
  };
  std::string by = look("own_wait", sample.pressure->run_queue_wait, "it waited for a CPU");
  if (by.empty()) by = look("starved_some", sample.pressure->cpu_some, "tasks waited for a CPU");
  if (by.empty()) by = look("starved_full", sample.pressure->cpu_full, "no task got a CPU");
  return by;
}

/// What a device itself says stays true however late it is read; a symptom is doubted.
void doubt(const CheckSample& sample, Verdict& verdict) {
  const bool bad = verdict.state == VerdictState::fail || verdict.state == VerdictState::warn;
  if (!bad || verdict.locality == Locality::device_local) return;
  if (verdict.watches == Resource::cpu) return;  // that nobody runs is what it reports
  const std::string by = starved_by(sample);
  if (by.empty()) return;
  verdict.evidence = by + "; else: " + verdict.reason + " " + verdict.evidence;
  verdict.reason = "starved: the check did not get a CPU";
  verdict.state = VerdictState::unknown;
}

void add(const Check& check, const CheckSample& sample, Verdicts& out) {
  for (auto& verdict : run_check(check, sample)) out.push_back(std::move(verdict));
}

void add_fails(const Check& check, const CheckSample& sample, Verdicts& out) {
  for (auto& verdict : run_check(check, sample)) {
    if (verdict.state == VerdictState::fail) out.push_back(std::move(verdict));
  }
}

}  // namespace

Verdicts run_check(const Check& check, const CheckSample& sample) {
  Verdicts verdicts = judge_guarded(check, sample);
  if (verdicts.empty()) verdicts.push_back(make_unknown("check", "it said nothing"));
  if (verdicts.size() > most_devices) verdicts.resize(most_devices);
  for (auto& verdict : verdicts) {
    verdict.check = check.name;
    verdict.at = sample.now;
    if (verdict.watches == Resource::unknown) verdict.watches = check.watches;
    verdict.locality = check.locality;
    if (verdict.evidence.size() > evidence_limit) verdict.evidence.resize(evidence_limit);
    doubt(sample, verdict);
  }
  return verdicts;
}

const Check* find_check(std::string_view name) {
  for (const Check* check : tundish::all_checks()) {
    if (check->name == name) return check;
  }
  return nullptr;
}

Verdicts judge_all(const CheckSample& sample, const std::vector<std::string>& names) {
  Verdicts out;
  const auto has_name = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool all = names.size() == 1 && names[0] == "*";
  const bool serve = names.empty() || has_name(serve_checks);
  if (all || serve) {
    for (const Check* check : tundish::all_checks()) {
      if (check->kind != CheckKind::passive || check->eye != Eye::agent) continue;
      if (has_name(check->name)) continue;  // in full below
      if (all || check->gate == Gate::serve)
        add(*check, sample, out);
      else if (check->gate == Gate::veto)
        add_fails(*check, sample, out);
    }
  }
  if (all) return out;
  for (const auto& name : names) {
    if (name == serve_checks) continue;
    if (const Check* check = find_check(name); check && check->judge) {
      add(*check, sample, out);
      continue;
    }
    Verdict verdict = make_unknown("check", "this agent has no check of that name");
    verdict.check = name;
    verdict.at = sample.now;
    out.push_back(std::move(verdict));
  }
  return out;
}

Verdicts judge_bmc(const CheckSample& sample) {
  Verdicts out;
  for (const Check* check : tundish::all_checks()) {
    if (check->eye != Eye::bmc) continue;
    for (auto& verdict : run_check(*check, sample)) out.push_back(std::move(verdict));
  }
  return out;
}

Verdict make_verdict(VerdictState state, std::string reason, std::string evidence) {
  Verdict verdict;
  verdict.state = state;
  verdict.reason = std::move(reason);
  verdict.evidence = std::move(evidence);
  return verdict;
}

Verdict make_unknown(std::string_view what, const std::string& fault) {
  return make_verdict(VerdictState::unknown,
                      std::string(what) + ": " + (fault.empty() ? "nothing was gathered" : fault));
}

const Limit* find_limit(const CheckSample& sample, std::string_view check, std::string_view name) {
  for (const auto& limit : sample.limits) {
    if (limit.check == check && limit.name == name) return &limit;
  }
  return nullptr;
}

}  // namespace tundish::checks

namespace tundish {

std::span<const checks::Check* const> all_checks() {
  return {checks::all_checks, std::size(checks::all_checks) - 1};
}

}  // namespace tundish
