#pragma once
// SQLiteCpp throws; nothing of that leaves this folder. Internal to store_sqlite.
#include <SQLiteCpp/SQLiteCpp.h>

#include <string>
#include <type_traits>
#include <utility>

#include "base/result.hpp"

namespace tundish::store_sqlite {

/// The Error for a fault of SQLite on the store at `path`: says what to do, by cause.
Error sqlite_error(const std::string& path, const SQLite::Exception& fault);
/// The same for a fault of the file system; reads errno.
Error file_error(const std::string& what, const std::string& path);

/// A commit failed. Where SQLite knows that nothing was kept this returns; else the process ends:
/// on what may be lost nothing can be decided, and opening the store anew tells what is in it.
void require_known_outcome(const std::string& path, const SQLite::Exception& fault);

/// Runs `body`, which returns a Result, and turns what SQLite throws into its Error.
template <class Body>
std::invoke_result_t<Body> guard(const std::string& path, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const SQLite::Exception& fault) {
    return sqlite_error(path, fault);
  }
}

}  // namespace tundish::store_sqlite
