#include "model/prefix.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

TEST(prefix, bad_text_is_no_prefix) {
  for (const char* bad :
       {"", "10.0.0.0", "10.0.0/8", "10.0.0.0/33", "10.0.0.1/24", "10.0.0.256/32", "10.0.0.0/-1",
        "010.0.0.0/8", "10.0.0.0/08", "10.0.0.0.0/8", "a.b.c.d/8", "10.0.0.0/ 8", "10..0.0/8"}) {
    EXPECT_FALSE(parse_prefix(bad)) << bad;
  }
  EXPECT_EQ(render_prefix(*parse_prefix("10.64.1.0/24")), "10.64.1.0/24");
  EXPECT_EQ(render_prefix(*parse_prefix("0.0.0.0/0")), "0.0.0.0/0");
  EXPECT_EQ(render_prefix(*parse_interface("10.10.0.1/24")), "10.10.0.0/24");
}

TEST(prefix, overlap_is_containment_either_way) {
  const auto wide = *parse_prefix("10.0.0.0/8");
  const auto narrow = *parse_prefix("10.64.1.0/24");
  EXPECT_TRUE(wide.overlaps(narrow));
  EXPECT_TRUE(narrow.overlaps(wide));
  EXPECT_FALSE(narrow.overlaps(*parse_prefix("10.64.2.0/24")));
  EXPECT_TRUE(parse_prefix("0.0.0.0/0")->contains(wide));
}

TEST(prefix, a_cover_holds_the_addresses_and_no_other) {
  std::vector<std::uint32_t> addresses;
  const auto base = *parse_ipv4("100.64.0.0");
  for (std::uint32_t i = 1; i <= 16; ++i) addresses.push_back(base + i);
  EXPECT_EQ(cover_exactly(addresses),
            (std::vector<std::string>{"100.64.0.1/32", "100.64.0.2/31", "100.64.0.4/30",
                                      "100.64.0.8/29", "100.64.0.16/32"}));
  EXPECT_EQ(cover_exactly({base + 3, base + 2, base + 3}),
            (std::vector<std::string>{"100.64.0.2/31"}));
  EXPECT_TRUE(cover_exactly({}).empty());
}

}  // namespace
}  // namespace tundish
