// What only a store in a file can suffer: other processes, other programs, crashes and full disks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "store_fixture.hpp"

namespace tundish::contract {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Error error_of_open(const std::string& path) {
  const auto store = SqliteStore::open(path);
  return store ? make_error(Code::internal, "it opened") : store.error();
}

std::string content_of(const std::string& path) {
  const auto content = process::read_file(path);
  return content ? *content : content.error().message();
}

HistoryQuery everything() {
  HistoryQuery query;
  query.limit = 1000000;
  return query;
}

mode_t mode_of(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

/// Runs `body` in a child that ends with its result.
template <class Body>
int in_child(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SqliteStore, a_second_process_is_refused_and_told_who_holds_it) {
  SqliteDisk disk;
  disk.open();
  const std::string holder = "process " + std::to_string(::getpid());
  const std::string link = disk.backup_name("link.db");
  std::filesystem::create_symlink(disk.path(), link);
  for (const auto& path : {disk.path(), link}) {
    const int refused = in_child([&] {
      const Error error = error_of_open(path);
      return error.code == Code::conflict && error.what.find(holder) != std::string::npos ? 0 : 1;
    });
    EXPECT_EQ(refused, 0) << path;
  }
  EXPECT_EQ(error_of_open(disk.path()).code, Code::conflict);  // nor twice in one process
  disk.close();
  EXPECT_EQ(in_child([&] { return SqliteStore::open(disk.path()).has_value() ? 0 : 1; }), 0);
}

TEST(SqliteStore, its_files_are_for_its_user_only) {
  SqliteDisk disk;
  write_five(disk.open());
  const std::string backup = disk.backup_name("b");
  ASSERT_TRUE(disk.open().backup(backup).has_value());
  for (const auto& path : {disk.path(), disk.path() + "-wal", disk.path() + ".lock", backup}) {
    EXPECT_EQ(mode_of(path), 0600u) << path;
  }
}

TEST(SqliteStore, the_database_of_another_program_is_refused_untouched) {
  SqliteDisk disk;
  run_sql(disk.path(), "CREATE TABLE music(title TEXT); INSERT INTO music VALUES('x')");
  const std::string before = content_of(disk.path());
  const Error error = error_of_open(disk.path());
  EXPECT_EQ(error.code, Code::conflict);
  EXPECT_THAT(error.message(), HasSubstr("another program"));
  EXPECT_THAT(error.remedy, HasSubstr("another path"));
  EXPECT_EQ(content_of(disk.path()), before);
}

TEST(SqliteStore, a_file_that_is_no_database_is_refused_untouched) {
  SqliteDisk disk;
  const std::string text(5000, 'x');
  ASSERT_TRUE(process::write_file_atomic(disk.path(), text).has_value());
  ASSERT_TRUE(process::write_file_atomic(disk.path() + "-wal", text).has_value());
  EXPECT_EQ(error_of_open(disk.path()).code, Code::corrupt);
  EXPECT_EQ(content_of(disk.path()), text);
  EXPECT_EQ(content_of(disk.path() + "-wal"), text);
}

TEST(SqliteStore, a_store_of_a_newer_version_is_refused_untouched) {
  SqliteDisk disk;
  write_five(disk.open());
  disk.close();
  run_sql(disk.path(), "UPDATE meta SET value = '99' WHERE key = 'schema_version'");
  const Error error = error_of_open(disk.path());
  EXPECT_EQ(error.code, Code::unsupported);
  EXPECT_THAT(error.what, HasSubstr("99"));
  EXPECT_THAT(error.remedy, HasSubstr("newer version"));
  run_sql(disk.path(), "UPDATE meta SET value = '1' WHERE key = 'schema_version'");
  EXPECT_THAT(read_all(disk.open()), SizeIs(5));
}

TEST(SqliteStore, an_absent_folder_is_named) {
  SqliteDisk disk;
  const Error error = error_of_open(disk.backup_name("absent/store.db"));
  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_THAT(error.message(), HasSubstr("absent/store.db"));
}

TEST(SqliteStore, damaged_pages_are_an_error_and_no_crash) {
  SqliteDisk disk;
  Author author(disk.open());
  for (int i = 0; i < 2000; ++i) author.put(author.make_rack("r" + std::to_string(i)));
  ASSERT_TRUE(author.commit().has_value());
  disk.close();
  std::string content = content_of(disk.path());
  ASSERT_GT(content.size(), 200000u);
  std::fill(content.begin() + 40960, content.begin() + 160000, 'Z');
  ASSERT_TRUE(process::write_file_atomic(disk.path(), content).has_value());
  const auto loaded = disk.open().load([](const ObjectBase&) { return Result<>(); });
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, Code::corrupt);
}

/// Writes batch after batch, each `batch_size` racks named after the batch and one entry, and
/// tells the pipe the number of each one that was acknowledged.
constexpr int batch_size = 5;
[[noreturn]] void commit_forever(const std::string& path, int acknowledge) {
  auto store = SqliteStore::open(path);
  if (!store) ::_exit(1);
  const auto done = (*store)->history(everything());
  Author author(**store);
  for (int number = static_cast<int>(done->size()) + 1;; ++number) {
    for (int i = 0; i < batch_size; ++i) {
      Rack rack = author.make_rack("batch " + std::to_string(number));
      rack.spec.site = std::string(300, 'x');
      author.put(rack);
    }
    author.note("batch/" + std::to_string(number));
    if (!author.commit()) ::_exit(2);
    if (::write(acknowledge, &number, sizeof number) != sizeof number) ::_exit(3);
  }
}

/// Starts commit_forever, kills it after `wait` and returns the last number it acknowledged.
int kill_amid_commits(const std::string& path, std::chrono::milliseconds wait) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) commit_forever(path, ends[1]);
  ::close(ends[1]);
  int number = 0;
  int last = 0;
  // The clock starts with the first commit, so that a busy machine kills commits and no start.
  if (::read(ends[0], &number, sizeof number) == sizeof number) last = number;
  std::this_thread::sleep_for(wait);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended with " << WEXITSTATUS(status);
  while (::read(ends[0], &number, sizeof number) == sizeof number) last = number;
  ::close(ends[0]);
  return last;
}

