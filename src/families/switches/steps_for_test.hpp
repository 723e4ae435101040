#pragma once
// What steps do to a switch of the test's own: it must come to the wanted state, in an order that
// isolates first, and from wherever it was stopped.
#include <functional>

#include "families/switches/item_for_test.hpp"

namespace tundish::switches {

/// Runs the texts on a switch that starts with `files`, and gives what it shows then.
using ApplySteps =
    std::function<SwitchFiles(const SwitchFiles& files, const std::vector<SwitchStep>& steps)>;

struct StatePair {
  SwitchState from, to;
};

/// Odd seeds: what an order changes. Even ones: two states that have little in common.
inline StatePair make_pair_of_states(const SwitchItem& item, const StateShape& shape, int seed) {
  StateMaker maker(static_cast<std::uint32_t>(seed), item.capabilities(), shape);
  StatePair out;
  out.from = maker.make(1 + seed % 5);
  if (seed % 2 == 1) {
    out.to = maker.change(out.from);
    return out;
  }
  out.to = maker.make(1 + seed / 2 % 5);
  out.to.asn = out.from.asn;
  out.to.router_id = out.from.router_id;
  out.to.vtep_address = out.from.vtep_address;
  for (const auto& port : out.from.ports) {
    if (find_port(out.to, port.name) != nullptr) continue;
    out.to.ports.push_back({port.name, PortMode::quarantine, 0, "", "", port.description});
  }
  sort_state(out.to);
  return out;
}

inline SwitchSeen seen_by(const SwitchItem& item, const SwitchFiles& files,
                          const SwitchState& owner) {
  auto seen = item.parse(files, ownership_for_test(owner));
  EXPECT_TRUE(seen.has_value());
  return seen ? *seen : SwitchSeen{};
}

inline void expect_same(const SwitchSeen& seen, const SwitchState& wanted, const std::string& at) {
  EXPECT_TRUE(seen.own == wanted) << at << "\nwanted " << render_json(wanted, 1) << "\nis "
                                  << render_json(seen.own, 1);
  EXPECT_TRUE(seen.unclear.empty()) << at << ": " << (seen.unclear.empty() ? "" : seen.unclear[0]);
}

inline void expect_steps_lead(const SwitchItem& item, const StateShape& shape,
                              const ApplySteps& apply) {
  for (int seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    const auto [from, to] = make_pair_of_states(item, shape, seed);
    const auto before = item.render(from);
    const auto steps = item.steps(from, to);
    const std::string at = "seed " + std::to_string(seed);
    ASSERT_TRUE(before.has_value()) << at << ": " << before.error().message();
    ASSERT_TRUE(steps.has_value()) << at << ": " << steps.error().message();
    const SwitchFiles after = apply(*before, *steps);
    expect_same(seen_by(item, after, to), to, at + "\n" + show(*steps) + show(after));
  }
}

/// Stopped after any step, and taken on from what the switch shows then.
inline void expect_steps_resume(const SwitchItem& item, const StateShape& shape,
                                const ApplySteps& apply) {
  for (int seed = 1; seed <= 40 && !testing::Test::HasFailure(); ++seed) {
    const auto [from, to] = make_pair_of_states(item, shape, seed);
    const auto before = item.render(from);
    const auto steps = item.steps(from, to);
    ASSERT_TRUE(before && steps) << "seed " << seed;
    for (std::size_t done = 0; done < steps->size(); ++done) {
      const std::string at = "seed " + std::to_string(seed) + " after " + std::to_string(done);
      const auto half =
          apply(*before, {steps->begin(), steps->begin() + static_cast<std::ptrdiff_t>(done)});
      const SwitchSeen seen = seen_by(item, half, to);
      EXPECT_TRUE(seen.unclear.empty()) << at << ": " << seen.unclear[0];
      const auto rest = item.steps(seen.own, to);
      SCOPED_TRACE(at + "\n" + show(*steps) + "rest\n" + (rest ? show(*rest) : ""));
      ASSERT_TRUE(rest.has_value()) << at << ": " << rest.error().message();
      expect_same(seen_by(item, apply(half, *rest), to), to, at + "\n" + show(*rest));
    }
  }
}

/// Whoever leaves and whatever narrows comes before what opens; what goes comes last.
inline void expect_isolation_first(const SwitchItem& item, const StateShape& shape) {
  int leaving = 0, going = 0;
  for (int seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    const auto [from, to] = make_pair_of_states(item, shape, seed);
    const auto steps = item.steps(from, to);
    ASSERT_TRUE(steps.has_value());
    bool opened = false, gone = false;
    for (const auto& step : *steps) {
      const bool closes = step.what.find(": leaves ") != std::string::npos ||
                          step.what.ends_with(": imports less") ||
                          step.what.ends_with(": makes room");
      const bool goes = step.what.ends_with(": goes");
      EXPECT_FALSE(closes && (opened || gone)) << "seed " << seed << ": " << step.what << "\n"
                                               << show(*steps);
      EXPECT_FALSE(!goes && gone) << "seed " << seed << ": " << step.what;
      opened = opened || (!closes && !goes && !step.what.ends_with(": is given up"));
      gone = gone || goes;
      leaving += closes ? 1 : 0;
      going += goes ? 1 : 0;
    }
  }
  EXPECT_GT(leaving, 100);
  EXPECT_GT(going, 100);
}

}  // namespace tundish::switches
