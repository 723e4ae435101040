#include "lab/kmsg/kernel_log_files.hpp"

#include <poll.h>
#include <time.h>

#include <cerrno>

namespace tundish::lab {
namespace {

// The kernel stamps records with the time since boot, not with the date.
std::int64_t usec_since_boot() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000000 + now.tv_nsec / 1000;
}

}  // namespace

KernelLogFile* KernelLogFiles::find_locked(std::string_view node) {
  for (const auto& file : files_) {
    if (file->node == node) return file.get();
  }
  return nullptr;
}

bool KernelLogFiles::add(const std::string& node) {
  const std::lock_guard lock(mutex_);
  if (find_locked(node) != nullptr) return false;
  files_.push_back(std::make_unique<KernelLogFile>());
  files_.back()->node = node;
  return true;
}

bool KernelLogFiles::append(const std::string& node, KernelPriority priority,
                            std::string_view text) {
  const std::lock_guard lock(mutex_);
  KernelLogFile* file = find_locked(node);
  if (file == nullptr) return false;
  append_locked(*file, priority, text);
  return true;
}

void KernelLogFiles::append_locked(KernelLogFile& file, KernelPriority priority,
                                   std::string_view text) {
  file.ring.append(priority, usec_since_boot(), text);
  std::erase_if(waiting_, [&](const WaitingRead& read) {
    return handles_.at(read.handle).file == &file && try_answer(read);
  });
  for (auto& [id, handle] : handles_) {
    if (handle.file != &file || handle.poll == nullptr) continue;
    fuse_lowlevel_notify_poll(handle.poll);
    fuse_pollhandle_destroy(handle.poll);
    handle.poll = nullptr;
  }
}

bool KernelLogFiles::boot(const std::string& node) {
  const std::lock_guard lock(mutex_);
  KernelLogFile* file = find_locked(node);
  if (file == nullptr) return false;
  file->ring.clear();
  for (auto& [id, handle] : handles_) {
    if (handle.file == file) handle.cursor = 0;
  }
  return true;
}

fuse_ino_t KernelLogFiles::find(std::string_view node) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i]->node == node) return first_file + i;
  }
  return 0;
}

bool KernelLogFiles::holds(fuse_ino_t inode) {
  const std::lock_guard lock(mutex_);
  return inode >= first_file && inode - first_file < files_.size();
}

std::vector<std::string> KernelLogFiles::names() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& file : files_) out.push_back(file->node);
  return out;
}

std::uint64_t KernelLogFiles::open(fuse_ino_t inode) {
  const std::lock_guard lock(mutex_);
  KernelLogFile* file = files_[inode - first_file].get();
  handles_[next_handle_] = {.file = file, .cursor = file->ring.oldest_seq()};
  return next_handle_++;
}

void KernelLogFiles::release(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto it = handles_.find(handle);
  if (it == handles_.end()) return;
  if (it->second.poll != nullptr) fuse_pollhandle_destroy(it->second.poll);
  handles_.erase(it);
}

void KernelLogFiles::read(WaitingRead read, bool may_block) {
  const std::lock_guard lock(mutex_);
  KernelLogHandle& handle = handles_.at(read.handle);
  if (read.offset == 0 && handle.expected_offset != 0) {
    handle.cursor = handle.file->ring.oldest_seq();
    handle.expected_offset = 0;
  }
  if (try_answer(read)) return;
  if (may_block) {
    waiting_.push_back(read);
  } else {
    fuse_reply_err(read.request, EAGAIN);
  }
}

// False when there is nothing to read yet.
bool KernelLogFiles::try_answer(const WaitingRead& read) {
  KernelLogHandle& handle = handles_.at(read.handle);
  const KernelLogRing::Reading reading = handle.file->ring.read(handle.cursor);
  if (reading.kind == KernelLogRing::Reading::Kind::empty) return false;
  handle.cursor = reading.next_seq;
  if (reading.kind == KernelLogRing::Reading::Kind::overrun) {
    fuse_reply_err(read.request, EPIPE);
  } else if (reading.line.size() > read.size) {
    // The record is gone for this reader, as with the kernel (tried on 6.18).
    fuse_reply_err(read.request, EINVAL);
  } else {
    handle.expected_offset = read.offset + static_cast<off_t>(reading.line.size());
    fuse_reply_buf(read.request, reading.line.data(), reading.line.size());
  }
  return true;
}

int KernelLogFiles::write(std::uint64_t handle, std::string_view text, off_t offset) {
  if (text.size() > KernelLogRing::write_limit) return EINVAL;
  const std::lock_guard lock(mutex_);
  KernelLogHandle& opened = handles_.at(handle);
  opened.expected_offset = offset + static_cast<off_t>(text.size());
  const KernelLine line = parse_kernel_write(text);
  append_locked(*opened.file, line.priority, line.text);
  return 0;
}

unsigned KernelLogFiles::poll(std::uint64_t handle, fuse_pollhandle* poll) {
  const std::lock_guard lock(mutex_);
  KernelLogHandle& opened = handles_.at(handle);
  if (poll != nullptr) {
    if (opened.poll != nullptr) fuse_pollhandle_destroy(opened.poll);
    opened.poll = poll;
  }
  switch (opened.file->ring.read(opened.cursor).kind) {
    case KernelLogRing::Reading::Kind::record: return POLLIN | POLLRDNORM;
    case KernelLogRing::Reading::Kind::overrun: return POLLIN | POLLRDNORM | POLLERR | POLLPRI;
    case KernelLogRing::Reading::Kind::empty: return 0;
  }
  return 0;
}

void KernelLogFiles::seek_to_newest(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  KernelLogHandle& opened = handles_.at(handle);
  opened.cursor = opened.file->ring.next_seq();
  opened.expected_offset = huge_size;
}

void KernelLogFiles::seek_to_oldest(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  KernelLogHandle& opened = handles_.at(handle);
  opened.cursor = opened.file->ring.oldest_seq();
  opened.expected_offset = 0;
}

void KernelLogFiles::answer_interrupted() {
  if (!interrupted_.exchange(false)) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [](const WaitingRead& read) {
    if (fuse_req_interrupted(read.request) == 0) return false;
    fuse_reply_err(read.request, EINTR);
    return true;
  });
}

void KernelLogFiles::shut_down() {
  const std::lock_guard lock(mutex_);
  for (const WaitingRead& read : waiting_) fuse_reply_err(read.request, ENODEV);
  waiting_.clear();
  for (auto& [id, handle] : handles_) {
    if (handle.poll != nullptr) fuse_pollhandle_destroy(handle.poll);
    handle.poll = nullptr;
  }
}

}  // namespace tundish::lab
