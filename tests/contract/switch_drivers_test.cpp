// What every switch transport must hold, against a simulator of each vendor's protocol
// (tests/sims) that shares no code with families/ and keeps accepted, applied and saved apart.
#include "families/switches/driver_configured.hpp"
#include "families/switches/driver_eos.hpp"
#include "families/switches/driver_junos.hpp"
#include "families/switches/driver_nvue.hpp"
#include "families/switches/driver_nxos.hpp"
#include "families/switches/driver_sonic.hpp"
#include "switch_simulator.hpp"

namespace tundish {
namespace {

using switches::ConfiguredSwitch;
using switches::SwitchItem;
using switches::SwitchTransport;
using testing::HasSubstr;

struct SwitchDrivers : testing::TestWithParam<Vendor> {
  net::Loop loop;
  net::HttpClient wire{loop, {}};
  SimulatorExec exec{wire};
  std::unique_ptr<Simulator> sim;
  std::unique_ptr<SwitchTransport> transport;
  std::unique_ptr<ConfiguredSwitch> driver;
  Duration limit = seconds(2);

  void SetUp() override { begin(""); }
  void begin(const std::string& timer) {
    sim = std::make_unique<Simulator>(GetParam(), GetParam().foreign, timer);
    start_driver();
  }
  const SwitchItem& item() const {
    const SwitchItem* found = switches::find_switch_item(GetParam().item);
    if (found == nullptr) std::abort();
    return *found;
  }

  /// As after a restart of tundishd: nothing is remembered.
  void start_driver() {
    const std::string& name = GetParam().item;
    if (name == "arista_eos") {
      transport = std::make_unique<switches::EosTransport>(wire, loop, switches::HttpLogin{});
    } else if (name == "nxos") {
      transport = std::make_unique<switches::NxosTransport>(wire, switches::HttpLogin{});
    } else if (name == "junos") {
      transport = std::make_unique<switches::JunosTransport>(wire, switches::HttpLogin{});
    } else if (name == "sonic") {
      transport = std::make_unique<switches::SonicTransport>(exec);
      limit = seconds(10);  // a program of many commands
    } else {
      transport = std::make_unique<switches::NvueTransport>(wire, loop, switches::HttpLogin{});
    }
    driver = std::make_unique<ConfiguredSwitch>(item(), *transport, loop);
  }

  std::string port(int number) const { return GetParam().port + std::to_string(number); }
  SwitchOwnership ownership() const {
    SwitchOwnership out;
    out.ports = {port(1), port(2)};
    return out;
  }

  /// Every tenant has the same prefix.
  PortIntent intent(int number, int tenant) const {
    PortIntent out;
    out.ownership = ownership();
    SwitchPortState place;
    place.name = port(number);
    if (tenant != 0) {
      VrfState vrf;
      vrf.name = "Vrf000" + std::to_string(tenant);
      vrf.vrf_id = tenant;
      vrf.l3vni = 50000 + tenant;
      if (item().capabilities().needs_l3vlan) vrf.l3vlan = 2000 + tenant;
      vrf.rd = "10.255.0.1:" + std::to_string(tenant);
      vrf.import_targets = vrf.export_targets = {"65000:" + std::to_string(vrf.l3vni)};
      SegmentState segment;
      segment.vrf = vrf.name;
      segment.vlan = 100 + tenant;
      segment.l2vni = 10000 + tenant;
      segment.rd = "10.255.0.1:" + std::to_string(segment.vlan);
      segment.import_targets = segment.export_targets = {"65000:" + std::to_string(segment.l2vni)};
      segment.gateway = "10.10.0.1/24";
      place.mode = PortMode::access;
      place.vlan = segment.vlan;
      out.patch.vrfs = {vrf};
      out.patch.segments = {segment};
    }
    out.patch.ports = {place};
    return out;
  }

  PortRef ref(int number) const { return {"leaf1", sim->url(), port(number), GetParam().item}; }

