#include "families/switches/driver_configured.hpp"

#include <algorithm>
#include <set>

namespace tundish::switches {
namespace {

/// Some switches show a change a moment after they took it.
constexpr Duration settle_time = seconds(2);
constexpr Duration look_again_after = milliseconds(150);
/// A daemon that fell in the middle of a change is started anew with what was saved: until then
/// nothing can be read, and after it half of the change is gone and has to be undone.
constexpr Duration restart_time = seconds(8);

std::string segment_of(const SwitchState& state, const SwitchPortState& port) {
  if (port.mode == PortMode::quarantine) return "";
  if (port.mode == PortMode::routed) return port.vrf;
  const SegmentState* segment = find_segment(state, port.vlan);
  if (!segment || segment->l2vni == 0) return "vlan" + std::to_string(port.vlan);
  return "seg" + std::to_string(segment->l2vni);
}

Error not_understood(const std::string& switch_name, const std::string& line) {
  return make_error(Code::conflict,
                    "its configuration has a line within our objects that is not understood: " +
                        line)
      .about("switch/" + switch_name)
      .with_remedy("take the line out, or the port from our list");
}

/// What stands in both as it is, and is refused by itself: an order does not touch it, and no
/// vendor's word about what somebody else made there keeps that order back.
void set_aside_refused(const SwitchItem& item, SwitchState& before, SwitchState& wanted) {
  if (item.accept(wanted)) return;
  const auto alone = [&] {
    SwitchState out = wanted;
    out.vrfs.clear(), out.segments.clear(), out.acls.clear(), out.ports.clear();
    return out;
  };
  std::set<std::string> vrfs;
  for (const auto& vrf : before.vrfs) {
    SwitchState only = alone();
    only.vrfs = {vrf};
    only.vrfs.front().leaks.clear();
    const VrfState* same = find_vrf(wanted, vrf.name);
    if (same && *same == vrf && !item.accept(only)) vrfs.insert(vrf.name);
  }
  for (const auto* list : {&before.segments, &wanted.segments}) {
    for (const auto& segment : *list) {
      const SegmentState* other =
          find_segment(list == &before.segments ? wanted : before, segment.vlan);
      if (!other || !(*other == segment)) vrfs.erase(segment.vrf);
    }
  }
  for (SwitchState* state : {&before, &wanted}) {
    std::erase_if(state->vrfs, [&](const VrfState& vrf) { return vrfs.contains(vrf.name); });
    std::erase_if(state->segments,
                  [&](const SegmentState& segment) { return vrfs.contains(segment.vrf); });
  }
}

}  // namespace

SwitchReading read_of(const std::string& switch_name, SwitchSeen seen, const SwitchFacts& facts) {
  SwitchReading reading;
  for (const auto& port : seen.own.ports) {
    PortObserved observed;
    observed.switch_name = switch_name;
    observed.port = port.name;
    observed.segment = segment_of(seen.own, port);
    observed.link_up =
        std::find(facts.ports_up.begin(), facts.ports_up.end(), port.name) != facts.ports_up.end();
    reading.ports.push_back(std::move(observed));
  }
  reading.seen = std::move(seen);
  reading.neighbours = facts.neighbours;
  reading.has_config = true;
  return reading;
}

void ConfiguredSwitch::attach(const PortRef& port, const PortIntent& intent, Duration limit,
                              Done done) {
  if (port.management_url.empty()) {
    done(make_error(Code::invalid, "switch " + port.switch_name + " has no management_url")
             .about("switch/" + port.switch_name)
             .with_remedy("add management_url to its row in the inventory"));
    return;
  }
  waiting_[port.switch_name].push_back({port, intent, limit, std::move(done)});
  start_next(port.switch_name);
}

void ConfiguredSwitch::start_next(const std::string& name) {
  auto& queue = waiting_[name];
  if (queue.empty() || running_.contains(name)) return;
  auto change = std::make_shared<Change>();
  change->ref = {name, queue.front().port.management_url};
  change->limit = queue.front().limit;
  do {
    change->requests.push_back(std::move(queue.front()));
    queue.pop_front();
  } while (!queue.empty() && !change->requests.back().alone && !queue.front().alone);
  running_[name] = change;
  look(change);
}

void ConfiguredSwitch::look(const ChangePtr& change) {
  transport_.fetch(change->ref, change->limit, [this, change](const Result<SwitchFetched>& now) {
    if (!now) return finish(change, Error(now.error()));
    if (!now->is_interrupted || change->resumed) return plan(change, *now);
    change->resumed = true;
    // Whatever comes of it: what counts is what the switch shows then.
    transport_.resume(change->ref, change->limit,
                      [this, change](const Result<>&) { look(change); });
  });
}

Result<SwitchSeen> ConfiguredSwitch::parse(const ChangePtr& change,
                                           const Result<SwitchFetched>& fetched) const {
  if (!fetched) return fetched.error();
  return item_.parse(fetched->files, change->ownership());
}

void ConfiguredSwitch::plan(const ChangePtr& change, const SwitchFetched& fetched) {
  const auto seen = parse(change, fetched);
  if (!seen) return finish(change, Error(seen.error()));
  change->before = seen->own;
  change->unclear = seen->unclear;
  change->wanted = seen->own;
  for (const auto& request : change->requests) {
    change->wanted =
        merge_patch(std::move(change->wanted), request.intent.patch, request.intent.keep_vrfs);
  }
  if (change->wanted == change->before) return finish(change, {});
  set_aside_refused(item_, change->before, change->wanted);
  const auto accepted = accept(change);
  if (!accepted) return one_by_one(change, accepted.error());
  change->scope = scope_of(change->before, change->wanted);
  const auto steps = item_.steps(change->before, change->wanted);
  if (!steps) return one_by_one(change, steps.error());
  if (steps->empty()) return finish(change, {});
  transport_.run(change->ref, *steps, StepMode::strict, change->limit,
                 [this, change](const Result<>& ran) {
                   change->settle_at = scheduler_.now() + settle_time;
                   read_back(change, ran);
                 });
}

/// A line that nobody understands stops what it may be about, and nobody else. But no line of
/// others keeps a node in a network: its port is taken out alone, and the rest of the order waits.
Result<> ConfiguredSwitch::accept(const ChangePtr& change) const {
  const auto scope = scope_of(change->before, change->wanted);
  const std::string line = line_about(change->unclear, change->before, change->wanted, scope);
  const Result<> accepted =
      line.empty() ? item_.accept(change->wanted) : not_understood(change->ref.name, line);
  const PortIntent& first = change->requests.front().intent;
  if (accepted || change->requests.size() > 1 || !only_isolates(first)) return accepted;
  const SwitchState out = only_ports_out(change->before, first);
  if (out == change->before || !line_about_port(change->unclear, first).empty()) return accepted;
  change->wanted = out;
  return {};
}

/// Also after a failure or a timeout: it may have happened, in part or whole.
void ConfiguredSwitch::read_back(const ChangePtr& change, const Result<>& ran) {
  transport_.fetch(change->ref, change->limit,
                   [this, change, ran](const Result<SwitchFetched>& fetched) {
                     const auto seen = parse(change, fetched);
                     if (seen) return check_back(change, ran, *seen);
                     if (scheduler_.now() < change->settle_at + restart_time) {
                       return scheduler_.at(scheduler_.now() + look_again_after,
                                            [this, change, ran] { read_back(change, ran); });
                     }
                     finish(change, ran ? Error(seen.error()) : ran.error());
                   });
}

void ConfiguredSwitch::check_back(const ChangePtr& change, const Result<>& ran,
                                  const SwitchSeen& seen) {
  const std::string missing =
      find_missing(change->wanted, seen, change->scope, change->unclear);
  if (missing.empty()) {
    return transport_.confirm(change->ref, change->wanted, change->limit,
                              [this, change](const Result<>& done) { finish(change, done); });
  }
  const bool may_come = ran || ran.error().code == Code::timeout;
  if (may_come && scheduler_.now() < change->settle_at) {
    return scheduler_.at(scheduler_.now() + look_again_after,
                         [this, change, ran] { read_back(change, ran); });
  }
  if (!ran) return undo(change, seen, ran.error());
  undo(change, seen, make_error(Code::unavailable, "took the change but shows: " + missing));
}

/// Back to what was there of what the change touched. Half an object has no state to start from:
/// then all of the change is taken back, be it there or not.
void ConfiguredSwitch::undo(const ChangePtr& change, const SwitchSeen& seen, const Error& why) {
  const bool half = !new_lines(seen.unclear, change->unclear).empty();
  const SwitchState& from = half ? change->wanted : seen.own;
  change->back = put_back(from, change->before, change->wanted, change->scope);
  if (find_missing(change->back, seen, change->scope, change->unclear).empty()) {
    return one_by_one(change, why);
  }
  const auto steps = item_.steps(from, change->back);
  if (!steps) return finish(change, why);
  transport_.run(change->ref, *steps, half ? StepMode::tolerant : StepMode::strict, change->limit,
                 [this, change, why](const Result<>& ran) { check_undone(change, ran, why); });
}

void ConfiguredSwitch::check_undone(const ChangePtr& change, const Result<>& ran, Error why) {
  transport_.fetch(
      change->ref, change->limit, [this, change, ran, why](const Result<SwitchFetched>& fetched) {
        const auto seen = parse(change, fetched);
        std::string left =
            seen ? find_missing(change->back, *seen, change->scope, change->unclear)
                 : seen.error().message();
        if (left.empty()) {
          // A confirmed commit would take the undoing back.
          return transport_.confirm(
              change->ref, change->back, change->limit,
              [this, change, why](const Result<>&) { one_by_one(change, why); });
        }
        if (!ran) left = ran.error().message() + "; " + left;
        finish(change, Error(why).wrap("could not be undone: " + left));
      });
}

/// The switch is as it was. In a batch only one of the requests may be to blame.
void ConfiguredSwitch::one_by_one(const ChangePtr& change, const Error& why) {
  if (change->requests.size() == 1) return finish(change, why);
  auto& queue = waiting_[change->ref.name];
  for (auto it = change->requests.rbegin(); it != change->requests.rend(); ++it) {
    it->alone = true;
    queue.push_front(std::move(*it));
  }
  running_.erase(change->ref.name);
  start_next(change->ref.name);
}

void ConfiguredSwitch::finish(const ChangePtr& change, const Result<>& result) {
  running_.erase(change->ref.name);
  for (auto& request : change->requests) {
    if (result) {
      request.done({});
    } else {
      request.done(Error(result.error()).wrap("switch " + change->ref.name));
    }
  }
  start_next(change->ref.name);
}

void ConfiguredSwitch::read(const PortRef& port, const SwitchOwnership& ownership, Duration limit,
                            ReadDone done) {
  if (port.management_url.empty()) {
    done(make_error(Code::invalid, "switch " + port.switch_name + " has no management_url"));
    return;
  }
  transport_.fetch({port.switch_name, port.management_url}, limit,
                   [this, name = port.switch_name, ownership,
                    done = std::move(done)](Result<SwitchFetched> fetched) {
                     if (!fetched) {
                       done(Error(fetched.error()).wrap("switch " + name));
                       return;
                     }
                     auto seen = item_.parse(fetched->files, ownership);
                     if (!seen) {
                       done(Error(seen.error()).wrap("switch " + name));
                       return;
                     }
                     done(read_of(name, std::move(*seen), fetched->facts));
                   });
}

}  // namespace tundish::switches
