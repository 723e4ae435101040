#include "runtime/store_sqlite/copy.hpp"

#include <SQLiteCpp/Backup.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "runtime/process/fd.hpp"
#include "runtime/store_sqlite/lock.hpp"

namespace tundish::store_sqlite {
namespace {

Error exists_error(const std::string& path) {
  return make_error(Code::conflict, path + " exists already")
      .with_remedy("give a new name; a backup never replaces a file");
}

Result<> rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return exists_error(to);
  if (errno != EINVAL && errno != ENOSYS) return file_error("cannot make", to);
  // A file system without that call: the check was made, a race of two backups remains.
  if (::access(to.c_str(), F_OK) == 0) return exists_error(to);
  if (::rename(from.c_str(), to.c_str()) != 0) return file_error("cannot make", to);
  return {};
}

}  // namespace

Result<> copy_into(SQLite::Database& source, const std::string& path) {
  TRY_VOID(guard(path, [&]() -> Result<> {
    SQLite::Database target(path, SQLite::OPEN_READWRITE);
    {
      // All pages in one step: one read transaction, so commits neither wait nor restart it.
      SQLite::Backup backup(target, source);
      if (backup.executeStep(-1) != SQLITE_DONE) {
        return make_error(Code::unavailable, "the store could not be read as a whole")
            .with_remedy("try again");
      }
    }
    target.exec("PRAGMA journal_mode=DELETE");
    return {};
  }));
  return sync_file(path);
}

Result<> save_copy(SQLite::Database& source, const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return exists_error(path);
  std::string partial = path + ".partial.XXXXXX";
  const process::Fd file(::mkostemp(partial.data(), O_CLOEXEC));
  if (!file) return file_error("cannot create", partial);
  Result<> done = copy_into(source, partial);
  if (done) done = rename_to_new(partial, path);
  if (!done) {
    ::unlink(partial.c_str());
    ::unlink((partial + "-journal").c_str());
    return done;
  }
  return sync_folder_of(path);
}

}  // namespace tundish::store_sqlite
