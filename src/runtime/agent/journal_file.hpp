#pragma once
// Append-only file of lines that a crash can cut anywhere: what is read back is always a prefix of
// what was written, and everything that an append returned for is in it.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tundish::agent {

class JournalFile {
 public:
  struct Place {
    std::int64_t offset = 0;
    std::int64_t length = 0;
  };
  using OnLine = std::function<void(std::string_view payload, Place place)>;

  /// Hands every intact line to `on_line` and cuts what follows the first broken one. Broken lines
  /// that are not just a torn end are kept in "PATH.corrupt" for people.
  static Result<JournalFile> open(const std::string& path, const OnLine& on_line);
  JournalFile(JournalFile&& other) noexcept;
  JournalFile& operator=(JournalFile&& other) noexcept;
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  /// Durable when it returns. One payload has no newline.
  Result<std::vector<Place>> append(const std::vector<std::string>& payloads);
  Result<std::string> read(Place place) const;
  /// Replaces the whole content; after a crash it is the old or the new one.
  Result<std::vector<Place>> rewrite(const std::vector<std::string>& payloads);
  std::int64_t size() const { return size_; }

 private:
  JournalFile(std::string path, int fd, std::int64_t size);
  std::string path_;
  int fd_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace tundish::agent
