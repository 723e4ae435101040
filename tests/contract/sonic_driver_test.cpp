// What only SONiC has: three databases that may differ, and FRR beside them.
#include "families/switches/driver_configured.hpp"
#include "families/switches/driver_sonic.hpp"
#include "families/switches/sonic_parts/sonic_parts.hpp"
#include "switch_simulator.hpp"

namespace tundish {
namespace {

using switches::ConfiguredSwitch;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SonicDriver : public testing::Test {
 protected:
  void begin(const std::string& foreign = sonic_foreign) {
    sim = std::make_unique<Simulator>(Vendor{"sonic", "sonic_sim.py", "Ethernet", foreign}, foreign,
                                      "");
  }
  SwitchOwnership ownership() const {
    SwitchOwnership out;
    out.ports = {"Ethernet1", "Ethernet2"};
    return out;
  }
  PortIntent intent(bool inside) const {
    PortIntent out;
    out.ownership = ownership();
    SwitchPortState place;
    place.name = "Ethernet1";
    if (inside) {
      VrfState vrf;
      vrf.name = "Vrf00010";
      vrf.vrf_id = 10;
      vrf.l3vni = 50010;
      vrf.l3vlan = 2010;
      vrf.rd = "10.255.0.1:10";
      vrf.import_targets = vrf.export_targets = {"65000:50010"};
      SegmentState segment;
      segment.vrf = vrf.name;
      segment.vlan = 110;
      segment.l2vni = 10010;
      segment.rd = "10.255.0.1:110";
      segment.import_targets = segment.export_targets = {"65000:10010"};
      segment.gateway = "10.10.0.1/24";
      segment.acl_in = "T-10-IN";
      out.patch.vrfs = {vrf};
      out.patch.segments = {segment};
      out.patch.acls = {{"T-10-IN", {{10, AclAction::permit, "ip", "", "10.10.0.0/24", 0, 0}}}};
      place.mode = PortMode::access;
      place.vlan = 110;
    }
    out.patch.ports = {place};
    return out;
  }
  std::string attach(bool inside) {
    std::string out;
    driver.attach({"leaf1", sim->url(), "Ethernet1", "sonic"}, intent(inside), seconds(10),
                  [&](const Result<>& done) {
                    out = done ? "" : done.error().message() + " " + done.error().remedy;
                    loop.stop();
                  });
    loop.run();
    return out;
  }
  SwitchReading read() {
    SwitchReading out;
    driver.read({"leaf1", sim->url(), "Ethernet1", "sonic"}, ownership(), seconds(10),
                [&](Result<SwitchReading> reading) {
                  EXPECT_TRUE(reading) << (reading ? "" : reading.error().message());
                  if (reading) out = std::move(*reading);
                  loop.stop();
                });
    loop.run();
    return out;
  }
  std::string segment_of(const SwitchReading& reading, const std::string& port) {
    for (const auto& seen : reading.ports) {
      if (seen.port == port) return seen.segment;
    }
    return "not seen";
  }

  net::Loop loop;
  net::HttpClient wire{loop, {}};
  SimulatorExec exec{wire};
  std::unique_ptr<Simulator> sim;
  switches::SonicTransport transport{exec};
  ConfiguredSwitch driver{*switches::find_switch_item("sonic"), transport, loop};
};

/// sonic-buildimage #11428: a VRF's VNI that comes before the VLAN's keeps the VLAN's out for good;
/// #14949: the NVO has to be there before what is remote; #8493, #11944: what is referenced goes
/// last. The simulator refuses or forgets what comes in the wrong order.
TEST_F(SonicDriver, an_order_in_which_nothing_is_lost_or_refused) {
  begin();
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_EQ(attach(true), "");
    const auto seen = read();
    EXPECT_EQ(segment_of(seen, "Ethernet1"), "seg10010");
    EXPECT_THAT(seen.seen.unclear, IsEmpty());
    ASSERT_EQ(attach(false), "");
    EXPECT_THAT(read().seen.own.vrfs, IsEmpty());
    EXPECT_THAT(sim->get("applied"), Not(HasSubstr("Vrf00010")));
  }
}

/// The hardware goes on as it was told: a port that CONFIG_DB no longer has in the VLAN is still
/// in.
TEST_F(SonicDriver, a_port_counts_where_the_hardware_has_it) {
  begin();
  ASSERT_EQ(attach(true), "");
  sim->trouble("stuck");
  EXPECT_THAT(attach(false), HasSubstr("APPL_DB"));
  const auto seen = read();
  EXPECT_EQ(segment_of(seen, "Ethernet1"), "seg10010");
  EXPECT_THAT(seen.seen.unclear, Contains(HasSubstr("still")));
}

TEST_F(SonicDriver, a_switch_that_would_forget_its_targets_is_refused_before_anything_is_touched) {
  std::string foreign = sonic_foreign;
  const std::string split = R"("split")";
  foreign.replace(foreign.find(split), split.size(), R"("separated")");
  begin(foreign);
  const std::string before = sim->get("accepted");
  EXPECT_THAT(attach(true), HasSubstr("split-unified"));
  EXPECT_EQ(sim->get("accepted"), before);
}

TEST_F(SonicDriver, ports_and_far_ends_are_told) {
  begin();
  ASSERT_EQ(attach(true), "");
  const auto seen = read();
  ASSERT_EQ(seen.neighbours.size(), 1u);
  EXPECT_EQ(seen.neighbours[0].device_mac, "02:00:00:00:00:01");
  EXPECT_EQ(seen.neighbours[0].device, "n01");
}

TEST_F(SonicDriver, what_is_saved_has_both_halves) {
  begin();
  ASSERT_EQ(attach(true), "");
  EXPECT_THAT(sim->get("saved"), HasSubstr("map_10010_Vlan110"));
  EXPECT_THAT(sim->get("saved"), HasSubstr("route-target import 65000:10010"));
}

}  // namespace
}  // namespace tundish