TEST(SqliteStore, after_kill_9_every_acknowledged_batch_is_there_and_whole) {
  SqliteDisk disk;
  std::mt19937 random(std::random_device{}());
  int acknowledged = 0;
  for (int round = 0; round < 12; ++round) {
    acknowledged = kill_amid_commits(disk.path(), std::chrono::milliseconds(random() % 60));
    ASSERT_GT(acknowledged, 0);
    Store& store = disk.open();
    EXPECT_EQ(find_fault(store), "");
    std::map<std::string, int> racks;
    ASSERT_TRUE(store
                    .load([&](const ObjectBase& object) -> Result<> {
                      ++racks[object.meta().name];
                      return {};
                    })
                    .has_value());
    const auto entries = store.history(everything());
    ASSERT_TRUE(entries.has_value());
    ASSERT_EQ(racks.size(), entries->size());
    for (std::size_t i = 1; i <= racks.size(); ++i) {
      EXPECT_EQ(racks["batch " + std::to_string(i)], batch_size) << i;
    }
    // One more may have been durable before its number was told.
    EXPECT_GE(racks.size(), static_cast<std::size_t>(acknowledged));
    EXPECT_LE(racks.size(), static_cast<std::size_t>(acknowledged) + 1);
    disk.close();
  }
}

TEST(SqliteStore, backup_while_commits_go_on) {
  SqliteDisk disk;
  Store& store = disk.open();
  std::atomic<bool> stop = false;
  std::atomic<int> failures = 0;
  std::thread saver([&] {
    for (int i = 0; i < 5; ++i) {
      if (!store.backup(disk.backup_name("b" + std::to_string(i)))) ++failures;
      const auto report = store.verify_history();
      if (!report || !report->intact) ++failures;
    }
    stop = true;
  });
  Author author(store);
  int commits = 0;
  for (; !stop; ++commits) {
    author.put(author.make_rack("a")).put(author.make_rack("b")).note("rack/ab");
    if (!author.commit()) break;
  }
  saver.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GT(commits, 5);
  std::int64_t revision_before = -1;
  for (int i = 0; i < 5; ++i) {
    const auto backup = disk.open_backup(disk.backup_name("b" + std::to_string(i)));
    EXPECT_EQ(find_fault(*backup), "");
    const auto entries = backup->history(everything());
    ASSERT_TRUE(entries.has_value());
    EXPECT_EQ(read_all(*backup).size(), 2 * entries->size());  // whole batches
    EXPECT_GE(backup->head().revision, revision_before);
    revision_before = backup->head().revision;
  }
}