  /// Port and tenant; 0: quarantine. All at once.
  std::string attach(const std::vector<std::pair<int, int>>& wanted) {
    std::string out;
    std::size_t open = wanted.size();
    for (const auto& [number, tenant] : wanted) {
      driver->attach(ref(number), intent(number, tenant), limit, [&](const Result<>& done) {
        out += done ? "" : done.error().message() + "\n";
        if (--open == 0) loop.stop();
      });
    }
    loop.run();
    return out;
  }

  std::string attach_as(const PortIntent& wanted) {
    std::string out;
    driver->attach(ref(1), wanted, limit, [&](const Result<>& done) {
      out = done ? "" : done.error().message();
      loop.stop();
    });
    loop.run();
    return out;
  }

  SwitchReading read() {
    SwitchReading out;
    driver->read(ref(1), ownership(), limit, [&](Result<SwitchReading> reading) {
      EXPECT_TRUE(reading) << (reading ? "" : reading.error().message());
      if (reading) out = std::move(*reading);
      loop.stop();
    });
    loop.run();
    return out;
  }
  std::string place(int number) {
    for (const auto& seen : read().ports) {
      if (seen.port == port(number)) return seen.segment.empty() ? "-" : seen.segment;
    }
    return "not seen";
  }
  void wait(Duration time) {
    loop.at(loop.now() + time, [this] { loop.stop(); });
    loop.run();
  }

