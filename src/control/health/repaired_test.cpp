// What a repair, or a person, answered: it is not asked again, and is not to blame for what is new.
#include "control/health/health_site_for_test.hpp"

namespace tundish::control::health {
namespace {

using V = VerdictState;

/// Faults of the GPUs of n5, which is no tenant's, and their repair.
class Repaired : public HealthSite {
 protected:
  void SetUp() override {
    for (const auto& [code, action] :
         {std::pair(79, FaultAction::reboot), std::pair(95, FaultAction::reset)}) {
      XidEntry entry;
      entry.code = code;
      entry.name = "test";
      entry.action = action;
      entry.device_lost = true;
      catalogue_.xid.entries.push_back(entry);
    }
    HealthSite::SetUp();
    policy_.states["reboot"].action = "reboot";
    policy_.states["reset"].action = "reset_gpus";
  }
  void writes(int i, int xid, const std::string& device = "0000:3b:00") {
    KernelEvent event;
    event.kind = KernelEventKind::xid;
    event.code = xid;
    event.device = device;
    HealthSite::writes(i, std::move(event));
  }
  void gpu_says(const std::string& check, Resource part, const std::string& device) {
    says(5, check, part, V::fail, Locality::device_local, device);
  }
  void repair(const std::string& state) {
    ASSERT_NE(open(), nullptr);
    const IncidentId id = open()->id;
    now_ = now_ + seconds(1);
    must(enter_policy_state(id, "", state, policy_.states[state].action, "", TimeOwner{}));
    must(finish_act(id, act_key(*reg_.find(id)), StepOutcome::done, "", {}));
    must(return_node(id));
    pass(seconds(1));
  }
  bool blames(const std::string& what) {
    const auto& evidence = open()->blamed->evidence;
    return std::any_of(evidence.begin(), evidence.end(),
                       [&](const BlameEvidence& one) { return one.what == what; });
  }
};

TEST_F(Repaired, the_repair_of_a_gpu_answers_whatever_part_of_it_complained_before) {
  writes(5, 95);
  gpu_says("ecc", Resource::gpu_memory, "0000:3b:00");
  gpu_says("recovery_action", Resource::gpu, "0000:3b:00");
  says(5, "xid_since_boot", Resource::gpu, V::fail, Locality::device_local);
  pass(seconds(30));
  ASSERT_EQ(count_open(), 1);
  ASSERT_TRUE(open()->blamed);
  repair("reset");
  EXPECT_EQ(count_open(), 0) << "all of it is older than the repair";
  pass(minutes(3));
  EXPECT_EQ(count_open(), 0);
  says(5, "ecc", Resource::gpu_memory, V::ok, Locality::device_local, "0000:3b:00");
  pass(seconds(1));
  gpu_says("ecc", Resource::gpu_memory, "0000:3b:00");
  pass(seconds(6));
  EXPECT_EQ(count_open(), 1) << "it went away and came back";
}

TEST_F(Repaired, the_reset_of_one_gpu_answers_nothing_of_another_and_a_reboot_all) {
  for (const char* device : {"0000:3b:00", "0000:5e:00"}) {
    gpu_says("recovery_action", Resource::gpu, device);
  }
  pass(seconds(6));
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->device, "0000:3b:00");
  repair("reset");
  ASSERT_EQ(count_open(), 1) << "nobody did anything about the other one";
  EXPECT_EQ(open()->device, "0000:5e:00");
  gpu_says("recovery_action", Resource::gpu, "0000:9a:00");
  pass(seconds(6));
  repair("reboot");
  EXPECT_EQ(count_open(), 0);
}

TEST_F(Repaired, a_fault_that_was_repaired_is_not_to_blame_for_the_next_one) {
  writes(5, 79);
  look();
  repair("reboot");
  ASSERT_EQ(count_open(), 0);
  pass(seconds(40));
  writes(5, 95);
  gpu_says("recovery_action", Resource::gpu, "0000:3b:00");
  gpu_says("ecc", Resource::gpu_memory, "0000:3b:00");
  pass(seconds(6));
  ASSERT_TRUE(open() && open()->blamed);
  EXPECT_FALSE(blames("xid 79"));
  EXPECT_TRUE(blames("xid 95") || blames("recovery_action")) << open()->blame;
}

// A check of all GPUs fails for the second fault: it must not bring up the first one again.
TEST_F(Repaired, a_check_that_names_no_gpu_is_not_about_one_that_was_repaired) {
  writes(5, 79);
  look();
  repair("reboot");
  ASSERT_EQ(count_open(), 0);
  pass(seconds(30));
  writes(5, 95, "0000:1b:00");
  says(5, "xid_since_boot", Resource::gpu, V::fail, Locality::device_local);
  pass(seconds(1));
  ASSERT_EQ(count_open(), 1);
  must(override_claims(node(5), "a person resumed it"));
  pass(seconds(1));
  EXPECT_EQ(count_open(), 0) << open()->blame;
  pass(minutes(3));
  EXPECT_EQ(count_open(), 0) << open()->blame;
}

// As in a lab: a person resumed the node before the check had seen what the kernel told.
TEST_F(Repaired, a_check_that_is_later_than_a_person_does_not_take_back_what_was_resumed) {
  writes(5, 95);
  look();
  ASSERT_EQ(count_open(), 1);
  must(override_claims(node(5), "a person resumed it"));
  pass(seconds(50));
  says(5, "xid_since_boot", Resource::gpu, V::fail, Locality::device_local);
  pass(minutes(5));
  EXPECT_EQ(count_open(), 0);
  says(5, "xid_since_boot", Resource::gpu, V::ok, Locality::device_local);
  pass(seconds(1));
  gpu_says("recovery_action", Resource::gpu, "0000:3b:00");
  pass(seconds(1));
  EXPECT_EQ(count_open(), 1) << "that is new";
}

}  // namespace
}  // namespace tundish::control::health
