#include <gtest/gtest.h>

#include "codec/kernel_log/event.hpp"

namespace tundish {
namespace {

using K = KernelEventKind;

struct Row {
  const char* text;
  K kind;
  const char* subject;
  const char* device;
  bool corrected;
};

const Row rows[] = {
    {"watchdog: Watchdog detected hard LOCKUP on cpu 3", K::hard_lockup, "CPU 3", "", false},
    {"NMI watchdog: Watchdog detected hard LOCKUP on cpu 12, registers:", K::hard_lockup, "CPU 12",
     "", false},
    {"rcu: INFO: rcu_sched self-detected stall on CPU", K::rcu_stall, "", "", false},
    {"rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", K::rcu_stall, "", "", false},
    {"BUG: unable to handle page fault for address: ffff8880", K::kernel_oops, "", "", false},
    {"nfs: server 10.0.0.5 not responding, still trying", K::server_silent, "10.0.0.5", "", false},
    {"nfs: server 10.0.0.5 not responding, timed out", K::server_silent, "10.0.0.5", "", false},
    {"nfs: server 10.0.0.5 OK", K::server_back, "10.0.0.5", "", false},
    {"Lustre: fs-OST0001-osc-ffff8: Connection to fs-OST0001 (at 10.0.0.5@o2ib) was lost; in "
     "progress operations using this service will wait for recovery to complete",
     K::server_silent, "10.0.0.5@o2ib", "", false},
    {"Lustre: fs-OST0001-osc-ffff8: Connection restored to 10.0.0.5@o2ib (at 10.0.0.5@o2ib)",
     K::server_back, "10.0.0.5@o2ib", "", false},
    {"LustreError: 167-0: fs-OST0001-osc-ffff8: This client was evicted by fs-OST0001; in progress "
     "operations using this service will fail.",
     K::client_evicted, "fs-OST0001", "", false},
    {"EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0", K::memory_error, "mc0",
     "", true},
    {"EDAC MC3: 2 UE memory scrubbing error on DIMM", K::memory_error, "mc3", "", false},
    {"mce: [Hardware Error]: Machine check events logged", K::memory_error, "", "", true},
    {"{1}[Hardware Error]: event severity: fatal", K::memory_error, "", "", false},
    {"{2}[Hardware Error]: event severity: corrected", K::memory_error, "", "", true},
    {"pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3b:00.0", K::pcie_error, "",
     "0000:3b:00", true},
    {"pcieport 0000:3a:00.0: AER: Multiple Uncorrected (Fatal) error received: 0000:3b:00.0",
     K::pcie_error, "", "0000:3b:00", false},
    {"mlx5_core 0000:5e:00.0: mlx5_pcie_event:299:(pid 0): Detected insufficient power on the PCIe "
     "slot (27W).",
     K::nic_fault, "", "0000:5e:00", false},
    {"mlx5_core 0000:5e:00.0 eth0: Link down", K::link_down, "eth0", "0000:5e:00", false},
    {"e1000e 0000:00:1f.6 eno1: NIC Link is Up 1000 Mbps Full Duplex", K::link_up, "eno1",
     "0000:00:1f", false},
};

TEST(KernelParts, Shapes) {
  for (const auto& row : rows) {
    const auto event = parse_kernel_text(row.text);
    ASSERT_TRUE(event) << row.text;
    EXPECT_EQ(event->kind, row.kind) << row.text;
    EXPECT_EQ(event->subject, row.subject) << row.text;
    EXPECT_EQ(event->device, row.device) << row.text;
    EXPECT_EQ(event->corrected, row.corrected) << row.text;
  }
}

// A line that only quotes another is nothing; what a monitor's own reads cause is no fault either.
TEST(KernelParts, QuotesAndEchoesAreNothing) {
  for (const char* const text :
       {"python: saw nfs: server 10.0.0.5 not responding", "nfs: server  10.0.0.5 fine",
        "my watchdog: Watchdog detected hard LOCKUP on cpu 3", "Lustre: Build Version: 2.15",
        "EDAC MC: Ver: 3.0.0", "EDAC MC0: Giving out device to module i10nm",
        "mlx5_core 0000:5e:00.0: mlx5_cmd_out_err:833:(pid 1): ACCESS_REG(0x805) op_mod(0x1) "
        "failed",
        "pcieport 0000:3a:00.0: AER: enabled with IRQ 34", "eth0: Link down",
        "usb 0000:5e:00.0 a b: Link down"}) {
    EXPECT_FALSE(parse_kernel_text(text)) << text;
  }
}

TEST(KernelParts, SeverityIsTheLinesOwn) {
  const auto fatal = parse_kernel_text(
      "pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0");
  ASSERT_TRUE(fatal);
  EXPECT_EQ(fatal->severity, SeverityWord::fatal);
  const auto other = parse_kernel_text(
      "pcieport 0000:3a:00.0: AER: Uncorrected (Non-Fatal) error received: 0000:3b:00.0");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->severity, SeverityWord::non_fatal);
}

}  // namespace
}  // namespace tundish