  /// Every line of the others, in their order, whatever of ours is between them.
  bool others_are_whole() const {
    const std::string now = sim->get("applied");
    if (GetParam().item == "nvue" || GetParam().item == "sonic") {
      const auto tree = JsonValue::parse(now), before = JsonValue::parse(GetParam().foreign);
      return tree && before && contains(*tree, *before);
    }
    const auto lines = split(now, '\n');
    auto at = lines.begin();
    for (const auto& line : split(GetParam().foreign, '\n')) {
      const bool port_line = line == "   no switchport" || line == "  no switchport" ||
                             trim(line) == "shutdown" || trim(line) == "!" ||
                             line.ends_with(" disable");
      if (port_line || trim(line).empty()) continue;
      const auto found = std::find(at, lines.end(), line);
      if (found == lines.end()) {
        ADD_FAILURE() << "lost: " << line << "\n" << now;
        return false;
      }
      at = found + 1;
    }
    return true;
  }
  static bool contains(const JsonValue& whole, const JsonValue& part) {
    for (const auto& [key, value] : part.members()) {
      if (key == "swp1" || key == "swp2" || key == "Ethernet1" || key == "Ethernet2") continue;
      if (whole.at(key).is_absent() || !contains(whole.at(key), value)) {
        ADD_FAILURE() << "lost: " << key;
        return false;
      }
    }
    return part.size() > 0 || whole.render() == part.render();
  }
};

TEST_P(SwitchDrivers, two_tenants_with_the_same_addresses_come_and_go) {
  EXPECT_EQ(place(1), "-");
  EXPECT_EQ(attach({{1, 10}}), "");
  EXPECT_EQ(place(1), "seg10010");
  EXPECT_EQ(attach({{2, 20}}), "");
  EXPECT_EQ(place(1), "seg10010");
  EXPECT_EQ(place(2), "seg10020");
  EXPECT_TRUE(others_are_whole());
  EXPECT_EQ(sim->get("saved"), sim->get("applied"));
  const auto seen = read();
  EXPECT_TRUE(seen.seen.unclear.empty()) << seen.seen.unclear.front();
  EXPECT_EQ(seen.seen.own.vrfs.size(), 2u);
  EXPECT_TRUE(std::any_of(seen.ports.begin(), seen.ports.end(),
                          [&](const auto& one) { return one.port == port(1) && one.link_up; }));

  EXPECT_EQ(attach({{1, 0}}), "");
  EXPECT_EQ(place(1), "-");
  EXPECT_EQ(place(2), "seg10020");
  EXPECT_EQ(attach({{2, 0}}), "");
  EXPECT_TRUE(read().seen.own.vrfs.empty());
  EXPECT_TRUE(others_are_whole());
  EXPECT_THAT(sim->get("applied"), testing::Not(HasSubstr("Vrf000")));
  EXPECT_EQ(sim->get("saved"), sim->get("applied"));
}

TEST_P(SwitchDrivers, a_batch_goes_in_one_change) {
  EXPECT_EQ(attach({{1, 10}, {2, 10}}), "");
  EXPECT_EQ(place(1), "seg10010");
  EXPECT_EQ(place(2), "seg10010");
  EXPECT_EQ(attach({{1, 20}}), "");
  EXPECT_EQ(place(1), "seg10020");
  EXPECT_EQ(place(2), "seg10010");
  EXPECT_TRUE(others_are_whole());
}

TEST_P(SwitchDrivers, accepted_is_not_applied) {
  EXPECT_EQ(attach({{2, 20}}), "");
  const std::string before = sim->get("applied");
  sim->trouble("unapplied");
  EXPECT_THAT(attach({{1, 10}}), HasSubstr("took the change but shows"));
  EXPECT_EQ(place(1), "-");
  EXPECT_EQ(sim->get("applied"), before);
}

TEST_P(SwitchDrivers, half_a_change_is_undone) {
  EXPECT_EQ(attach({{2, 20}}), "");
  sim->trouble("half");
  EXPECT_NE(attach({{1, 10}}), "");
  EXPECT_EQ(place(1), "-");
  EXPECT_EQ(place(2), "seg10020");
  EXPECT_EQ(read().seen.own.vrfs.size(), 1u);
  EXPECT_TRUE(others_are_whole());
  EXPECT_EQ(attach({{1, 10}}), "");
  EXPECT_EQ(place(1), "seg10010");
}

TEST_P(SwitchDrivers, a_late_change_is_waited_for) {
  sim->trouble("late");
  EXPECT_EQ(attach({{1, 10}}), "");
  EXPECT_EQ(place(1), "seg10010");
}

TEST_P(SwitchDrivers, a_change_whose_answer_is_lost_is_seen_as_done) {
  limit = GetParam().item == "sonic" ? seconds(4) : milliseconds(800);
  sim->trouble("lost_answer");
  EXPECT_EQ(attach({{1, 10}}), "");
  EXPECT_EQ(place(1), "seg10010");
  EXPECT_EQ(sim->get("saved"), sim->get("applied"));
}

TEST_P(SwitchDrivers, a_refused_command_is_named_and_leaves_nothing) {
  const std::string before = sim->get("applied");
  sim->trouble("refuse", "10010");
  EXPECT_THAT(attach({{1, 10}}), HasSubstr("10010"));
  EXPECT_EQ(place(1), "-");
  EXPECT_TRUE(read().seen.own.vrfs.empty());
  EXPECT_EQ(sim->get("applied"), before);
  EXPECT_TRUE(others_are_whole());
  sim->trouble("none");
  EXPECT_EQ(attach({{1, 10}}), "");
}

TEST_P(SwitchDrivers, one_of_a_batch_is_refused_and_the_other_goes_on) {
  EXPECT_EQ(attach({{1, 30}}), "");
  sim->trouble("refuse", "10010");
  // The first runs alone, so the batch is the two behind it.
  EXPECT_THAT(attach({{1, 30}, {2, 20}, {1, 10}}), HasSubstr("10010"));
  EXPECT_EQ(place(2), "seg10020");
  EXPECT_NE(place(1), "seg10010");
}

TEST_P(SwitchDrivers, what_a_person_changed_is_seen_and_nothing_is_done_to_the_rest) {
  EXPECT_EQ(attach({{1, 10}}), "");
  std::string text = sim->get("applied");
  const auto at = text.find("10.255.0.1:10");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 13, "10.255.0.1:99");
  sim->post("load", text);
  const auto seen = read();
  ASSERT_EQ(seen.seen.own.vrfs.size(), 1u);
  EXPECT_THAT(render_json(seen.seen.own), HasSubstr("10.255.0.1:99"));
  EXPECT_EQ(sim->get("applied"), text);  // a look changes nothing
  EXPECT_EQ(attach({{1, 10}}), "");
  EXPECT_THAT(sim->get("applied"), testing::Not(HasSubstr("10.255.0.1:99")));
}

/// NICo #1880: another VNI for a network made a second network beside the first.
TEST_P(SwitchDrivers, a_vni_that_changes_leaves_no_second_network) {
  EXPECT_EQ(attach({{1, 10}}), "");
  PortIntent other = intent(1, 10);
  other.patch.segments[0].l2vni = 10077;
  other.patch.segments[0].import_targets = {"65000:10077"};
  other.patch.segments[0].export_targets = {"65000:10077"};
  EXPECT_EQ(attach_as(other), "");
  const auto seen = read().seen;
  ASSERT_EQ(seen.own.segments.size(), 1u);
  EXPECT_EQ(seen.own.segments[0].l2vni, 10077);
  EXPECT_TRUE(seen.unclear.empty()) << seen.unclear.front();
  EXPECT_THAT(sim->get("applied"), testing::Not(HasSubstr("10010")));
  EXPECT_EQ(place(1), "seg10077");
}

/// openshift/sriov-cni #25: a port kept the VLAN of its last user when the next one asked for none.
TEST_P(SwitchDrivers, a_port_that_asks_for_no_vlan_keeps_none) {
  EXPECT_EQ(attach({{1, 10}, {2, 10}}), "");
  PortIntent routed = intent(1, 10);
  routed.patch.ports[0].mode = PortMode::routed;
  routed.patch.ports[0].vlan = 0;
  routed.patch.ports[0].vrf = "Vrf00010";
  routed.patch.ports[0].address = "10.64.0.0/31";
  EXPECT_EQ(attach_as(routed), "");
  const auto seen = read().seen;
  const SwitchPortState* now = find_port(seen.own, port(1));
  ASSERT_NE(now, nullptr);
  EXPECT_EQ(now->mode, PortMode::routed);
  EXPECT_EQ(now->vlan, 0);
  EXPECT_TRUE(seen.unclear.empty()) << seen.unclear.front();
  EXPECT_EQ(place(2), "seg10010");
}

/// redhat-cop/network.base #60: drift was told because commands had been made, not because the
/// switch differed. What the switch shows as wanted is not written again.
TEST_P(SwitchDrivers, what_is_in_step_is_not_written_again) {
  EXPECT_EQ(attach({{1, 10}}), "");
  sim->trouble("refuse", "0");  // any line of ours has one
  EXPECT_EQ(attach({{1, 10}}), "");
  sim->trouble("none");
  EXPECT_TRUE(read().seen.unclear.empty());
}

TEST_P(SwitchDrivers, a_change_that_nobody_confirms_goes_away_where_the_switch_can) {
  if (!item().capabilities().confirmed_commit) GTEST_SKIP() << "it has no confirmed commit";
  sim.reset();
  begin("1.0");
  const std::string before = sim->get("applied");
  // We die between the commit and its confirmation: only the transport's run is called.
  const auto seen = read().seen.own;
  const auto wanted = merge_patch(seen, intent(1, 10).patch, {});
  const auto steps = item().steps(seen, wanted);
  ASSERT_TRUE(steps);
  transport->run({"leaf1", sim->url()}, *steps, switches::StepMode::strict, limit,
                 [&](const Result<>& done) {
                   EXPECT_TRUE(done) << (done ? "" : done.error().message());
                   loop.stop();
                 });
  loop.run();
  EXPECT_EQ(place(1), "seg10010");
  start_driver();
  wait(milliseconds(1500));
  EXPECT_EQ(place(1), "-");
  EXPECT_EQ(sim->get("applied"), before);
  // And a confirmed one stays.
  EXPECT_EQ(attach({{1, 10}}), "");
  wait(milliseconds(1500));
  EXPECT_EQ(place(1), "seg10010");
}

INSTANTIATE_TEST_SUITE_P(
    Sims, SwitchDrivers,
    testing::Values(Vendor{"arista_eos", "eos_sim.py", "Ethernet", eos_foreign},
                    Vendor{"junos", "junos_sim.py", "et-0/0/", junos_foreign},
                    Vendor{"nxos", "nxos_sim.py", "Ethernet1/", nxos_foreign},
                    Vendor{"nvue", "nvue_sim.py", "swp", nvue_foreign},
                    Vendor{"sonic", "sonic_sim.py", "Ethernet", sonic_foreign}),
    [](const auto& tested) { return tested.param.item; });

}  // namespace
}  // namespace tundish
