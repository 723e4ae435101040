#include "families/faults/fault.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tundish::families
