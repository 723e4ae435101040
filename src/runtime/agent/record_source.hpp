#pragma once
// Where kernel log records come from: /dev/kmsg, a FUSE file with its semantics, a test.
#include <memory>
#include <string>

#include "base/result.hpp"

namespace tundish {

class RecordSource {
 public:
  enum class State {
    record,
    empty,    ///< nothing more now
    overrun,  ///< records are lost to this reader: the next one's number says how many
    lost      ///< the source is gone; close and open again
  };
  struct Read {
    State state = State::empty;
    std::string bytes;   ///< one whole record
    std::string reason;  ///< why it is lost
  };

  virtual ~RecordSource() = default;
  /// Starts at the oldest record and returns the id of the running boot.
  virtual Result<std::string> open() = 0;
  virtual void close() = 0;
  virtual Result<std::string> boot_id() = 0;
  /// Never blocks.
  virtual Read read() = 0;
  /// Returns early when there may be something to read; only sleeps while closed.
  virtual void wait(Duration limit) = 0;
  /// For a loop's poll; -1 while closed.
  virtual int descriptor() const = 0;
};

struct KmsgPaths {
  std::string log = "/dev/kmsg";
  std::string boot_id = "/proc/sys/kernel/random/boot_id";
};

/// Asks for nothing but the reading rules of /dev/kmsg: the file need not be a character device.
std::unique_ptr<RecordSource> make_kmsg_source(KmsgPaths paths);

}  // namespace tundish
