// A port of a veth pair stands in for a service node's; to make one needs root, as the agent does.
#include "runtime/agent/controller_address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/agent/stages.hpp"
#include "runtime/agent/teardown.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class AddressOfAController : public testing::Test {
 protected:
  AddressOfAController() {
    char path[] = "/tmp/tundish-address-XXXXXX";
    dir_ = ::mkdtemp(path);
    const std::string pid = std::to_string(::getpid());
    port_ = "ta" + pid;
    has_port_ =
        run_ip({"link", "add", port_, "type", "veth", "peer", "name", "tb" + pid}, seconds(5))
            .has_value();
  }
  ~AddressOfAController() override {
    if (has_port_) (void)run_ip({"link", "del", port_}, seconds(5));
    fs::remove_all(dir_);
  }
  // 192.0.2.0/24 is for examples. Source: RFC 5737, section 3; checked 2026-11.
  static std::string address(int last) { return "192.0.2." + std::to_string(last); }
  AddressPlan plan(int last) const { return {port_, address(last), 32, Others::keep}; }
  SetupController setup(const std::string& cluster, int last) const {
    SetupController out;
    out.cluster = cluster;
    out.interface = port_;
    out.address = address(last);
    out.prefix_length = 32;
    return out;
  }
  std::string on_port() const {
    return run_ip({"-o", "-4", "addr", "show", "dev", port_}, seconds(5)).value_or("none");
  }

  std::string dir_, port_;
  bool has_port_ = false;
};

TEST_F(AddressOfAController, is_taken_off_and_others_stay) {
  if (!has_port_) GTEST_SKIP() << "needs root to make a port";
  ASSERT_TRUE(record_controller_address(dir_, setup("train-1", 1), PortPlace::shared));
  ASSERT_TRUE(record_controller_address(dir_, setup("tune-2", 2), PortPlace::shared));
  ASSERT_TRUE(apply_address(plan(1), seconds(5)));
  ASSERT_TRUE(apply_address(plan(2), seconds(5)));
  ASSERT_TRUE(drop_controller_address(dir_, "train-1"));
  EXPECT_THAT(on_port(), Not(HasSubstr(address(1) + "/")));
  EXPECT_THAT(on_port(), HasSubstr(address(2) + "/"));
  EXPECT_FALSE(load_controller_address(dir_, "train-1").value()) << "and forgotten";
  EXPECT_TRUE(load_controller_address(dir_, "tune-2").value());
  EXPECT_TRUE(drop_controller_address(dir_, "train-1")) << "a repeat is done";
}

TEST_F(AddressOfAController, gives_way_to_a_new_one) {
  if (!has_port_) GTEST_SKIP() << "needs root to make a port";
  ASSERT_TRUE(record_controller_address(dir_, setup("train-1", 1), PortPlace::shared));
  ASSERT_TRUE(apply_address(plan(1), seconds(5)));
  ASSERT_TRUE(record_controller_address(dir_, setup("train-1", 3), PortPlace::shared));
  EXPECT_THAT(on_port(), Not(HasSubstr(address(1) + "/")));
  EXPECT_EQ(load_controller_address(dir_, "train-1").value()->address, address(3));
}

TEST_F(AddressOfAController, that_was_noted_and_never_set_is_dropped) {
  if (!has_port_) GTEST_SKIP() << "needs root to make a port";
  ASSERT_TRUE(record_controller_address(dir_, setup("train-1", 3), PortPlace::shared));
  EXPECT_TRUE(drop_controller_address(dir_, "train-1"));
  EXPECT_FALSE(load_controller_address(dir_, "train-1").value());
}

TEST_F(AddressOfAController, is_refused_beside_the_same_prefix_where_nothing_keeps_them_apart) {
  auto mine = setup("train-1", 2);
  mine.prefix_length = 24;
  ASSERT_TRUE(record_controller_address(dir_, mine, PortPlace::shared));
  auto theirs = setup("tune-2", 9);
  theirs.prefix_length = 24;
  const auto refused = check_shared_prefix(dir_, theirs);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(refused.error().message(), HasSubstr("192.0.2.0/24 overlaps that of train-1"));
  EXPECT_TRUE(check_shared_prefix(dir_, mine)) << "a repeat of its own";
  theirs.address = "198.51.100.2";
  EXPECT_TRUE(check_shared_prefix(dir_, theirs));
}

TEST_F(AddressOfAController, is_never_read_from_a_file_that_says_something_else) {
  EXPECT_FALSE(drop_controller_address(dir_, "../train"));
  fs::create_directories(dir_ + "/controllers");
  const std::string file = dir_ + "/controllers/train-1.json";
  ASSERT_TRUE(process::write_file_atomic(
      file, R"({"interface":"lo; reboot","address":"192.0.2.1","prefix_length":32})", 0600));
  const auto done = drop_controller_address(dir_, "train-1");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::corrupt);
}

}  // namespace
}  // namespace tundish::agent
