#include "lab/kmsg/kernel_log_ring.hpp"

#include <gtest/gtest.h>

namespace tundish::lab {
namespace {

using Kind = KernelLogRing::Reading::Kind;

TEST(KernelLogRing, renders_a_record_as_the_kernel_does) {
  KernelLogRing ring;
  ring.append({.facility = 0, .level = 4}, 1234567, "NVRM: Xid (PCI:0000:41:00): 79");
  EXPECT_EQ(ring.read(0).line, "4,0,1234567,-;NVRM: Xid (PCI:0000:41:00): 79\n");
  EXPECT_EQ(ring.read(0).next_seq, 1u);
}

TEST(KernelLogRing, escapes_what_would_break_the_one_line_rule) {
  KernelLogRing ring;
  ring.append({}, 1, "a\tb\nc\\d\x7f\xc3\xa9");
  EXPECT_EQ(ring.read(0).line, "4,0,1,-;a\\x09b\\x0ac\\x5cd\\x7f\\xc3\\xa9\n");
}

TEST(KernelLogRing, a_reader_that_fell_behind_is_told_and_sent_to_the_oldest) {
  KernelLogRing ring;
  for (int i = 0; i < 3000; ++i) ring.append({}, i, std::string(72, 'x'));
  // 80 bytes a record (8 id + 72 text): 1638 fit in 128 KiB.
  EXPECT_EQ(ring.next_seq(), 3000u);
  EXPECT_EQ(ring.oldest_seq(), 3000u - 1638u);
  const auto reading = ring.read(0);
  EXPECT_EQ(reading.kind, Kind::overrun);
  EXPECT_EQ(reading.next_seq, ring.oldest_seq());
  EXPECT_EQ(ring.read(reading.next_seq).kind, Kind::record);
  EXPECT_EQ(ring.read(3000).kind, Kind::empty);
}

TEST(KernelLogRing, short_records_are_limited_by_count) {
  KernelLogRing ring;
  for (int i = 0; i < 5000; ++i) ring.append({}, i, "x");
  EXPECT_EQ(ring.next_seq() - ring.oldest_seq(), KernelLogRing::capacity_records);
}

TEST(KernelLogRing, a_boot_starts_again_at_zero) {
  KernelLogRing ring;
  ring.append({}, 1, "before");
  ring.clear();
  EXPECT_EQ(ring.read(0).kind, Kind::empty);
  ring.append({}, 2, "after");
  EXPECT_EQ(ring.read(0).line, "4,0,2,-;after\n");
}

// The right column is what /dev/kmsg of Linux 6.18 answered to the same writes.
TEST(KernelWrite, facility_and_level_follow_the_writer) {
  const auto prio = [](std::string_view written) {
    const KernelPriority p = parse_kernel_write(written).priority;
    return p.facility * 8 + p.level;
  };
  EXPECT_EQ(prio("plain"), 12u);
  EXPECT_EQ(prio("<4>user cannot be the kernel"), 12u);
  EXPECT_EQ(prio("<7>x"), 15u);
  EXPECT_EQ(prio("<30>facility 3 is kept"), 30u);
  EXPECT_EQ(prio("<12345>big"), 57u);
  EXPECT_EQ(prio("<4x>bad prefix"), 12u);
  EXPECT_EQ(parse_kernel_write("<4x>bad prefix").text, "<4x>bad prefix");
  EXPECT_EQ(parse_kernel_write("<4>one newline goes\n\n").text, "one newline goes\n");
}

}  // namespace
}  // namespace tundish::lab
