#include "runtime/agent/record_source.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/text.hpp"

namespace tundish {
namespace {

std::string errno_text(int error) { return std::generic_category().message(error); }

class KmsgSource final : public RecordSource {
 public:
  explicit KmsgSource(KmsgPaths paths) : paths_(std::move(paths)) {}
  KmsgSource(const KmsgSource&) = delete;
  KmsgSource& operator=(const KmsgSource&) = delete;
  ~KmsgSource() override { KmsgSource::close(); }

  Result<std::string> open() override {
    close();
    std::string boot = TRY(boot_id());
    fd_ = ::open(paths_.log.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd_ < 0) {
      return make_error(Code::unavailable, "open " + paths_.log + ": " + errno_text(errno));
    }
    return boot;
  }

  void close() override {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    broken_ = false;
  }

  Result<std::string> boot_id() override {
    const int fd = ::open(paths_.boot_id.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      return make_error(Code::unavailable, "open " + paths_.boot_id + ": " + errno_text(errno));
    }
    std::array<char, 128> buffer;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    ::close(fd);
    const std::string_view all(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    std::string id(trim(all));
    if (id.empty()) return make_error(Code::unavailable, paths_.boot_id + " is empty");
    return id;
  }

  Read read() override {
    if (fd_ < 0) return {State::lost, {}, "not open"};
    // The kernel refuses a buffer shorter than the record; its longest is 8 KiB.
    std::array<char, 16384> buffer;
    const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
    if (got > 0) {
      broken_ = false;
      return {State::record, std::string(buffer.data(), static_cast<std::size_t>(got)), {}};
    }
    if (got == 0) return {State::lost, {}, paths_.log + " has ended"};
    const int error = errno;
    // A record longer than any of the kernel's own is gone for this reader, as one that was
    // overwritten is; opening again would only come to it again.
    if (error == EPIPE || error == EINVAL) {
      broken_ = false;
      return {State::overrun, {}, {}};
    }
    if (error == EINTR) return {};
    // An overrun raises POLLERR too, but then read() says EPIPE: POLLERR with nothing to read is
    // a source that died.
    if (error == EAGAIN && !broken_) return {};
    const std::string why = error == EAGAIN ? "poll reports an error" : errno_text(error);
    return {State::lost, {}, paths_.log + ": " + why};
  }

  void wait(Duration limit) override {
    const int timeout = static_cast<int>(std::clamp<std::int64_t>(limit.ms(), 0, 1000000));
    pollfd entry{fd_, POLLIN, 0};
    const int ready = ::poll(&entry, fd_ < 0 ? 0 : 1, timeout);
    broken_ = ready > 0 && (entry.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
  }

  int descriptor() const override { return fd_; }

 private:
  KmsgPaths paths_;
  int fd_ = -1;
  bool broken_ = false;
};

}  // namespace

std::unique_ptr<RecordSource> make_kmsg_source(KmsgPaths paths) {
  return std::make_unique<KmsgSource>(std::move(paths));
}

}  // namespace tundish
