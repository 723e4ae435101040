// A tundishd that ends at once is not started twice a second for ever.
#include "lab/daemon_keeper.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tundish::lab {
namespace {
namespace fs = std::filesystem;

TEST(DaemonKeeper, one_that_does_not_stay_up_is_tried_less_and_less) {
  std::string name = "/tmp/tundish-keeper-XXXXXX";
  const fs::path root = mkdtemp(name.data());
  fs::create_directories(root / "bin");
  fs::create_directories(root / "log");
  std::ofstream(root / "bin/tundishd")
      << "#!/bin/sh\necho 'catalog_dir: no such folder' >&2\nexit 3\n";
  fs::permissions(root / "bin/tundishd", fs::perms::owner_all);
  LabSpec spec;
  spec.root = root;
  spec.bin_dir = root / "bin";
  net::Loop loop;
  DaemonKeeper keeper(loop, spec);
  const Instant end = loop.now() + milliseconds(2600);
  std::function<void()> poll = [&] {
    keeper.poll();
    if (loop.now() >= end) return loop.stop();
    loop.at(loop.now() + milliseconds(20), poll);
  };
  ASSERT_TRUE(keeper.start());
  loop.at(loop.now() + milliseconds(20), poll);
  loop.run();
  // At once, after one second, and not before two more: half a second apart it would be five.
  EXPECT_GE(keeper.starts(), 2);
  EXPECT_LE(keeper.starts(), 3);
  EXPECT_EQ(keeper.failure(), "catalog_dir: no such folder");
  keeper.stop([] {});
  fs::remove_all(root);
}

}  // namespace
}  // namespace tundish::lab
