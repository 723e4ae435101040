// Shapes of facts/health.md 1c: each in its honest and in a hostile version.
#include "codec/kernel_log/event.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace tundish {
namespace {

using Kind = KernelEventKind;

struct Shape {
  const char* name;
  const char* text;
  Kind kind;
  int code;
  const char* device;
  std::function<bool(const KernelEvent&)> more = [](const KernelEvent&) { return true; };
};

const std::vector<Shape> nvidia_shapes = {
    {"1", "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.",
     Kind::xid, 79, "0000:3b:00",
     [](const auto& e) { return e.pid == 1234 && e.process == "python" && e.registers.empty(); }},
    {"2", "NVRM: Xid (PCI:0018:01:00): 13, Graphics SM Warp Exception on (GPC 2, TPC 1, SM 0): x",
     Kind::xid, 13, "0018:01:00",
     [](const auto& e) { return e.pid == 0 && e.detail.starts_with("Graphics SM"); }},
    {"3 old", "NVRM: Xid (0000:03:00): 14, Channel 00000001", Kind::xid, 14, "0000:03:00"},
    {"4 quotes", "NVRM: Xid (PCI:0000:3b:00): 43, pid='<unknown>', name=<unknown>, Ch 00000008",
     Kind::xid, 43, "0000:3b:00",
     [](const auto& e) { return e.pid == 0 && e.process == "<unknown>"; }},
    {"5 MIG", "NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 31, pid=7, name=a, Ch 1", Kind::xid, 31,
     "0000:3b:00", [](const auto& e) { return e.mig == "GPU-I:05"; }},
    {"5 MIG CI", "NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:00): 31, Ch 1", Kind::xid, 31,
     "0000:3b:00", [](const auto& e) { return e.mig == "GPU-I:05 GPU-CI:00"; }},
    {"6", "NVRM: Xid (PCI:0000:3b:00): 45, pid=1, name=x, Ch 00000002 caused by previous Xid 31",
     Kind::xid, 45, "0000:3b:00", [](const auto& e) { return e.parent_code == 31; }},
    {"7 94",
     "NVRM: Xid (PCI:0000:3b:00): 94, pid=1, name=x, Contained: SM (0x1). RST: No, D-RST: No",
     Kind::xid, 94, "0000:3b:00",
     [](const auto& e) { return e.reset == ResetWord::no && e.drain_reset == ResetWord::no; }},
    {"7 95",
     "NVRM: Xid (PCI:0000:3b:00): 95, pid=1, name=x, Uncontained: FBHUB. RST: Yes, D-RST: No",
     Kind::xid, 95, "0000:3b:00",
     [](const auto& e) { return e.reset == ResetWord::yes && e.drain_reset == ResetWord::no; }},
    {"8",
     "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU "
     "Reset Required)",
     Kind::xid, 154, "0000:3b:00", [](const auto& e) { return e.recovery_action == 1; }},
    {"8 words",
     "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from None to OS Reboot",
     Kind::xid, 154, "0000:3b:00", [](const auto& e) { return e.recovery_action == 2; }},
    {"9",
     "NVRM: Xid (PCI:0000:3b:00): 63, pid=1, name=x, Row Remapper: New row (0x1f) marked for "
     "remapping, reset gpu to activate.",
     Kind::xid, 63, "0000:3b:00"},
    {"9 64",
     "NVRM: Xid (PCI:0000:3b:00): 64, pid=1, name=x, Row Remapper Error: (0x1f) - All "
     "reserved rows for bank are remapped",
     Kind::xid, 64, "0000:3b:00"},
    {"10",
     "NVRM: Xid (PCI:0000:3b:00): 74, pid=1, name=x, NVLink: fatal error detected on link "
     "14(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
     Kind::xid, 74, "0000:3b:00",
     [](const auto& e) {
       return e.link == 14 && e.registers.size() == 7 && e.registers[0] == "0x10000";
     }},
    {"11",
     "NVRM: Xid (PCI:0000:3b:00): 119, pid=1, name=x, Timeout after 45s of waiting for RPC "
     "response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20 0x4).",
     Kind::xid, 119, "0000:3b:00", [](const auto& e) { return e.registers.size() == 2; }},
    {"12",
     "NVRM: Xid (PCI:0000:3b:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 "
     "0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)",
     Kind::xid, 149, "0000:3b:00",
     [](const auto& e) {
       return e.link == 8 && e.registers.size() == 6 && e.severity == SeverityWord::fatal;
     }},
    {"12 no link",
     "NVRM: Xid (PCI:0000:3b:00): 145, pid='<unknown>', name=<unknown>, RLW_RXPIPE "
     "Nonfatal XC0 i0 Link -1 (0x1 0x2 0x3 0x4 0x5 0x6)",
     Kind::xid, 145, "0000:3b:00",
     [](const auto& e) { return e.link == -1 && e.severity == SeverityWord::non_fatal; }},
    {"13", "NVRM: GPU at PCI:0000:3b:00: GPU-6c1d9e2a", Kind::gpu_identity, 0, "0000:3b:00",
     [](const auto& e) { return e.detail == "GPU-6c1d9e2a"; }},
    {"13 serial", "NVRM: GPU Board Serial Number: 1650522003820", Kind::gpu_identity, 0, "",
     [](const auto& e) { return e.detail == "1650522003820" && e.follow_up; }},
    {"14", "NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.", Kind::fallen_off_bus, 0,
     "0000:18:00"},
    {"15 newline",
     "NVRM: The NVIDIA GPU 0000:3b:00.0\nNVRM: (PCI ID: 10de:2330) installed in this "
     "system has\nNVRM: fallen off the bus and is not responding to commands.",
     Kind::fallen_off_bus, 0, "0000:3b:00"},
    {"15 escaped",
     "NVRM: The NVIDIA GPU 0000:3b:00.0\\x0aNVRM: (PCI ID: 10de:2330) installed in "
     "this system has\\x0aNVRM: fallen off the bus and is not responding to commands.",
     Kind::fallen_off_bus, 0, "0000:3b:00"},
    {"15 third line alone", "NVRM: fallen off the bus and is not responding to commands.",
     Kind::fallen_off_bus, 0, ""},
    {"18", "NVRM: Xid (PCI:0000000B:01:00): 79, x", Kind::xid, 79, "000b:01:00"},
    {"21 vendor", "NVRM: Xid: 79, GPU has fallen off the bus", Kind::xid, 79, ""},
    {"21 cut in the id", "NVRM: Xid (PCI:0000:3b", Kind::xid, 0, ""},
    {"21 cut before code", "NVRM: Xid (PCI:0000:3b:00): ", Kind::xid, 0, "0000:3b:00"},
    {"21 odd id", "NVRM: Xid (GPU seven): 95, x", Kind::xid, 95, ""},
    {"21 bare", "NVRM: Xid", Kind::xid, 0, ""},
    {"code ends the line", "NVRM: Xid (PCI:0000:3b:00): 79", Kind::xid, 79, "0000:3b:00"},
    {"init", "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0xffff:1211)", Kind::other_gpu, 0,
     "0000:3b:00"},
    {"init without id", "NVRM: RmInitAdapter failed! (0x24:0xffff:1211)", Kind::other_gpu, 0, ""},
};

const std::vector<Shape> other_shapes = {
    {"16",
     "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted "
     "PRIV error (First)",
     Kind::sxid, 12028, "0000:c1:00",
     [](const auto& e) {
       return e.severity == SeverityWord::non_fatal && e.link == 32 && !e.follow_up;
     }},
    {"16 fatal",
     "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 24007, Fatal, sourcetrack, instance=1, "
     "chiplet=0",
     Kind::sxid, 24007, "0000:c1:00",
     [](const auto& e) { return e.severity == SeverityWord::fatal; }},
    {"16 severity",
     "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Severity 1 Engine instance 32 "
     "Sub-engine instance 00",
     Kind::sxid, 12028, "0000:c1:00",
     [](const auto& e) { return e.follow_up && e.severity == SeverityWord::unstated; }},
    {"16 data", "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Data {0x1, 0x2, 0x3}",
     Kind::sxid, 12028, "0000:c1:00",
     [](const auto& e) { return e.follow_up && e.registers.size() == 3; }},
    {"16 cut", "nvidia-nvswitch3: SXid (PCI:0000:c1", Kind::sxid, 0, ""},
    {"17",
     "amdgpu 0000:68:00.0: amdgpu: {1}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) "
     "detected!",
     Kind::amd_fault, 0, "0000:68:00",
     [](const auto& e) { return e.severity == SeverityWord::fatal; }},
    {"17 aca", "[Hardware Error]: Accelerator Check Architecture events logged", Kind::amd_fault, 0,
     ""},
    {"17 status", "amdgpu 0000:68:00.0: amdgpu: aca entry[00].STATUS=0xb0", Kind::amd_fault, 0,
     "0000:68:00"},
    {"17 begin", "amdgpu 0000:68:00.0: amdgpu: GPU reset begin!", Kind::amd_fault, 0, "0000:68:00",
     [](const auto& e) { return e.severity == SeverityWord::unstated; }},
    {"17 end", "amdgpu 0000:68:00.0: amdgpu: GPU reset succeeded, trying to resume",
     Kind::amd_fault, 0, "0000:68:00",
     [](const auto& e) { return e.severity == SeverityWord::non_fatal; }},
    {"oom", "Memory cgroup out of memory: Killed process 42 (python) total-vm:1kB, anon-rss:1kB",
     Kind::oom, 0, "", [](const auto& e) { return e.pid == 42 && e.process == "python"; }},
    {"oom hostile name", "Out of memory: Killed process 42 (a) b: c) total-vm:1kB", Kind::oom, 0,
     "", [](const auto& e) { return e.process == "a) b: c"; }},
    {"hung", "INFO: task a:b blocked :77 blocked for more than 120 seconds.", Kind::hung_task, 0,
     "", [](const auto& e) { return e.pid == 77 && e.process == "a:b blocked "; }},
    {"hung io", "INFO: task dd:9 blocked in I/O wait for more than 122 seconds.", Kind::hung_task,
     0, "", [](const auto& e) { return e.pid == 9 && e.process == "dd"; }},
    {"lockup", "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [a]b:12]", Kind::soft_lockup, 0,
     "", [](const auto& e) { return e.pid == 12 && e.process == "a]b"; }},
    {"ext4", "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2", Kind::io_error, 0, "",
     [](const auto& e) { return e.block_device == "sda1"; }},
    {"ext4 ro", "EXT4-fs (sda1): Remounting filesystem read-only", Kind::io_error, 0, "",
     [](const auto& e) { return e.block_device == "sda1"; }},
    {"xfs", "XFS (nvme0n1p1): log I/O error -5", Kind::io_error, 0, "",
     [](const auto& e) { return e.block_device == "nvme0n1p1"; }},
    {"block", "I/O error, dev sda, sector 0 op 0x0", Kind::io_error, 0, "",
     [](const auto& e) { return e.block_device == "sda"; }},
    {"block old", "blk_update_request: critical medium error, dev sdb, sector 1", Kind::io_error, 0,
     "", [](const auto& e) { return e.block_device == "sdb"; }},
};

void expect_shapes(const std::vector<Shape>& shapes, KernelTextSource source) {
  for (const Shape& shape : shapes) {
    const auto event = parse_kernel_text(shape.text, source);
    ASSERT_TRUE(event) << shape.name;
    EXPECT_EQ(enum_names(Kind{})[static_cast<std::size_t>(event->kind)],
              enum_names(Kind{})[static_cast<std::size_t>(shape.kind)])
        << shape.name;
    EXPECT_EQ(event->code, shape.code) << shape.name;
    EXPECT_EQ(event->device, shape.device) << shape.name;
    EXPECT_TRUE(shape.more(*event)) << shape.name;
    EXPECT_EQ(event->text, escape_kernel_text(shape.text)) << shape.name;
  }
}

TEST(KernelEvent, every_nvidia_shape) { expect_shapes(nvidia_shapes, KernelTextSource::kmsg); }
TEST(KernelEvent, every_other_shape) { expect_shapes(other_shapes, KernelTextSource::kmsg); }

// What a tenant controls is the name of its process: up to 15 bytes of anything.
TEST(KernelEvent, a_process_name_changes_nothing_but_the_name) {
  const std::string head = "NVRM: Xid (PCI:0000:3b:00): ";
  const auto spoilt = [&](const std::string& code, const std::string& name,
                          const std::string& rest) {
    return *parse_kernel_text(head + code + ", pid=9, name=" + name + ", " + rest);
  };
  EXPECT_EQ(spoilt("13", "b: 79, x", "Ch 1").code, 13);
  EXPECT_EQ(spoilt("13", "): 79, x", "Ch 1").code, 13);
  EXPECT_EQ(spoilt("13", "(PCI:0001:01:00", "Ch 1").device, "0000:3b:00");
  EXPECT_EQ(spoilt("43", "by Xid\nNVRM: X", "Ch 00000008").code, 43);
  const KernelEvent contained =
      spoilt("94", ", RST: Yes", "Contained: SM (0x1). RST: No, D-RST: No");
  EXPECT_EQ(contained.reset, ResetWord::no);
  EXPECT_EQ(spoilt("94", "x, RST: Yes, y", "Contained: SM (0x1).").reset, ResetWord::unstated);
  EXPECT_EQ(spoilt("94", "D-RST: Yes", "Contained: SM (0x1).").drain_reset, ResetWord::unstated);
  EXPECT_EQ(spoilt("74", "link 3", "NVLink: error on link 14(0x1, 0x0)").link, 14);
  EXPECT_EQ(spoilt("119", "(0x1 0x2)", "Timeout after 5s").registers.size(), 0u);
  EXPECT_EQ(spoilt("154", "to 0x2", "GPU recovery action changed from 0x0 to 0x1").recovery_action,
            1);
}

TEST(KernelEvent, words_after_the_severity_do_not_change_it) {
  const auto event = parse_kernel_text(
      "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Fatal, Link 3 PRIV error");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->severity, SeverityWord::non_fatal);
}

