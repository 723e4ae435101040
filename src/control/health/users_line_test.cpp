// An incident that only a user's line opened, and hardware that speaks on the same node later.
#include "control/health/health_site_for_test.hpp"

namespace tundish::control::health {
namespace {

using V = VerdictState;

class UsersLine : public HealthSite {
 protected:
  void SetUp() override {
    XidEntry lost;
    lost.code = 79;
    lost.action = FaultAction::reboot;
    lost.device_lost = true;
    catalogue_.xid.entries.push_back(lost);
    HealthSite::SetUp();
    KernelEvent event;
    event.kind = KernelEventKind::xid;
    event.code = 79;
    event.device = "0000:3b:00";
    writes(2, event, Provenance::userspace);
    look();
    ASSERT_EQ(count_open(), 1);
    ASSERT_FALSE(open()->hardware_witness);
    now_ = now_ + seconds(1);
  }
  std::vector<Provenance> witnesses() {
    std::vector<Provenance> out;
    for (const auto& witness : open()->witnesses) out.push_back(witness.provenance);
    return out;
  }
  using Seen = std::vector<Provenance>;
};

TEST_F(UsersLine, a_tray_that_is_wet_goes_to_the_vendor_on_the_word_of_its_bmc) {
  leaks(2, V::fail);
  look();
  EXPECT_EQ(open()->action, "power_off");
  EXPECT_TRUE(open()->hardware_witness);
  EXPECT_EQ(open()->last_witness_at, now_);
  EXPECT_EQ(witnesses(), (Seen{Provenance::userspace, Provenance::bmc}));
  pass(minutes(2));
  EXPECT_EQ(witnesses().size(), 2u) << "it is wet once";
}

TEST_F(UsersLine, a_check_of_the_part_that_fails_is_a_witness_of_hardware) {
  says(2, "recovery_action", Resource::gpu, V::fail, Locality::device_local, "0000:3b:00");
  look();
  ASSERT_EQ(count_open(), 1);
  EXPECT_TRUE(open()->hardware_witness);
  EXPECT_EQ(open()->last_witness_at, now_);
  EXPECT_EQ(witnesses(), (Seen{Provenance::userspace, Provenance::probe}));
  pass(minutes(2));
  EXPECT_EQ(witnesses().size(), 2u) << "it said so once";
}

TEST_F(UsersLine, a_check_that_only_warns_accuses_nobody) {
  says(2, "ecc", Resource::gpu_memory, V::warn, Locality::device_local, "0000:3b:00");
  pass(minutes(2));
  EXPECT_FALSE(open()->hardware_witness);
  EXPECT_EQ(witnesses(), Seen{Provenance::userspace});
}

}  // namespace
}  // namespace tundish::control::health
