#include "lab/kmsg/fuse_loop.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tundish::lab {
namespace {

KernelLogFiles& files_of(fuse_req_t request) {
  return *static_cast<KernelLogFiles*>(fuse_req_userdata(request));
}

struct stat attributes_of(fuse_ino_t inode) {
  struct stat out {};
  out.st_ino = inode;
  if (inode == FUSE_ROOT_ID) {
    out.st_mode = S_IFDIR | 0755;
    out.st_nlink = 2;
  } else {
    out.st_mode = S_IFREG | 0644;
    out.st_nlink = 1;
    out.st_size = KernelLogFiles::huge_size;
  }
  return out;
}

bool is_known(fuse_req_t request, fuse_ino_t inode) {
  return inode == FUSE_ROOT_ID || files_of(request).holds(inode);
}

// Nothing may be cached: a getattr must reach us at every SEEK_END.
void on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const fuse_ino_t inode = parent == FUSE_ROOT_ID ? files_of(request).find(name) : 0;
  if (inode == 0) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  fuse_entry_param entry{};
  entry.ino = inode;
  entry.attr = attributes_of(inode);
  fuse_reply_entry(request, &entry);
}

// The kernel asks with a file handle only to learn where the end is: that is lseek(SEEK_END).
void on_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  if (!is_known(request, inode)) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  if (info != nullptr && inode != FUSE_ROOT_ID) files_of(request).seek_to_newest(info->fh);
  const struct stat attributes = attributes_of(inode);
  fuse_reply_attr(request, &attributes, 0.0);
}

// A shell's `>` truncates before it writes: accepted without effect, as by a device.
void on_setattr(fuse_req_t request, fuse_ino_t inode, struct stat*, int, fuse_file_info*) {
  const struct stat attributes = attributes_of(inode);
  fuse_reply_attr(request, &attributes, 0.0);
}

void on_open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  if (inode == FUSE_ROOT_ID || !files_of(request).holds(inode)) {
    fuse_reply_err(request, inode == FUSE_ROOT_ID ? EISDIR : ENOENT);
    return;
  }
  info->fh = files_of(request).open(inode);
  info->direct_io = 1;  // one read() of the reader is one read here
  const std::uint64_t handle = info->fh;
  if (fuse_reply_open(request, info) != 0) files_of(request).release(handle);
}

void on_release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  files_of(request).release(info->fh);
  fuse_reply_err(request, 0);
}

void on_interrupt(fuse_req_t, void* files) {
  static_cast<KernelLogFiles*>(files)->note_interrupt();
}

void on_read(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info* info) {
  const bool may_block = (info->flags & O_NONBLOCK) == 0;
  if (may_block) fuse_req_interrupt_func(request, on_interrupt, &files_of(request));
  files_of(request).read(
      {.request = request, .handle = info->fh, .size = size, .offset = offset}, may_block);
}

void on_write(fuse_req_t request, fuse_ino_t, const char* data, std::size_t size, off_t offset,
              fuse_file_info* info) {
  const int error = files_of(request).write(info->fh, std::string_view(data, size), offset);
  if (error != 0) {
    fuse_reply_err(request, error);
  } else {
    fuse_reply_write(request, size);
  }
}

void on_poll(fuse_req_t request, fuse_ino_t, fuse_file_info* info, fuse_pollhandle* poll) {
  fuse_reply_poll(request, files_of(request).poll(info->fh, poll));
}

// SEEK_SET, SEEK_CUR and SEEK_END are settled by the kernel; SEEK_DATA comes here and means "the
// first record since the log was cleared", which nobody can do to these files.
void on_lseek(fuse_req_t request, fuse_ino_t, off_t, int whence, fuse_file_info* info) {
  if (whence != SEEK_DATA) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  files_of(request).seek_to_oldest(info->fh);
  fuse_reply_lseek(request, 0);
}

