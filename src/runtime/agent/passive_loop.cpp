#include "runtime/agent/passive_loop.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "codec/json.hpp"

namespace tundish::agent {
namespace {

/// Checks that are due soon run now: one look serves them all.
constexpr Duration together = seconds(5);
constexpr Duration without_expectation = seconds(2);
constexpr Duration shortest_pause = milliseconds(200);
/// A storm of kernel lines is judged no more often.
constexpr Duration events_pause = seconds(5);
/// All verdicts are told again so often, whatever was lost.
constexpr Duration retell_after = minutes(10);

struct VerdictList {
  std::vector<Verdict> verdicts;
  void fields(Fields& f) { f(1, "verdicts", verdicts, "of all checks that were asked"); }
};

Verdict broken(const std::string& check, const std::string& why, Instant now) {
  Verdict out;
  out.check = check;
  out.reason = "the check broke: " + why;
  out.at = now;
  return out;
}

}  // namespace

PassiveLoop::PassiveLoop(PassiveParts parts) : parts_(std::move(parts)) {
  for (const auto& check : parts_.checks) due_[check.name] = {};
}

Duration PassiveLoop::pace(Duration every) const {
  return microseconds(every.us * parts_.config.check_pace_percent / 100);
}

bool PassiveLoop::has_events() const {
  return parts_.events_noted() != events_ && parts_.now() - events_at_ >= events_pause;
}

/// Whoever judges by the kernel's log does so now, whatever its pace.
void PassiveLoop::take_events(Instant now) {
  if (!has_events()) return;
  events_ = parts_.events_noted();
  events_at_ = now;
  for (const auto& check : parts_.checks) {
    const auto& needs = check.needs;
    if (std::find(needs.begin(), needs.end(), "events") != needs.end()) due_[check.name].next = {};
  }
}

std::vector<const PassiveCheck*> PassiveLoop::take_due(Instant now) {
  std::vector<const PassiveCheck*> out;
  for (const auto& check : parts_.checks) {
    Due& due = due_[check.name];
    const Duration every = std::max(pace(check.every), shortest_pause);
    if (due.next > now + std::min(together, every)) continue;
    due.next = now + every;
    out.push_back(&check);
  }
  return out;
}

Result<std::vector<Verdict>> PassiveLoop::try_judge(const CheckSample& sample,
                                                    const std::vector<std::string>& names) {
  const auto text = TRY(parts_.gatherer.contain("judge", [&] {
    VerdictList list;
    list.verdicts = parts_.judge(sample, names);
    return render_json(list);
  }));
  VerdictList out;
  TRY_VOID(parse_json(text, out, Unknown::keep_out));
  return std::move(out.verdicts);
}

/// One child for all; when it breaks, one for each, so that only the broken check is unknown.
std::vector<Verdict> PassiveLoop::judge_contained(const CheckSample& sample,
                                                  const std::vector<const PassiveCheck*>& due) {
  std::vector<std::string> names;
  for (const auto* check : due) names.push_back(check->name);
  if (auto all = try_judge(sample, names)) return std::move(*all);
  std::vector<Verdict> out;
  for (const auto& name : names) {
    auto one = try_judge(sample, {name});
    if (one) {
      for (auto& verdict : *one) out.push_back(std::move(verdict));
      continue;
    }
    log(LogLevel::error, "check_broke", {{"check", name}, {"why", one.error().message()}});
    out.push_back(broken(name, one.error().what, sample.now));
  }
  return out;
}

void PassiveLoop::judge(const CheckSample& sample, const std::vector<const PassiveCheck*>& due) {
  const auto verdicts = judge_contained(sample, due);
  std::vector<Verdict> changed;
  for (const auto* check : due) {
    std::vector<Verdict> mine;
    for (const auto& verdict : verdicts) {
      if (verdict.check != check->name) continue;
      mine.push_back(verdict);
      if (mine.back().watches == Resource::unknown) mine.back().watches = check->watches;
      mine.back().locality = check->locality;
    }
    if (mine.empty()) mine.push_back(broken(check->name, "it said nothing", sample.now));
    for (auto& verdict : told_.take(*check, mine, sample.now))
      changed.push_back(std::move(verdict));
  }
  parts_.news.update(changed, told_.all());
}

Duration PassiveLoop::step() {
  if (is_overtaken()) {  // a mount that is not to be there any more is no fault until its next turn
    mark_ = parts_.expectation.mark();
    for (auto& [name, entry] : due_) entry.next = {};
  }
  auto expectation = parts_.expectation.get();
  // What the node is to have is tundishd's to say; without it nothing can be compared.
  if (!expectation) return without_expectation;
  const Instant now = parts_.now();
  take_events(now);
  const auto due = take_due(now);
  if (!due.empty()) {
    std::vector<std::string> names;
    for (const auto* check : due) names.push_back(check->name);
    auto sample =
        parts_.samples.make(*expectation, needs_of(parts_.checks, names), parts_.gpus());
    if (parts_.works()) sample.faults["idle"] = "active checks of ours run on it";
    judge(sample, due);
    if (sample.pressure) parts_.news.set_pressure(*sample.pressure);
    if (now >= all_due_) {
      parts_.news.want_all();
      all_due_ = now + retell_after;
    }
    if (const auto saved = parts_.samples.save(); !saved) {
      log(LogLevel::error, "health_memory_not_kept", {{"why", saved.error().message()}});
    }
    if (parts_.news.has_news()) parts_.ring();
  }
  Instant next = now + minutes(1);
  for (const auto& [name, entry] : due_) next = std::min(next, entry.next);
  return std::max(next - parts_.now(), shortest_pause);
}

}  // namespace tundish::agent