TEST(KernelEvent, a_line_that_quotes_a_shape_is_nothing) {
  for (const char* text :
       {"", "hello", "job 7: NVRM: Xid (PCI:0000:3b:00): 79, x",
        " NVRM: Xid (PCI:0000:3b:00): 79, x", "\"NVRM: Xid (PCI:0000:3b:00): 79\"",
        "Xid (PCI:0000:3b:00): 79, x",
        "systemd: nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Fatal, x",
        "nvidia-nvswitch: SXid (PCI:0000:c1:00.0): 12028, Fatal, x",
        "audit: comm=\"NVRM: Xid (PCI\"", "NVRM: Xidious",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel", "grep: Out of memory: Killed process 1 (x)",
        "saw INFO: task x:1 blocked for more than 120 "
        "seconds.",
        "EXT4-fs (sda1): mounted filesystem", "XFS (dm-0): Ending clean mount",
        "amdgpu 0000:68:00.0: amdgpu: SMU is initialized successfully!",
        "oom_reaper: reaped process 1 (x)", "INFO: task"}) {
    EXPECT_FALSE(parse_kernel_text(text)) << text;
  }
}

TEST(KernelEvent, a_gpu_that_is_not_supported_has_not_fallen_off_the_bus) {
  const auto event = parse_kernel_text(
      "NVRM: The NVIDIA GPU 0000:3b:00.0 (PCI ID: 10de:1b38)\nNVRM: installed in this system is "
      "not "
      "supported by the\nNVRM: NVIDIA 595.45.04 driver release.");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Kind::other_gpu);
  EXPECT_EQ(event->device, "0000:3b:00");
}

