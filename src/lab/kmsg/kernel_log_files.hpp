#pragma once
// The files of the mount, their open handles and who waits on them: everything the FUSE glue asks
// for, behind one mutex.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lab/kmsg/fuse_api.hpp"
#include "lab/kmsg/kernel_log_ring.hpp"

namespace tundish::lab {

/// One node's file.
struct KernelLogFile {
  std::string node;
  KernelLogRing ring;
};

/// One open() of a file.
struct KernelLogHandle {
  KernelLogFile* file = nullptr;
  std::uint64_t cursor = 0;
  off_t expected_offset = 0;  ///< a read at 0 that is not here follows a silent SEEK_SET 0
  fuse_pollhandle* poll = nullptr;
};

/// A read that found nothing and may block; answered by the next record, a signal or the end.
struct WaitingRead {
  fuse_req_t request = nullptr;
  std::uint64_t handle = 0;
  std::size_t size = 0;
  off_t offset = 0;
};

class KernelLogFiles {
 public:
  /// What lseek(SEEK_END) moves to: far beyond anything a reader can reach by reading.
  static constexpr off_t huge_size = off_t{1} << 40;
  static constexpr fuse_ino_t first_file = 2;  ///< 1 is the directory

  bool add(const std::string& node);
  bool append(const std::string& node, KernelPriority priority, std::string_view text);
  bool boot(const std::string& node);

  fuse_ino_t find(std::string_view node);  ///< 0 when there is none
  bool holds(fuse_ino_t inode);
  std::vector<std::string> names();

  std::uint64_t open(fuse_ino_t inode);
  void release(std::uint64_t handle);
  void read(WaitingRead read, bool may_block);
  /// An errno, 0 when stored.
  int write(std::uint64_t handle, std::string_view text, off_t offset);
  /// The poll events due now; keeps `poll` to be notified by the next record.
  unsigned poll(std::uint64_t handle, fuse_pollhandle* poll);
  void seek_to_newest(std::uint64_t handle);
  void seek_to_oldest(std::uint64_t handle);

  /// Called inside libfuse with the request locked: only marks. answer_interrupted() does the rest.
  void note_interrupt() { interrupted_ = true; }
  void answer_interrupted();
  /// The end of service: waiting reads get ENODEV and nobody is notified any more.
  void shut_down();

 private:
  KernelLogFile* find_locked(std::string_view node);
  void append_locked(KernelLogFile& file, KernelPriority priority, std::string_view text);
  bool try_answer(const WaitingRead& read);

  std::mutex mutex_;
  std::vector<std::unique_ptr<KernelLogFile>> files_;
  std::map<std::uint64_t, KernelLogHandle> handles_;
  std::uint64_t next_handle_ = 1;
  std::vector<WaitingRead> waiting_;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace tundish::lab