TEST(SqliteStore, a_failed_backup_leaves_no_file) {
  SqliteDisk disk;
  write_five(disk.open());
  const auto failed = disk.open().backup(disk.backup_name("absent/b"));
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Code::not_found);
  EXPECT_FALSE(std::filesystem::exists(disk.backup_name("absent")));
}

/// A file system of 2 MiB that fills up.
class TinyDisk {
 public:
  TinyDisk() : is_mounted_(::mount("tmpfs", path().c_str(), "tmpfs", 0, "size=2m") == 0) {}
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  ~TinyDisk() {
    if (is_mounted_) ::umount2(path().c_str(), MNT_DETACH);
  }
  bool is_mounted() const { return is_mounted_; }
  std::string path() const { return folder_ / ""; }

 private:
  Folder folder_;
  bool is_mounted_;
};

TEST(SqliteStore, a_full_disk_is_reported_and_nothing_half_written) {
  const TinyDisk disk;
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "cannot mount a tmpfs: " << std::strerror(errno) << " (needs root)";
  }
  const std::string path = disk.path() + "store.db";
  const std::string filler = disk.path() + "filler";
  ASSERT_TRUE(process::write_file_atomic(filler, std::string(1 << 20, 'f')).has_value());
  auto store = SqliteStore::open(path);
  ASSERT_TRUE(store.has_value()) << store.error().message();
  Author author(**store);
  Result<> done;
  std::size_t commits = 0;
  for (; done && commits < 10000; commits += done ? 1 : 0) {
    for (int i = 0; i < 4; ++i) {
      Rack rack = author.make_rack("r");
      rack.spec.site = std::string(2000, 'x');
      author.put(rack);
    }
    done = author.note("rack/r").commit();
  }
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, Code::exhausted) << done.error().message();
  EXPECT_THAT(done.error().message(), HasSubstr(path));
  EXPECT_THAT(done.error().remedy, HasSubstr("free space"));
  EXPECT_THAT(read_all(**store), SizeIs(4 * commits));
  EXPECT_EQ(find_fault(**store), "");
  const auto backup = (*store)->backup(disk.path() + "backup");
  ASSERT_FALSE(backup.has_value());
  EXPECT_EQ(backup.error().code, Code::exhausted) << backup.error().message();
  for (const auto& file : std::filesystem::directory_iterator(disk.path())) {
    EXPECT_THAT(file.path().filename().string(), testing::Not(HasSubstr("backup")));
  }

  std::filesystem::remove(filler);
  ASSERT_TRUE(author.put(author.make_rack("after")).note("rack/after").commit().has_value());
  store->reset();
  store = SqliteStore::open(path);
  ASSERT_TRUE(store.has_value()) << store.error().message();
  EXPECT_THAT(read_all(**store), SizeIs(4 * commits + 1));
  EXPECT_EQ(find_fault(**store), "");
}

TEST(RestoreStore, the_replaced_store_is_kept_and_opens) {
  SqliteDisk disk;
  write_five(disk.open());
  const std::string backup = disk.backup_name("b");
  ASSERT_TRUE(disk.open().backup(backup).has_value());
  Author author(disk.open());
  ASSERT_TRUE(author.put(author.make_rack("sixth")).commit().has_value());
  const std::string before = content_of(backup);
  ASSERT_TRUE(disk.restore(backup).has_value());
  ASSERT_TRUE(disk.restore(backup).has_value());
  EXPECT_EQ(content_of(backup), before);
  EXPECT_THAT(read_all(*disk.open_backup(disk.path() + ".before-restore-1")), SizeIs(6));
  const auto second = disk.open_backup(disk.path() + ".before-restore-2");
  EXPECT_EQ(second->head().epoch, 2);
  EXPECT_EQ(disk.open().head().epoch, 3);
  EXPECT_FALSE(std::filesystem::exists(disk.path() + ".restoring"));
}

