#include "codec/kernel_log/record.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

TEST(KernelRecord, header_text_and_keys_come_apart) {
  const auto record = parse_kernel_record(
      "12,339,5140900,-,caller=T1;NVRM: a;b\\x0ac\\x5cx\n SUBSYSTEM=pci\n "
      "DEVICE=+pci:0000:3b:00.0\n");
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_EQ(record->level, 4);
  EXPECT_EQ(record->facility, 1);
  EXPECT_EQ(record->seq, 339);
  EXPECT_EQ(record->usec, 5140900);
  EXPECT_EQ(record->text, "NVRM: a;b\nc\\x");
  EXPECT_EQ(record->keys.size(), 2u);
  EXPECT_EQ(record->keys.at("DEVICE"), "+pci:0000:3b:00.0");
}

TEST(KernelRecord, facility_zero_is_the_kernel) {
  const auto record = parse_kernel_record("6,0,0,-;Linux version 6.18\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->facility, 0);
  EXPECT_EQ(record->level, 6);
}

TEST(KernelRecord, broken_records_are_errors) {
  for (const char* bytes :
       {"", "\n", "6,1,2,-", "6,1,2;text\n", "x,1,2,-;t\n", "6,,2,-;t\n", "6,1,-2,-;t\n",
        "-6,1,2,-;t\n", "6,1,99999999999999999999,-;t\n", "6,1,2,-\n;t\n", "6,1,2,-;t\nKEY=v\n",
        "6,1,2,-;t\n =v\n", "6,1,2,-;t\n novalue\n", "9999999999,1,2,-;t\n"}) {
    const auto record = parse_kernel_record(bytes);
    ASSERT_FALSE(record) << bytes;
    EXPECT_EQ(record.error().code, Code::corrupt) << bytes;
  }
}

TEST(KernelRecord, a_header_only_record_is_an_empty_line) {
  const auto record = parse_kernel_record("6,1,2,-;");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->text, "");
}

TEST(KernelRecord, escapes_undo_each_other_for_every_byte) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::string shown = escape_kernel_text(all);
  for (const char c : shown) EXPECT_TRUE(c >= ' ' && c <= '~');
  EXPECT_EQ(unescape_kernel_text(shown), all);
}

TEST(KernelRecord, a_backslash_that_starts_no_escape_stays) {
  for (const char* text : {"\\", "\\x", "\\x0", "\\xg0", "a\\n", "\\X41"}) {
    EXPECT_EQ(unescape_kernel_text(text), text);
  }
}

}  // namespace
}  // namespace tundish
