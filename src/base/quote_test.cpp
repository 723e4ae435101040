#include "base/quote.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

TEST(Quote, what_is_long_is_cut_between_characters) {
  EXPECT_EQ(shorten("train"), "train");
  EXPECT_EQ(shorten(std::string(64, 'x')), std::string(64, 'x'));
  EXPECT_EQ(shorten(std::string(65, 'x')), std::string(64, 'x') + "…");
  std::string umlauts;
  for (int i = 0; i < 70; ++i) umlauts += "ü";
  EXPECT_EQ(shorten(umlauts), umlauts.substr(0, 128) + "…");
  EXPECT_EQ(in_quotes("a b"), "\"a b\"");
  EXPECT_EQ(in_quotes(std::string(1 << 20, 'x')).size(), 64 + 2 + std::string("…").size());
}

}  // namespace
}  // namespace tundish
