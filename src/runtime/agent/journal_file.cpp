#include "runtime/agent/journal_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/log.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

constexpr std::size_t mark_size = 17;  // 16 hex digits and a space

Error file_error(const std::string& path, const char* what) {
  return make_error(errno == ENOSPC ? Code::exhausted : Code::unavailable,
                    std::string(what) + " " + path + ": " + std::strerror(errno));
}

/// FNV-1a, 64 bit: finds torn and rotten lines; nobody attacks a file of the agent's own.
std::string mark_of(std::string_view payload) {
  std::uint64_t hash = 1469598103934665603ULL;
  for (const char c : payload) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  char text[mark_size + 1];
  std::snprintf(text, sizeof text, "%016llx ", static_cast<unsigned long long>(hash));
  return text;
}

std::optional<std::string_view> find_payload(std::string_view line) {
  if (line.size() < mark_size) return std::nullopt;
  const std::string_view payload = line.substr(mark_size);
  if (line.substr(0, mark_size) != mark_of(payload)) return std::nullopt;
  return payload;
}

/// Offset behind the last intact line.
std::size_t replay(std::string_view content, const JournalFile::OnLine& on_line) {
  std::size_t at = 0;
  while (at < content.size()) {
    const std::size_t end = content.find('\n', at);
    if (end == std::string_view::npos) break;
    const auto payload = find_payload(content.substr(at, end - at));
    if (!payload) break;
    on_line(*payload, {static_cast<std::int64_t>(at), static_cast<std::int64_t>(end - at)});
    at = end + 1;
  }
  return at;
}

Result<> write_all(int fd, std::string_view data, const std::string& path) {
  while (!data.empty()) {
    const ssize_t done = ::write(fd, data.data(), data.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return file_error(path, "cannot write");
    data.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

std::string frame(const std::vector<std::string>& payloads, std::int64_t start,
                  std::vector<JournalFile::Place>& places) {
  std::string out;
  for (const auto& payload : payloads) {
    const auto offset = start + static_cast<std::int64_t>(out.size());
    const std::string line = mark_of(payload) + payload;
    places.push_back({offset, static_cast<std::int64_t>(line.size())});
    out += line + "\n";
  }
  return out;
}

void keep_broken_part(const std::string& path, std::string_view rest) {
  const std::size_t newline = rest.find('\n');
  if (newline == std::string_view::npos) return;  // a torn end: the write never returned
  log(LogLevel::error, "journal_corrupt",
      {{"file", path}, {"bytes", static_cast<long>(rest.size())}});
  (void)process::write_file_atomic(path + ".corrupt", std::string(rest), 0600).has_value();
}

}  // namespace

JournalFile::JournalFile(std::string path, int fd, std::int64_t size)
    : path_(std::move(path)), fd_(fd), size_(size) {}

JournalFile::JournalFile(JournalFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(other.fd_), size_(other.size_) {
  other.fd_ = -1;
}

JournalFile& JournalFile::operator=(JournalFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

JournalFile::~JournalFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<JournalFile> JournalFile::open(const std::string& path, const OnLine& on_line) {
  std::string content;
  auto read = process::read_file(path);
  if (read) {
    content = std::move(*read);
  } else if (read.error().code != Code::not_found) {
    return read.error();
  }
  const std::size_t good = replay(content, on_line);
  if (good < content.size()) keep_broken_part(path, std::string_view(content).substr(good));
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return file_error(path, "cannot open");
  JournalFile out(path, fd, static_cast<std::int64_t>(good));
  if (::ftruncate(fd, out.size_) != 0 || ::lseek(fd, out.size_, SEEK_SET) < 0) {
    return file_error(path, "cannot cut");
  }
  return out;
}

Result<std::vector<JournalFile::Place>> JournalFile::append(
    const std::vector<std::string>& payloads) {
  std::vector<Place> places;
  const std::string data = frame(payloads, size_, places);
  const auto written = write_all(fd_, data, path_);
  if (!written || ::fdatasync(fd_) != 0) {
    Error error = written ? file_error(path_, "cannot sync") : written.error();
    // Half a line must not swallow the next one.
    if (::ftruncate(fd_, size_) != 0 || ::lseek(fd_, size_, SEEK_SET) < 0) {
      log(LogLevel::error, "journal_cut_failed", {{"file", path_}});
    }
    return error;
  }
  size_ += static_cast<std::int64_t>(data.size());
  return places;
}

Result<std::string> JournalFile::read(Place place) const {
  std::string line(static_cast<std::size_t>(place.length), '\0');
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t got = ::pread(fd_, line.data() + done, line.size() - done,
                                place.offset + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return file_error(path_, "cannot read");
    done += static_cast<std::size_t>(got);
  }
  const auto payload = find_payload(line);
  if (!payload) return make_error(Code::corrupt, path_ + " changed under the agent");
  return std::string(*payload);
}

Result<std::vector<JournalFile::Place>> JournalFile::rewrite(
    const std::vector<std::string>& payloads) {
  std::vector<Place> places;
  const std::string data = frame(payloads, 0, places);
  TRY_VOID(process::write_file_atomic(path_, data, 0600));
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return file_error(path_, "cannot open");
  ::close(fd_);
  fd_ = fd;
  size_ = static_cast<std::int64_t>(data.size());
  if (::lseek(fd_, 0, SEEK_END) < 0) return file_error(path_, "cannot seek in");
  return places;
}

}  // namespace tundish::agent
