// The way of a change through a switch, on a switch that misbehaves in every way we know of. The
// dialect is made up: a switch is the JSON of its state, a step is one object's JSON.
#include "families/switches/driver_configured.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <queue>

#include "codec/json.hpp"

namespace tundish::switches {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

SwitchState state_of(const std::string& text) {
  SwitchState out;
  EXPECT_TRUE(parse_json(text, out));
  return out;
}

template <class T, class Key>
void put(std::vector<T>& list, const std::string& key, const std::string& json, Key key_of) {
  std::erase_if(list, [&](const T& item) { return key_of(item) == key; });
  if (json.empty()) return;
  T item;
  EXPECT_TRUE(parse_json(json, item));
  list.push_back(std::move(item));
}

const auto port_key = [](const SwitchPortState& port) { return "port " + port.name; };
const auto vrf_key = [](const VrfState& vrf) { return "vrf " + vrf.name; };
const auto vlan_key = [](const SegmentState& segment) {
  return "vlan " + std::to_string(segment.vlan);
};

template <class T, class Key>
void differences(const std::vector<T>& from, const std::vector<T>& to, Key key_of,
                 std::vector<SwitchStep>& out) {
  const auto holds = [&](const std::vector<T>& list, const T& wanted) {
    return std::any_of(list.begin(), list.end(),
                       [&](const T& item) { return key_of(item) == key_of(wanted); });
  };
  for (const T& item : to) {
    if (std::find(from.begin(), from.end(), item) == from.end()) {
      out.push_back({key_of(item), "state", render_json(item)});
    }
  }
  for (const T& item : from) {
    if (!holds(to, item)) out.push_back({key_of(item), "state", ""});
  }
}

const SwitchItem item{
    .name = "made_up",
    .doc = "",
    .source = "",
    .capabilities = [] { return SwitchCapabilities{}; },
    .accept = [](const SwitchState& desired) -> Result<> {
      if (find_vrf(desired, "VrfOdd")) return make_error(Code::invalid, "VrfOdd: VNI 0");
      if (desired.vrfs.size() < 4) return {};
      return make_error(Code::exhausted, "has no room for " + desired.vrfs.back().name);
    },
    .render = [](const SwitchState& desired) -> Result<SwitchFiles> {
      return SwitchFiles{{"state", render_json(desired)}};
    },
    .parse = [](const SwitchFiles& files, const SwitchOwnership&) -> Result<SwitchSeen> {
      SwitchSeen out;
      out.own = state_of(files.at(0).text);
      sort_state(out.own);
      if (files.size() > 1) out.unclear = {files[1].text};
      return out;
    },
    .steps = [](const SwitchState& from, const SwitchState& to) -> Result<std::vector<SwitchStep>> {
      std::vector<SwitchStep> out;
      differences(from.vrfs, to.vrfs, vrf_key, out);
      differences(from.segments, to.segments, vlan_key, out);
      differences(from.ports, to.ports, port_key, out);
      return out;
    }};

class Time final : public Scheduler {
 public:
  Instant now() const override { return now_; }
  void at(Instant at, std::function<void()> task) override { tasks_.push({at, std::move(task)}); }
  void run() {
    while (!tasks_.empty()) {
      auto [at, task] = tasks_.front();
      tasks_.pop();
      if (at > now_) now_ = at;
      task();
    }
  }

 private:
  Instant now_ = {1000000};
  std::queue<std::pair<Instant, std::function<void()>>> tasks_;
};

/// Answers come from the loop, as everywhere.
class FakeSwitch final : public SwitchTransport {
 public:
  explicit FakeSwitch(Time& time) : time_(time) {}

  enum class Trouble { none, unapplied, half, half_unclear, late, lost_answer, lost_answer_half };
  Trouble trouble = Trouble::none;
  std::string refused;         ///< a step about this object fails
  bool undo_fails = false;     ///< every run after the first fails
  bool confirm_fails = false;  ///< the switch cannot save
  bool unreachable = false;
  int deaf = 0;  ///< so many looks fail
  bool interrupted = false;
  SwitchState state;
  std::string unclear;
  std::function<void()> meanwhile;  ///< what somebody else does while the first run goes on
  int runs = 0, confirms = 0, resumes = 0;
  std::vector<StepMode> modes;
  std::vector<std::size_t> sizes;
  SwitchState saved;
  std::map<std::string, int> joins;  ///< how often a port was put into a segment

