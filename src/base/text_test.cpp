#include "base/text.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

TEST(Text, splits_and_joins) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
}

TEST(Text, trims_blanks_of_every_kind) { EXPECT_EQ(trim(" \t a b\r\n"), "a b"); }

TEST(Text, a_number_is_the_whole_text_or_nothing) {
  EXPECT_EQ(parse_integer("79"), 79);
  EXPECT_EQ(parse_integer("3b", 16), 0x3b);
  EXPECT_EQ(parse_integer("79,"), std::nullopt);
  EXPECT_EQ(parse_integer(""), std::nullopt);
  EXPECT_EQ(parse_integer("99999999999999999999"), std::nullopt);
}

}  // namespace
}  // namespace tundish
