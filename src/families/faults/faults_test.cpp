#include <gtest/gtest.h>

#include <map>

#include "codec/kernel_log/event.hpp"
#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

FaultOrder order_for(int xid) {
  FaultOrder order;
  order.node_name = "n1";
  order.pci = "0000:3b:00";
  order.gpu = 2;
  order.xid = xid;
  return order;
}

Result<Injection> render(const char* fault, const FaultOrder& order) {
  const Fault* found = find_fault(fault);
  if (!found) return make_error(Code::not_found, std::string("no fault ") + fault);
  return found->render(order);
}

TEST(Faults, xid_writes_the_drivers_line_and_breaks_the_hardware) {
  const auto made = render("xid", order_for(79));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->node_name, "n1");
  EXPECT_EQ(made->gpu, 2);
  EXPECT_EQ(made->effect, "lost");
  EXPECT_EQ(made->line,
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python3, GPU has fallen off the bus.");
}

TEST(Faults, a_users_line_breaks_nothing) {
  for (const char* fault : {"xid", "off_bus"}) {
    FaultOrder order = order_for(79);
    order.userspace = true;
    const auto made = render(fault, order);
    ASSERT_TRUE(made) << fault;
    EXPECT_TRUE(made->userspace) << fault;
    EXPECT_EQ(made->effect, "none") << fault;
  }
}

TEST(Faults, xid_takes_an_unknown_code_only_with_its_text) {
  const auto refused = render("xid", order_for(999));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  FaultOrder order = order_for(999);
  order.text = "NVRM: Xid (PCI:0000:3b:00): 999, own words";
  const auto made = render("xid", order);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->line, order.text);
  EXPECT_EQ(made->effect, "none");
}

TEST(Faults, off_bus_tells_the_loss_without_a_code) {
  const auto made = render("off_bus", order_for(0));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->line, "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.");
  EXPECT_EQ(made->effect, "lost");
}

TEST(Faults, a_gpu_that_is_not_on_record_is_refused) {
  for (const char* fault : {"xid", "off_bus"}) {
    FaultOrder order = order_for(79);
    order.pci.clear();
    const auto made = render(fault, order);
    ASSERT_FALSE(made) << fault;
    EXPECT_EQ(made.error().code, Code::invalid) << fault;
  }
}

/// What the lab's hand can do beside words in the kernel log.
bool is_known_effect(const std::string& effect) {
  for (const char* known :
       {"none", "lost", "ecc_uncorrected", "gsp", "row_remap_failure", "row_remap_pending",
        "nvlink_down", "throttle", "driver_hang", "cable_cut", "cable_flap", "agent_stop",
        "oob_cut", "bmc_ignore", "cpu_hog", "storage_hang", "storage_slow", "leak",
        "fabric_lost", "memory_error"}) {
    if (effect == known) return true;
  }
  return false;
}

TEST(Faults, every_kind_says_what_it_does_and_breaks_something) {
  EXPECT_GE(list_faults().size(), 20U);
  for (const Fault* fault : list_faults()) {
    EXPECT_FALSE(fault->doc.empty()) << fault->name;
    EXPECT_FALSE(fault->expected_detection.empty()) << fault->name;
    EXPECT_FALSE(fault->expected_action.empty()) << fault->name;
    const auto made =
        render(std::string(fault->name).c_str(), order_for(fault->name == "xid" ? 79 : 0));
    ASSERT_TRUE(made) << fault->name << made.error().message();
    EXPECT_TRUE(is_known_effect(made->effect)) << fault->name << " " << made->effect;
    EXPECT_TRUE(made->effect != "none" || !made->line.empty()) << fault->name << " does nothing";
    EXPECT_EQ(made->node_name, "n1") << fault->name;
    EXPECT_LT(made->line.size(), 976U) << fault->name << ": longer than a record";
  }
}

TEST(Faults, lines_are_read_as_what_they_stand_for) {
  const std::map<std::string, KernelEventKind> kinds = {
      {"ecc_dbe", KernelEventKind::xid},
      {"row_remap", KernelEventKind::xid},
      {"row_remap_failed", KernelEventKind::xid},
      {"nvlink_down", KernelEventKind::xid},
      {"gsp_hang", KernelEventKind::xid},
      {"sxid", KernelEventKind::sxid},
      {"oom", KernelEventKind::oom},
      {"hung_task", KernelEventKind::hung_task},
      {"soft_lockup", KernelEventKind::soft_lockup},
      {"disk_error", KernelEventKind::io_error},
      {"memory_error", KernelEventKind::memory_error},
      {"pcie_error", KernelEventKind::pcie_error},
      {"kernel_storm", KernelEventKind::xid},
      {"off_bus", KernelEventKind::fallen_off_bus}};
  for (const auto& [name, kind] : kinds) {
    const auto made = render(name.c_str(), order_for(0));
    ASSERT_TRUE(made) << name;
    const auto event = parse_kernel_text(made->line);
    ASSERT_TRUE(event) << name << ": " << made->line;
    EXPECT_EQ(event->kind, kind) << name;
  }
}

TEST(Faults, what_is_no_line_cannot_be_written_by_a_user) {
  for (const char* fault : {"agent_silent", "bmc_away", "oob_cut", "ib_port_down", "link_flap",
                            "throttle", "gpu_hang"}) {
    FaultOrder order = order_for(0);
    order.userspace = true;
    const auto made = render(fault, order);
    ASSERT_FALSE(made) << fault;
    EXPECT_EQ(made.error().code, Code::unsupported) << fault;
  }
  FaultOrder sticky = order_for(0);
  sticky.sticky = true;
  EXPECT_FALSE(render("bmc_away", sticky));
}

TEST(Faults, what_lasts_ends_by_itself_and_a_storm_is_bounded) {
  EXPECT_EQ(render("agent_silent", order_for(0))->for_s, 60);
  FaultOrder longer = order_for(0);
  longer.for_s = 5;
  EXPECT_EQ(render("ib_port_down", longer)->for_s, 5);
  EXPECT_EQ(render("kernel_storm", order_for(0))->copies, 2000);
  FaultOrder flood = order_for(0);
  flood.copies = 200000;
  EXPECT_FALSE(render("kernel_storm", flood));
}

}  // namespace
}  // namespace tundish::families