void on_readdir(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info*) {
  std::vector<std::string> names = {".", ".."};
  for (auto& name : files_of(request).names()) names.push_back(std::move(name));
  std::vector<char> buffer(size);
  std::size_t used = 0;
  for (auto i = static_cast<std::size_t>(offset); i < names.size(); ++i) {
    const struct stat attributes = attributes_of(i < 2 ? FUSE_ROOT_ID : i);
    const std::size_t needed =
        fuse_add_direntry(request, buffer.data() + used, size - used, names[i].c_str(),
                          &attributes, static_cast<off_t>(i + 1));
    if (needed > size - used) break;
    used += needed;
  }
  fuse_reply_buf(request, buffer.data(), used);
}

fuse_lowlevel_ops make_operations() {
  fuse_lowlevel_ops out{};
  out.lookup = on_lookup;
  out.getattr = on_getattr;
  out.setattr = on_setattr;
  out.open = on_open;
  out.release = on_release;
  out.read = on_read;
  out.write = on_write;
  out.poll = on_poll;
  out.lseek = on_lseek;
  out.readdir = on_readdir;
  return out;
}

// A killed server leaves a mount that answers ENOTCONN; nothing else may be covered silently.
void remove_dead_mount(const std::string& directory) {
  struct stat unused {};
  if (stat(directory.c_str(), &unused) != 0 && errno == ENOTCONN) {
    umount2(directory.c_str(), MNT_DETACH);
  }
}

Error fuse_error(const std::string& directory, const std::string& step) {
  return make_error(Code::unavailable, "cannot " + step + " the kernel log files at " + directory)
      .with_remedy("needs root, /dev/fuse and an existing empty directory");
}

}  // namespace

Result<std::unique_ptr<FuseLoop>> FuseLoop::start(KernelLogFiles& files,
                                                  const std::string& directory) {
  remove_dead_mount(directory);
  static const fuse_lowlevel_ops operations = make_operations();
  std::array<std::string, 3> words = {"tundish-kmsg", "-o",
                                      "allow_other,default_permissions,fsname=tundish-kmsg"};
  std::array<char*, 3> argv = {words[0].data(), words[1].data(), words[2].data()};
  fuse_args arguments = FUSE_ARGS_INIT(static_cast<int>(argv.size()), argv.data());
  std::unique_ptr<FuseLoop> loop(new FuseLoop(files));
  loop->session_ = fuse_session_new(&arguments, &operations, sizeof(operations), &files);
  fuse_opt_free_args(&arguments);
  if (loop->session_ == nullptr) return fuse_error(directory, "prepare");
  loop->stop_fd_ = eventfd(0, EFD_CLOEXEC);
  if (loop->stop_fd_ < 0) return fuse_error(directory, "watch");
  if (fuse_session_mount(loop->session_, directory.c_str()) != 0) {
    return fuse_error(directory, "mount");
  }
  loop->mounted_ = true;
  loop->thread_ = std::thread([raw = loop.get()] { raw->run(); });
  return loop;
}

// Not fuse_session_loop: that one cannot be woken, nor answer interrupted reads between requests.
void FuseLoop::run() {
  fuse_buf buffer{};
  std::array<pollfd, 2> watched = {
      pollfd{.fd = fuse_session_fd(session_), .events = POLLIN, .revents = 0},
      pollfd{.fd = stop_fd_, .events = POLLIN, .revents = 0}};
  while (fuse_session_exited(session_) == 0) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
    if (watched[1].revents != 0) break;
    if (watched[0].revents == 0) continue;
    const int got = fuse_session_receive_buf(session_, &buffer);
    if (got == -EINTR || got == -EAGAIN) continue;
    if (got <= 0) break;
    fuse_session_process_buf(session_, &buffer);
    files_.answer_interrupted();
  }
  std::free(buffer.mem);
  files_.shut_down();
}

FuseLoop::~FuseLoop() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    if (write(stop_fd_, &one, sizeof(one)) == sizeof(one)) thread_.join();
  }
  if (mounted_) fuse_session_unmount(session_);
  if (session_ != nullptr) fuse_session_destroy(session_);
  if (stop_fd_ >= 0) close(stop_fd_);
}

}  // namespace tundish::lab