  void fetch(const SwitchRef&, Duration, FetchDone done) override {
    later([this, done = std::move(done)] {
      if (unreachable) return done(make_error(Code::unavailable, "no route"));
      if (deaf > 0) {
        --deaf;
        return done(make_error(Code::unavailable, "staticd does not run"));
      }
      SwitchFetched out;
      out.files = {{"state", render_json(state)}};
      if (!unclear.empty()) out.files.push_back({"unclear", unclear});
      out.is_interrupted = interrupted;
      done(out);
    });
  }

  void run(const SwitchRef&, const std::vector<SwitchStep>& steps, StepMode mode, Duration,
           Done done) override {
    modes.push_back(mode);
    sizes.push_back(steps.size());
    const bool first = ++runs == 1;
    later([this, steps, first, done = std::move(done)] { done(perform(steps, first)); });
  }

  void confirm(const SwitchRef&, const SwitchState& now, Duration, Done done) override {
    ++confirms;
    if (!confirm_fails) saved = now;
    const bool fails = confirm_fails;
    later([fails, done = std::move(done)] {
      done(fails ? make_error(Code::unavailable, "disk full") : Result<>{});
    });
  }

  void resume(const SwitchRef&, Duration, Done done) override {
    ++resumes;
    interrupted = false;
    unclear.clear();
    later([done = std::move(done)] { done({}); });
  }

 private:
  void later(std::function<void()> task) { time_.at(time_.now() + milliseconds(1), task); }

  void apply(const SwitchStep& step) {
    if (step.text.find("\"mode\":\"access\"") != std::string::npos) ++joins[step.what];
    put(state.ports, step.what, step.what.starts_with("port") ? step.text : "", port_key);
    put(state.vrfs, step.what, step.what.starts_with("vrf") ? step.text : "", vrf_key);
    put(state.segments, step.what, step.what.starts_with("vlan") ? step.text : "", vlan_key);
    sort_state(state);
  }

  Result<> perform(const std::vector<SwitchStep>& steps, bool first) {
    if (undo_fails && !first) return make_error(Code::unavailable, "no");
    const Trouble now = first ? trouble : Trouble::none;
    if (now == Trouble::unapplied) return {};
    if (now == Trouble::late) {
      time_.at(time_.now() + milliseconds(600), [this, steps] {
        for (const auto& step : steps) apply(step);
      });
      return {};
    }
    const bool half =
        now == Trouble::half || now == Trouble::half_unclear || now == Trouble::lost_answer_half;
    std::size_t count = half ? (steps.size() + 1) / 2 : steps.size();
    for (const auto& step : steps) {
      if (count-- == 0) break;
      if (!refused.empty() && step.what == refused && !step.text.empty()) {
        return make_error(Code::unavailable, step.what + " refused");
      }
      apply(step);
    }
    if (first && meanwhile) meanwhile();
    if (!first && trouble == Trouble::half_unclear) unclear.clear();
    if (now == Trouble::half_unclear) unclear = "half a VRF";
    if (now == Trouble::lost_answer || now == Trouble::lost_answer_half) {
      return make_error(Code::timeout, "no answer");
    }
    return half ? Result<>(make_error(Code::unavailable, "stopped half-way")) : Result<>{};
  }

  Time& time_;
};

SwitchPortState unused(const std::string& name) {
  SwitchPortState out;
  out.name = name;
  return out;
}

SwitchPortState access(const std::string& name, int vlan) {
  SwitchPortState out;
  out.name = name;
  out.mode = PortMode::access;
  out.vlan = vlan;
  return out;
}

struct DriverTest : testing::Test {
  Time time;
  FakeSwitch box{time};
  ConfiguredSwitch driver{item, box, time};
  std::vector<std::pair<std::string, Result<>>> ended;
  std::vector<std::string> others;  ///< VRFs of networks that an order leaves alone