TEST(RestoreStore, works_where_no_store_is_left_and_moves_up_with_time) {
  SqliteDisk disk;
  write_five(disk.open());
  const std::string backup = disk.backup_name("b");
  ASSERT_TRUE(disk.open().backup(backup).has_value());
  const std::string first = disk.backup_name("first.db");
  const std::string second = disk.backup_name("second.db");
  ASSERT_TRUE(restore_store(backup, first).has_value());
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  ASSERT_TRUE(restore_store(backup, second).has_value());
  const auto early = disk.open_backup(first);
  const auto late = disk.open_backup(second);
  EXPECT_THAT(read_all(*early), SizeIs(6));
  EXPECT_GE(late->head().revision, early->head().revision + 256);
}

TEST(RestoreStore, counts_revisions_of_a_replaced_store_whose_epoch_is_behind) {
  SqliteDisk disk;
  write_five(disk.open());
  const std::string backup = disk.backup_name("b");
  ASSERT_TRUE(disk.open().backup(backup).has_value());
  disk.close();
  run_sql(disk.path(), "UPDATE head SET revision = (7 << 40) + 5");
  ASSERT_TRUE(disk.restore(backup).has_value());
  EXPECT_EQ(disk.open().head().epoch, 8);
  EXPECT_GE(disk.open().head().revision, std::int64_t{8} << 40);
}

TEST(RestoreStore, is_refused_while_a_process_has_the_store_open) {
  SqliteDisk disk;
  write_five(disk.open());
  const std::string backup = disk.backup_name("b");
  ASSERT_TRUE(disk.open().backup(backup).has_value());
  const auto refused = restore_store(backup, disk.path());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(refused.error().what, HasSubstr(std::to_string(::getpid())));
  EXPECT_FALSE(std::filesystem::exists(disk.path() + ".before-restore-1"));
}

TEST(RestoreStore, replaces_a_store_that_is_damaged) {
  SqliteDisk disk;
  write_five(disk.open());
  const std::string backup = disk.backup_name("b");
  ASSERT_TRUE(disk.open().backup(backup).has_value());
  disk.close();
  const std::string rubbish(9000, '?');
  ASSERT_TRUE(process::write_file_atomic(disk.path(), rubbish).has_value());
  ASSERT_TRUE(process::write_file_atomic(disk.path() + "-wal", rubbish).has_value());
  const auto done = disk.restore(backup);
  ASSERT_TRUE(done.has_value()) << done.error().message();
  EXPECT_THAT(read_all(disk.open()), SizeIs(6));
  EXPECT_EQ(content_of(disk.path() + ".before-restore-1"), rubbish);
  EXPECT_EQ(content_of(disk.path() + ".before-restore-1-wal"), rubbish);
}

TEST(RestoreStore, refuses_what_is_no_backup_and_changes_nothing) {
  SqliteDisk disk;
  write_five(disk.open());
  disk.close();
  const std::string foreign = disk.backup_name("foreign.db");
  run_sql(foreign, "CREATE TABLE music(title TEXT)");
  const std::string empty = disk.backup_name("empty.db");
  ASSERT_TRUE(process::write_file_atomic(empty, "").has_value());
  const std::string text = disk.backup_name("text.db");
  ASSERT_TRUE(process::write_file_atomic(text, std::string(5000, 'x')).has_value());
  const std::map<std::string, Code> refused = {{foreign, Code::conflict},
                                               {empty, Code::invalid},
                                               {text, Code::corrupt},
                                               {disk.path(), Code::invalid},
                                               {disk.backup_name("absent"), Code::not_found}};
  for (const auto& [backup, code] : refused) {
    const auto done = restore_store(backup, disk.path());
    ASSERT_FALSE(done.has_value()) << backup;
    EXPECT_EQ(done.error().code, code) << done.error().message();
  }
  const auto over_foreign = restore_store(disk.path(), foreign);
  ASSERT_FALSE(over_foreign.has_value());
  EXPECT_EQ(over_foreign.error().code, Code::conflict);
  EXPECT_FALSE(std::filesystem::exists(disk.path() + ".restoring"));
  EXPECT_FALSE(std::filesystem::exists(disk.path() + ".before-restore-1"));
  EXPECT_THAT(read_all(disk.open()), SizeIs(5));
}

}  // namespace
}  // namespace tundish::contract
