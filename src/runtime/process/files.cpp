#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "runtime/process/fd.hpp"
#include "runtime/process/process.hpp"

namespace tundish::process {
namespace {

Error file_error(const std::string& path, const char* step) {
  const int number = errno;
  const Code code = number == ENOENT   ? Code::not_found
                    : number == EACCES ? Code::denied
                    : number == ENOSPC ? Code::exhausted
                                       : Code::internal;
  return make_error(code, "file '" + path + "': " + step + ": " + std::strerror(number));
}

Result<> write_all(int fd, const std::string& content, const std::string& path) {
  for (std::size_t done = 0; done < content.size();) {
    const auto wrote = write(fd, content.data() + done, content.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return file_error(path, "write");
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

Result<> write_temporary(const std::string& path, const std::string& content, int mode) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return file_error(path, "create");
  TRY_VOID(write_all(file.get(), content, path));
  // Not by open(): the umask would take bits away.
  if (fchmod(file.get(), static_cast<mode_t>(mode)) != 0) return file_error(path, "chmod");
  if (fsync(file.get()) != 0) return file_error(path, "fsync");
  return {};
}

/// The rename itself lives in the directory.
Result<> sync_directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "."
                                : slash == 0               ? "/"
                                                           : path.substr(0, slash);
  const Fd opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return file_error(directory, "open");
  // Some file systems cannot sync a directory and say EINVAL.
  if (fsync(opened.get()) != 0 && errno != EINVAL) return file_error(directory, "fsync");
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return file_error(path, "open");
  std::string content;
  std::array<char, 16 << 10> buffer;
  for (;;) {
    const auto got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, "read");
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Result<> write_file_atomic(const std::string& path, const std::string& content, int mode) {
  static std::atomic<unsigned> serial{0};
  const std::string temporary =
      path + ".tmp." + std::to_string(getpid()) + "." + std::to_string(++serial);
  auto written = write_temporary(temporary, content, mode);
  if (written && rename(temporary.c_str(), path.c_str()) != 0) {
    written = file_error(path, "rename");
  }
  if (!written) {
    unlink(temporary.c_str());
    return written;
  }
  return sync_directory_of(path);
}

}  // namespace tundish::process
