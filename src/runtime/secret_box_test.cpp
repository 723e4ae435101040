#include "runtime/secret_box.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace tundish {
namespace {

class SecretBoxTest : public testing::Test {
 protected:
  SecretBoxTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tundish-box-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~SecretBoxTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(SecretBoxTest, the_key_file_is_made_once_for_its_user_only) {
  const auto box = SecretBox::open(path("key"));
  ASSERT_TRUE(box.has_value()) << box.error().message();
  struct stat info = {};
  ASSERT_EQ(::stat(path("key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(info.st_size, 32);
  const auto again = SecretBox::open(path("key"));
  ASSERT_TRUE(again.has_value());
  const auto clear = again->unseal(box->seal("munge"));
  ASSERT_TRUE(clear.has_value());
  EXPECT_EQ(*clear, "munge");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(SecretBoxTest, any_text_comes_back_and_is_not_seen_in_what_is_sealed) {
  const auto box = SecretBox::open(path("key"));
  ASSERT_TRUE(box.has_value());
  for (const std::string& text : {std::string(), std::string("a\0b", 3), std::string(5000, 's')}) {
    const std::string sealed = box->seal(text);
    EXPECT_EQ(sealed.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_NE(sealed, box->seal(text));
    const auto clear = box->unseal(sealed);
    ASSERT_TRUE(clear.has_value());
    EXPECT_EQ(*clear, text);
  }
}

TEST_F(SecretBoxTest, a_changed_text_or_another_key_does_not_open) {
  const auto box = SecretBox::open(path("key"));
  const auto other = SecretBox::open(path("other"));
  ASSERT_TRUE(box.has_value() && other.has_value());
  const std::string sealed = box->seal("password");
  EXPECT_EQ(other->unseal(sealed).error().code, Code::corrupt);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = changed[i] == '0' ? '1' : '0';
    EXPECT_FALSE(box->unseal(changed).has_value()) << i;
  }
  for (const std::string& text : {std::string(), std::string("zz"), std::string("abc"),
                                  sealed.substr(2), sealed + "00", sealed + "z", sealed + "0",
                                  std::string(78, '0')}) {
    EXPECT_FALSE(box->unseal(text).has_value()) << text;
  }
}

TEST_F(SecretBoxTest, a_key_that_others_may_read_is_refused) {
  ASSERT_TRUE(SecretBox::open(path("key")).has_value());
  for (const mode_t mode : {0640u, 0604u, 0620u}) {
    ASSERT_EQ(::chmod(path("key").c_str(), mode), 0);
    const auto refused = SecretBox::open(path("key"));
    ASSERT_FALSE(refused.has_value()) << mode;
    EXPECT_EQ(refused.error().code, Code::denied);
  }
  ASSERT_EQ(::chmod(path("key").c_str(), 0400), 0);
  EXPECT_TRUE(SecretBox::open(path("key")).has_value());
}

TEST_F(SecretBoxTest, a_key_of_the_wrong_size_is_refused_and_kept) {
  for (const std::size_t size : {0u, 31u, 33u}) {
    std::ofstream(path("key")) << std::string(size, 'k');
    ASSERT_EQ(::chmod(path("key").c_str(), 0600), 0);
    const auto refused = SecretBox::open(path("key"));
    ASSERT_FALSE(refused.has_value()) << size;
    EXPECT_EQ(refused.error().code, Code::corrupt);
    EXPECT_EQ(std::filesystem::file_size(path("key")), size);
  }
}

TEST_F(SecretBoxTest, a_missing_folder_is_an_error) {
  const auto refused = SecretBox::open(path("absent/key"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::unavailable);
}

TEST(HashToken, is_sha256) {
  // Source: FIPS 180-2, appendix B.1; checked 2026-11.
  EXPECT_EQ(hash_token("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(hash_token(std::string("abc\0", 4)), hash_token("abc"));
}

TEST(KernelRandom, does_not_repeat_and_uses_every_bit) {
  KernelRandom random;
  std::set<std::uint64_t> seen;
  std::uint64_t ones = 0;
  std::uint64_t zeros = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t value = random.next();
    seen.insert(value);
    ones |= value;
    zeros |= ~value;
  }
  EXPECT_EQ(seen.size(), 200u);
  EXPECT_EQ(ones, ~std::uint64_t{0});
  EXPECT_EQ(zeros, ~std::uint64_t{0});
}

}  // namespace
}  // namespace tundish
