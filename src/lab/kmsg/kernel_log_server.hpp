#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tundish::lab {

class FuseLoop;
class KernelLogFiles;

/// A FUSE mount with one file per node that behaves as that node's /dev/kmsg. The lab bind-mounts
/// `<directory>/<node>` over /dev/kmsg inside the node's mount namespace.
///
/// Owns one thread; every method may be called from any thread. The destructor unmounts: readers
/// that still hold a file open then see ENOTCONN, as after a crash of the server.
///
/// Unlike the kernel: fstat says regular file of 1 TiB (FUSE has no other way to see SEEK_END),
/// poll right after SEEK_SET 0 still shows the old cursor until the next read, and a write without
/// a final newline is readable at once (the kernel holds it back until the next record).
class KernelLogServer {
 public:
  /// Mounts on an existing empty directory; a dead mount left there by a killed server is removed.
  static Result<std::unique_ptr<KernelLogServer>> mount(const std::string& directory);

  KernelLogServer(const KernelLogServer&) = delete;
  KernelLogServer& operator=(const KernelLogServer&) = delete;
  ~KernelLogServer();

  /// A second node of the same name is a `conflict`.
  Result<> add_node(const std::string& node);
  /// One record of the kernel itself (facility 0). A newline inside reads as `\x0a`.
  Result<> append(const std::string& node, unsigned level, std::string_view text);
  /// Empties the ring and numbers from 0 again; cursors of files still open move to the oldest.
  Result<> boot(const std::string& node);

 private:
  KernelLogServer();

  std::unique_ptr<KernelLogFiles> files_;
  std::unique_ptr<FuseLoop> loop_;  ///< serves files_, so it goes first
};

}  // namespace tundish::lab