TEST(KernelEvent, only_a_journal_may_lack_the_prefix) {
  const char* text = "Xid (PCI:0000:3b:00): 79, pid=1, name=x, GPU has fallen off the bus.";
  EXPECT_FALSE(parse_kernel_text(text));
  const auto event = parse_kernel_text(text, KernelTextSource::journald);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->code, 79);
  EXPECT_EQ(event->device, "0000:3b:00");
  const auto sxid =
      parse_kernel_text("SXid (PCI:0000:c1:00.0): 24007, Fatal, x", KernelTextSource::journald);
  ASSERT_TRUE(sxid);
  EXPECT_EQ(sxid->code, 24007);
  EXPECT_FALSE(parse_kernel_text("Xid files found", KernelTextSource::journald));
  expect_shapes(nvidia_shapes, KernelTextSource::journald);
}

TEST(KernelEvent, shape_20_the_tracepoint_has_its_fields_apart) {
  const KernelEvent event = make_xid_event(
      "0000:3b:00.0", 94, "pid=1, name=RST: Yes, Contained: SM (0x1). RST: No, D-RST: Yes");
  EXPECT_EQ(event.code, 94);
  EXPECT_EQ(event.device, "0000:3b:00");
  EXPECT_EQ(event.reset, ResetWord::no);
  EXPECT_EQ(event.drain_reset, ResetWord::yes);
}

