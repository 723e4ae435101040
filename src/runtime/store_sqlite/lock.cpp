#include "runtime/store_sqlite/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/text.hpp"
#include "runtime/store_sqlite/guard.hpp"

namespace tundish::store_sqlite {
namespace {

std::string read_holder(int file) {
  char text[32] = {};
  const ssize_t size = ::pread(file, text, sizeof text - 1, 0);
  const auto pid = parse_integer(trim(std::string_view(text, size > 0 ? std::size_t(size) : 0)));
  return pid ? "process " + std::to_string(*pid) : "another process";
}

Result<> sync_path(const std::string& path, int flags) {
  const process::Fd file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) return file_error("cannot sync", path);
  return {};
}

}  // namespace

Result<StoreLock> StoreLock::take(const std::string& store_path) {
  const std::string path = store_path + ".lock";
  process::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return file_error("cannot open", path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return file_error("cannot lock", path);
    return make_error(Code::conflict,
                      "store " + store_path + " is in use by " + read_holder(file.get()))
        .with_remedy("stop that process, or give this one a store of its own");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  const bool written = ::ftruncate(file.get(), 0) == 0 &&
                       ::pwrite(file.get(), pid.data(), pid.size(), 0) == ssize_t(pid.size());
  if (!written) return file_error("cannot write", path);
  return StoreLock(std::move(file));
}

std::string resolve_path(const std::string& path) {
  std::error_code failed;
  const auto resolved = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : resolved.string();
}

Result<> create_private_file(const std::string& path) {
  const process::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return file_error("cannot create", path);
  return {};
}

Result<> sync_file(const std::string& path) { return sync_path(path, O_RDWR); }

Result<> sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return sync_path(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY);
}

}  // namespace tundish::store_sqlite
