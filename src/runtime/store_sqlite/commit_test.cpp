// A disk that fails in a commit: the process must not go on as if it knew what was kept.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "runtime/store_sqlite/sqlite_store.hpp"

namespace {
bool disk_fails = false;

int sync_or_fail(long call, int file) {
  if (disk_fails) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(call, file));
}
}  // namespace

// Found before the C library's, also by SQLite.
extern "C" int fdatasync(int file) { return sync_or_fail(SYS_fdatasync, file); }
extern "C" int fsync(int file) { return sync_or_fail(SYS_fsync, file); }

namespace tundish {
namespace {

Batch batch_of(std::int64_t revision) {
  HistoryEntry entry;
  entry.revision = revision;
  entry.operation = "put_site";
  Batch batch;
  batch.history.push_back(entry);
  return batch;
}

class StoreCommit : public testing::Test {
 protected:
  StoreCommit() {
    folder_ =
        std::filesystem::temp_directory_path() / ("tundish-commit-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~StoreCommit() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "store.sqlite").string(); }

  std::filesystem::path folder_;
};

TEST_F(StoreCommit, ends_the_process_when_a_sync_fails) {
  EXPECT_DEATH(
      {
        auto store = SqliteStore::open(path());
        if (!store || !(*store)->commit(batch_of(1))) ::_exit(0);
        disk_fails = true;
        (void)(*store)->commit(batch_of(2));
        ::_exit(0);  // it went on
      },
      "store_commit_unknown");
  auto store = SqliteStore::open(path());
  ASSERT_TRUE(store) << store.error().message();
  const auto verified = (*store)->verify_history();
  ASSERT_TRUE(verified);
  EXPECT_TRUE(verified->intact) << "whichever of the two it is, it is whole";
  EXPECT_GE(verified->entries, 1);
}

}  // namespace
}  // namespace tundish
