#include "runtime/store_sqlite/guard.hpp"

#include <sqlite3.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/check.hpp"
#include "base/log.hpp"

namespace tundish::store_sqlite {
namespace {

/// SQLite reports a full disk as a plain I/O error where it maps memory or cuts a file.
bool is_disk_full(const std::string& path) {
  struct statvfs info = {};
  const auto folder = std::filesystem::path(path).parent_path();
  return ::statvfs(folder.empty() ? "." : folder.c_str(), &info) == 0 && info.f_bavail == 0;
}

Error full_error(const std::string& path, const std::string& why) {
  return make_error(Code::exhausted, "no space left for the store " + path + ": " + why)
      .with_remedy("free space on its file system; nothing of this write was kept");
}

}  // namespace

Error sqlite_error(const std::string& path, const SQLite::Exception& fault) {
  const std::string why = fault.what();
  const std::string failed = "store " + path + ": " + why;
  switch (fault.getErrorCode() & 255) {  // the low byte of an extended code
    case SQLITE_FULL: return full_error(path, why);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return make_error(Code::unavailable, failed)
          .with_remedy("another program has the file open; close it");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return make_error(Code::corrupt, failed)
          .with_remedy("check the path and the disk; restore the newest backup if it is damaged");
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      if (is_disk_full(path)) return full_error(path, why);
      return make_error(Code::unavailable, failed)
          .with_remedy("make sure that its folder exists and that this user may write there");
    case SQLITE_IOERR:
      if (is_disk_full(path)) return full_error(path, why);
      return make_error(Code::unavailable, failed).with_remedy("check the disk and its kernel log");
    default: return make_error(Code::internal, failed);
  }
}

void require_known_outcome(const std::string& path, const SQLite::Exception& fault) {
  const int code = fault.getErrorCode() & 255;
  // A commit that found no room, or was not let in, wrote no commit record.
  if (code == SQLITE_FULL || code == SQLITE_BUSY || code == SQLITE_LOCKED) return;
  log(LogLevel::error, "store_commit_unknown",
      {{"store", path},
       {"why", fault.what()},
       {"code", fault.getExtendedErrorCode()},
       {"remedy", "check the disk; the process ends, and the next start reads what was kept"}});
  check(false, "whether a commit is on the disk must be known");
}

Error file_error(const std::string& what, const std::string& path) {
  const int number = errno;
  const std::string text = what + " " + path + ": " + std::strerror(number);
  if (number == ENOSPC || number == EDQUOT) {
    return make_error(Code::exhausted, text).with_remedy("free space on its file system");
  }
  if (number == ENOENT) {
    return make_error(Code::not_found, text).with_remedy("check the path; create its folder");
  }
  return make_error(Code::unavailable, text).with_remedy("check owner, rights and disk");
}

}  // namespace tundish::store_sqlite