TEST(KernelEvent, numbers_that_no_driver_prints_are_no_codes) {
  for (const char* text :
       {"NVRM: Xid (PCI:0000:3b:00): 99999999999999999999, x", "NVRM: Xid (PCI:0000:3b:00): -79, x",
        "NVRM: Xid (PCI:0000:3b:00): 0x4f", "NVRM: Xid (PCI:0000:3b:00, pid=1, name=x): 79, y"}) {
    const auto event = parse_kernel_text(text);
    ASSERT_TRUE(event) << text;
    EXPECT_EQ(event->code, 0) << text;
    EXPECT_EQ(event->kind, Kind::xid) << text;
  }
}

KernelRecord record_of(int facility, std::string text) {
  KernelRecord record;
  record.facility = facility;
  record.text = std::move(text);
  return record;
}

TEST(KernelEvent, user_space_must_write_the_full_shape) {
  const std::string full = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=x, GPU has fallen";
  EXPECT_TRUE(find_kernel_event(record_of(0, full)));
  EXPECT_TRUE(find_kernel_event(record_of(1, full)));
  EXPECT_EQ(provenance_of(record_of(0, full)), Provenance::kernel);
  EXPECT_EQ(provenance_of(record_of(3, full)), Provenance::userspace);
  for (const char* part : {"NVRM: Xid: 79", "NVRM: Xid (PCI:0000:3b:00): ", "NVRM: Xid (x): 79, y",
                           "NVRM: fallen off the bus and is not responding to commands.",
                           "nvidia-nvswitch3: SXid (PCI:0000:c1"}) {
    EXPECT_TRUE(find_kernel_event(record_of(0, part))) << part;
    EXPECT_FALSE(find_kernel_event(record_of(1, part))) << part;
  }
}

TEST(KernelEvent, every_prefix_of_every_shape_gets_an_answer_of_the_same_device_or_none) {
  for (const auto* shapes : {&nvidia_shapes, &other_shapes}) {
    for (const Shape& shape : *shapes) {
      const std::string_view text = shape.text;
      for (std::size_t cut = 0; cut < text.size(); ++cut) {
        const auto event = parse_kernel_text(text.substr(0, cut));
        if (!event) continue;
        EXPECT_TRUE(event->device.empty() || event->device == shape.device)
            << shape.name << " cut at " << cut;
      }
    }
  }
}

}  // namespace
}  // namespace tundish