  void SetUp() override {
    for (const char* port : {"swp1", "swp2", "swp3", "swp4"}) {
      box.state.ports.push_back(unused(port));
    }
  }

  static SwitchPatch patch(const std::string& port, int tenant) {
    SwitchPatch out;
    VrfState vrf;
    vrf.name = "Vrf0000" + std::to_string(tenant);
    SegmentState segment;
    segment.vrf = vrf.name;
    segment.vlan = 100 + tenant;
    segment.l2vni = 10000 + tenant;
    out.vrfs = {vrf};
    out.segments = {segment};
    out.ports = {access(port, segment.vlan)};
    return out;
  }

  void ask(const std::string& port, int tenant) {
    PortIntent intent;
    intent.keep_vrfs = others;
    if (tenant == 0) {
      intent.patch.ports = {unused(port)};
    } else {
      intent.patch = patch(port, tenant);
    }
    driver.attach({"leaf1", "fake://leaf1", port, ""}, intent, seconds(5),
                  [this, port](const Result<>& done) { ended.emplace_back(port, done); });
  }
  Result<> attach(const std::string& port, int tenant) {
    ended.clear();
    ask(port, tenant);
    time.run();
    EXPECT_EQ(ended.size(), 1u);
    return ended.empty() ? Result<>(make_error(Code::internal, "no answer")) : ended[0].second;
  }
  std::string message(const Result<>& result) { return result ? "done" : result.error().message(); }
  PortMode mode_of(const std::string& port) {
    const SwitchPortState* found = find_port(box.state, port);
    return found == nullptr ? PortMode::routed : found->mode;
  }
};

TEST_F(DriverTest, a_change_is_done_when_the_switch_shows_it_and_then_it_is_saved) {
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_EQ(mode_of("swp1"), PortMode::access);
  EXPECT_EQ(box.confirms, 1);
  ASSERT_NE(find_vrf(box.saved, "Vrf00001"), nullptr);
  // Once more changes nothing.
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_EQ(box.runs, 1);
}

// As in a lab: a stanza made by hand for one tenant's VRF kept another tenant's node out.
TEST_F(DriverTest, what_somebody_made_that_no_order_touches_keeps_no_order_back) {
  VrfState odd;
  odd.name = "VrfOdd";
  box.state.vrfs.push_back(odd);
  others = {"VrfOdd"};
  EXPECT_EQ(message(attach("swp1", 1)), "done");
  EXPECT_EQ(mode_of("swp1"), PortMode::access);
  EXPECT_NE(find_vrf(box.state, "VrfOdd"), nullptr) << "it stays as it was";
  SegmentState segment;
  segment.vrf = "VrfOdd";
  segment.vlan = 109;
  PortIntent intent;
  intent.keep_vrfs = others;
  intent.patch.segments = {segment};
  ended.clear();
  driver.attach({"leaf1", "fake://leaf1", "swp2", ""}, intent, seconds(5),
                [this](const Result<>& done) { ended.emplace_back("swp2", done); });
  time.run();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_THAT(message(ended[0].second), HasSubstr("VrfOdd")) << "an order about it is refused";
}

TEST_F(DriverTest, the_last_port_takes_its_network_with_it) {
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_TRUE(attach("swp1", 0));
  EXPECT_EQ(mode_of("swp1"), PortMode::quarantine);
  EXPECT_THAT(box.state.vrfs, IsEmpty());
  EXPECT_THAT(box.state.segments, IsEmpty());
}

TEST_F(DriverTest, accepted_but_not_applied_is_no_success) {
  box.trouble = FakeSwitch::Trouble::unapplied;
  const SwitchState before = box.state;
  EXPECT_THAT(message(attach("swp1", 1)), HasSubstr("took the change but shows: port swp1"));
  EXPECT_EQ(box.state, before);
  EXPECT_EQ(box.confirms, 0);
}

TEST_F(DriverTest, half_a_change_is_undone) {
  box.trouble = FakeSwitch::Trouble::half;
  const SwitchState before = box.state;
  EXPECT_THAT(message(attach("swp1", 1)), HasSubstr("stopped half-way"));
  EXPECT_EQ(box.state, before);
  EXPECT_EQ(box.modes.back(), StepMode::strict);
}

// As in a lab: staticd fell in the middle of an order and came back with what was saved before.
TEST_F(DriverTest, what_a_daemon_that_fell_forgot_is_undone_when_it_is_back) {
  const SwitchState before = box.state;
  box.meanwhile = [this] {
    box.deaf = 5;
    box.state.segments.clear();
    box.unclear = "half a VRF";
  };
  EXPECT_THAT(message(attach("swp1", 1)), HasSubstr("took the change but shows"));
  EXPECT_EQ(box.state, before);
  EXPECT_EQ(box.modes.back(), StepMode::tolerant);
}

TEST_F(DriverTest, half_an_object_is_undone_without_looking_at_what_is_there) {
  box.trouble = FakeSwitch::Trouble::half_unclear;
  const SwitchState before = box.state;
  EXPECT_THAT(message(attach("swp1", 1)), HasSubstr("stopped half-way"));
  EXPECT_EQ(box.state, before);
  ASSERT_EQ(box.modes.size(), 2u);
  EXPECT_EQ(box.modes[1], StepMode::tolerant);
  EXPECT_EQ(box.sizes[1], box.sizes[0]);  // all of the change, be it there or not
}

TEST_F(DriverTest, a_late_change_is_waited_for) {
  box.trouble = FakeSwitch::Trouble::late;
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_EQ(mode_of("swp1"), PortMode::access);
  EXPECT_EQ(box.runs, 1);
}

TEST_F(DriverTest, a_change_that_happened_without_an_answer_is_done) {
  box.trouble = FakeSwitch::Trouble::lost_answer;
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_EQ(box.confirms, 1);
}

TEST_F(DriverTest, half_a_change_without_an_answer_is_undone) {
  box.trouble = FakeSwitch::Trouble::lost_answer_half;
  const SwitchState before = box.state;
  const auto done = attach("swp1", 1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::timeout);
  EXPECT_EQ(box.state, before);
}

TEST_F(DriverTest, what_waits_goes_together_and_the_guilty_one_alone_fails) {
  ask("swp1", 1);  // runs at once
  ask("swp2", 2);
  ask("swp3", 3);
  box.refused = "port swp3";
  time.run();
  ASSERT_EQ(ended.size(), 3u);
  for (const auto& [port, result] : ended) {
    EXPECT_EQ(static_cast<bool>(result), port != "swp3") << port << ": " << message(result);
  }
  EXPECT_EQ(mode_of("swp1"), PortMode::access);
  EXPECT_EQ(mode_of("swp2"), PortMode::access);
  EXPECT_EQ(mode_of("swp3"), PortMode::quarantine);
  EXPECT_EQ(find_vrf(box.state, "Vrf00003"), nullptr);
}

TEST_F(DriverTest, one_request_that_the_vendor_cannot_hold_does_not_hold_up_others) {
  for (int tenant = 1; tenant <= 4; ++tenant) ask("swp" + std::to_string(tenant), tenant);
  time.run();
  ASSERT_EQ(ended.size(), 4u);
  int failed = 0;
  for (const auto& [port, result] : ended) {
    if (result) continue;
    ++failed;
    EXPECT_THAT(message(result), HasSubstr("no room"));
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(box.state.vrfs.size(), 3u);
}

TEST_F(DriverTest, a_line_that_is_not_understood_stops_everything) {
  box.unclear = "ip route 0.0.0.0/0 (in Vrf00001)";
  const auto done = attach("swp1", 1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::conflict);
  EXPECT_THAT(message(done), HasSubstr(box.unclear));
  EXPECT_EQ(box.runs, 0);
}

TEST_F(DriverTest, an_interrupted_change_is_finished_first) {
  box.interrupted = true;
  box.unclear = "half a VRF";
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_EQ(box.resumes, 1);
  // But nobody who only looks finishes anything.
  box.interrupted = true;
  driver.read({"leaf1", "fake://leaf1", "", ""}, {}, seconds(1),
              [](const auto& reading) { EXPECT_TRUE(reading); });
  time.run();
  EXPECT_EQ(box.resumes, 1);
}

TEST_F(DriverTest, a_failed_undo_is_told) {
  box.trouble = FakeSwitch::Trouble::half;
  box.undo_fails = true;
  const std::string told = message(attach("swp1", 1));
  EXPECT_THAT(told, HasSubstr("could not be undone: no"));
  EXPECT_THAT(told, HasSubstr("stopped half-way"));
  EXPECT_THAT(told, HasSubstr("Vrf00001 is still there"));
}

TEST_F(DriverTest, undoing_never_takes_a_port_out_of_quarantine) {
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_TRUE(attach("swp2", 1));
  box.runs = 0;
  // swp1 leaves and swp4 joins another tenant in one batch, which the switch stops in the middle.
  ask("swp2", 1);
  ask("swp1", 0);
  ask("swp4", 2);
  box.refused = "port swp4";
  ended.clear();
  time.run();
  EXPECT_EQ(mode_of("swp1"), PortMode::quarantine);
  EXPECT_EQ(mode_of("swp4"), PortMode::quarantine);
  EXPECT_EQ(mode_of("swp2"), PortMode::access);
  EXPECT_EQ(box.joins["port swp1"], 1);
}

TEST_F(DriverTest, an_unreachable_switch_fails_once_and_works_later) {
  box.unreachable = true;
  const auto done = attach("swp1", 1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unavailable);
  EXPECT_THAT(message(done), HasSubstr("switch leaf1"));
  box.unreachable = false;
  EXPECT_TRUE(attach("swp1", 1));
}

TEST_F(DriverTest, a_change_that_cannot_be_saved_is_no_success) {
  box.confirm_fails = true;
  EXPECT_THAT(message(attach("swp1", 1)), HasSubstr("disk full"));
}

TEST_F(DriverTest, a_switch_without_an_address_is_refused_at_once) {
  Result<> told;
  driver.attach({"leaf9", "", "swp1", ""}, {}, seconds(1),
                [&](const Result<>& done) { told = done; });
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::invalid);
  EXPECT_THAT(told.error().remedy, HasSubstr("management_url"));
}

/// Somebody took the only port of tenant 2 out by hand: its segment waits for that hand.
TEST_F(DriverTest, an_order_takes_away_nothing_of_another_network) {
  EXPECT_TRUE(attach("swp2", 2));
  put(box.state.ports, "port swp2", render_json(unused("swp2")), port_key);
  sort_state(box.state);
  const SegmentState segment = *find_segment(box.state, 102);
  others = {"Vrf00002"};
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_TRUE(attach("swp1", 0));
  ASSERT_NE(find_segment(box.state, 102), nullptr);
  EXPECT_EQ(*find_segment(box.state, 102), segment);
  EXPECT_NE(find_vrf(box.state, "Vrf00002"), nullptr);
  EXPECT_EQ(find_vrf(box.state, "Vrf00001"), nullptr) << "its own goes with its last port";
  others = {};
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_EQ(find_vrf(box.state, "Vrf00002"), nullptr) << "the network is gone from the registry";
}

TEST_F(DriverTest, undoing_puts_back_its_own_and_leaves_what_others_did_meanwhile) {
  EXPECT_TRUE(attach("swp2", 2));
  box.runs = 0;
  box.trouble = FakeSwitch::Trouble::half;
  box.meanwhile = [this] {
    put(box.state.ports, "port swp2", render_json(access("swp2", 777)), port_key);
    sort_state(box.state);
  };
  others = {"Vrf00002"};
  EXPECT_THAT(message(attach("swp1", 1)), HasSubstr("stopped half-way"));
  EXPECT_EQ(find_port(box.state, "swp2")->vlan, 777);
  EXPECT_EQ(mode_of("swp1"), PortMode::quarantine);
  EXPECT_EQ(find_vrf(box.state, "Vrf00001"), nullptr);
}

TEST_F(DriverTest, what_others_do_meanwhile_fails_nobodys_order) {
  EXPECT_TRUE(attach("swp2", 2));
  box.runs = 0;
  box.meanwhile = [this] {
    put(box.state.ports, "port swp2", render_json(unused("swp2")), port_key);
    sort_state(box.state);
  };
  others = {"Vrf00002"};
  const auto done = attach("swp1", 1);
  EXPECT_TRUE(done) << message(done);
  EXPECT_EQ(box.runs, 1);
}

TEST_F(DriverTest, a_line_of_another_network_stops_nobody_else) {
  EXPECT_TRUE(attach("swp2", 2));
  box.unclear = "ip route 0.0.0.0/0 (in Vrf00002)";
  others = {"Vrf00002"};
  const auto done = attach("swp1", 1);
  EXPECT_TRUE(done) << message(done);
  others = {"Vrf00001"};
  EXPECT_THAT(message(attach("swp3", 2)), HasSubstr(box.unclear));
  EXPECT_EQ(mode_of("swp3"), PortMode::quarantine);
}

TEST_F(DriverTest, no_line_keeps_a_node_in_a_network) {
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_TRUE(attach("swp2", 2));
  for (const char* line : {"who knows whose this is", "ip route 0.0.0.0/0 (in Vrf00001)"}) {
    box.unclear = line;
    put(box.state.ports, "port swp1", render_json(access("swp1", 101)), port_key);
    sort_state(box.state);
    const auto done = attach("swp1", 0);
    EXPECT_TRUE(done) << message(done);
    EXPECT_EQ(mode_of("swp1"), PortMode::quarantine);
    EXPECT_NE(find_vrf(box.state, "Vrf00001"), nullptr) << "the line stands in it";
    EXPECT_THAT(message(attach("swp1", 0)), HasSubstr(line)) << "the rest waits, and says why";
  }
  EXPECT_EQ(mode_of("swp2"), PortMode::access);
  box.unclear = "";
  EXPECT_TRUE(attach("swp1", 0));
  EXPECT_EQ(find_vrf(box.state, "Vrf00001"), nullptr);
}

TEST_F(DriverTest, in_a_batch_a_line_stops_only_those_that_it_may_be_about) {
  EXPECT_TRUE(attach("swp1", 1));
  EXPECT_TRUE(attach("swp2", 2));
  box.unclear = "ip route 0.0.0.0/0 (in Vrf00002)";
  others = {"Vrf00001", "Vrf00002", "Vrf00003"};
  ended.clear();
  ask("swp4", 3);  // runs at once
  ask("swp1", 0);
  ask("swp2", 0);
  ask("swp3", 2);
  time.run();
  ASSERT_EQ(ended.size(), 4u);
  for (const auto& [port, result] : ended) {
    EXPECT_EQ(static_cast<bool>(result), port != "swp3") << port << ": " << message(result);
  }
  EXPECT_EQ(mode_of("swp2"), PortMode::quarantine);
}

TEST_F(DriverTest, a_port_that_is_itself_not_understood_is_left_to_people) {
  EXPECT_TRUE(attach("swp1", 1));
  box.unclear = "interface swp1: speed 7";
  EXPECT_THAT(message(attach("swp1", 0)), HasSubstr("speed 7"));
  EXPECT_TRUE(attach("swp1", 1)) << "nothing to do";
}

TEST(FindMissing, names_the_first_difference_either_way) {
  SwitchState wanted, before;
  before.ports = {unused("swp1"), access("swp2", 120)};
  before.acls = {{"T-1-IN", {}}};
  wanted.ports = {access("swp1", 110)};
  const ChangeScope scope = scope_of(before, wanted);
  SwitchSeen seen;
  const auto missing = [&] { return find_missing(wanted, seen, scope, {"known"}); };
  EXPECT_EQ(missing(), "port swp1 is missing");
  seen.own.ports = {unused("swp1")};
  EXPECT_THAT(missing(), HasSubstr("port swp1 is {"));
  seen.own = wanted;
  seen.own.acls = {{"T-1-IN", {}}, {"T-2-IN", {}}};
  EXPECT_EQ(missing(), "access list T-1-IN is still there");
  seen.own = wanted;
  seen.own.acls = {{"T-2-IN", {}}};
  EXPECT_EQ(missing(), "") << "it is not the change's";
  seen.unclear = {"known", "what is this"};
  EXPECT_EQ(missing(), "what is this");
}

}  // namespace
}  // namespace tundish::switches
