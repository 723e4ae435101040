#include "base/nearest.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

TEST(Nearest, a_word_is_named_only_when_near) {
  EXPECT_EQ(nearest("ecc_rat", {"ecc", "ecc_rate", "fio"}), "ecc_rate");
  EXPECT_EQ(nearest("GPU_WROK", {"gpu_burn", "gpu_work"}), "gpu_work");
  EXPECT_EQ(nearest("nonsense", {"gpu_burn", "gpu_work"}), "");
  EXPECT_EQ(nearest(std::string(1 << 20, 'x'), {"x"}), "");
}

TEST(Nearest, without_a_near_one_all_are_named) {
  EXPECT_EQ(which_word("gpu_wrok", {"gpu_burn", "gpu_work"}), "did you mean gpu_work?");
  EXPECT_EQ(which_word("nonsense", {"gpu_burn", "gpu_work"}), "known: gpu_burn, gpu_work");
  EXPECT_EQ(which_word("nonsense", {}), "");
}

}  // namespace
}  // namespace tundish
