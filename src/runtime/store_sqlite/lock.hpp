#pragma once
// One process per store. Internal to store_sqlite.
#include <string>

#include "base/result.hpp"
#include "runtime/process/fd.hpp"

namespace tundish::store_sqlite {

/// Holds PATH.lock until it is destroyed or the process ends, however it ends. The file stays: to
/// remove it would let two processes lock two files of one name.
class StoreLock {
 public:
  /// `conflict` with the pid of the holder when another process (or this one) has the store open.
  static Result<StoreLock> take(const std::string& store_path);

 private:
  explicit StoreLock(process::Fd file) : file_(std::move(file)) {}
  process::Fd file_;
};

/// The path that all names of the store share: two links to one file must share one lock.
std::string resolve_path(const std::string& path);
/// Makes PATH empty with mode 0600 when it is absent; SQLite gives -wal and -shm the same mode.
Result<> create_private_file(const std::string& path);
/// Makes the content of a file durable.
Result<> sync_file(const std::string& path);
/// Makes renames in the folder of `path` durable.
Result<> sync_folder_of(const std::string& path);

}  // namespace tundish::store_sqlite
