// Looks at the node's parts in forked children: cheaper than a new program, and as killable.
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>

#include "codec/json.hpp"
#include "runtime/agent/gather.hpp"
#include "runtime/agent/nvme_log.hpp"
#include "runtime/agent/proc_files.hpp"
#include "runtime/process/contained.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;

DiskReading look_at_disk(const std::string& target) {
  DiskReading out;
  out.target = target;
  struct statvfs info {};
  if (::statvfs(target.c_str(), &info) != 0) {
    out.fault = std::strerror(errno);
    return out;
  }
  const auto block = static_cast<std::int64_t>(info.f_frsize);
  out.size_mib = static_cast<std::int64_t>(info.f_blocks) * block / mebibyte;
  out.free_mib = static_cast<std::int64_t>(info.f_bavail) * block / mebibyte;
  out.inodes = static_cast<std::int64_t>(info.f_files);
  out.inodes_free = static_cast<std::int64_t>(info.f_favail);
  return out;
}

}  // namespace

Result<std::string> Gatherer::contain(const std::string& target,
                                      const std::function<std::string()>& work) {
  {
    const std::lock_guard lock(mutex_);
    const auto it = stuck_.find(target);
    if (it != stuck_.end() && process::is_alive(it->second)) {
      return make_error(Code::timeout, "hangs: an earlier look, process " +
                                           std::to_string(it->second) + ", waits in the kernel");
    }
    if (it != stuck_.end()) stuck_.erase(it);
  }
  process::Containment containment;
  containment.limit = options_.limit;
  int abandoned = 0;
  auto out = process::run_contained(work, containment, abandoned);
  if (abandoned > 0) {
    const std::lock_guard lock(mutex_);
    stuck_[target] = abandoned;
  }
  if (!out && out.error().code == Code::timeout) {
    return make_error(Code::timeout, "hangs: " + out.error().what);
  }
  return out;
}

Result<SysLook> Gatherer::sys(SysScope scope, Duration& waited) {
  const std::string sys_dir = options_.sys_dir;
  const auto text = TRY(contain("sys " + sys_dir, [&] {
    SysLook look;
    if (scope == SysScope::everything)
      look = look_at_sys(sys_dir);
    else
      look.hcas = read_hcas(sys_dir, look.counters);
    const auto wait = parse_run_queue_wait(read_line("/proc/self/schedstat"));
    look.waited = microseconds(wait.value_or(0));
    return render_json(look);
  }));
  SysLook out;
  TRY_VOID(parse_json(text, out, Unknown::keep_out));
  waited = out.waited;
  return out;
}

std::vector<DiskReading> Gatherer::disks(const std::vector<std::string>& targets) {
  std::vector<DiskReading> out;
  for (const auto& target : targets) {
    DiskReading disk;
    disk.target = target;
    const auto text = contain("disk " + target, [&] { return render_json(look_at_disk(target)); });
    if (!text)
      disk.fault = text.error().what;
    else if (const auto parsed = parse_json(*text, disk, Unknown::keep_out); !parsed) {
      disk.fault = parsed.error().what;
    }
    out.push_back(std::move(disk));
  }
  return out;
}

void Gatherer::add_drive_health(std::vector<NvmeReading>& drives) {
  for (auto& drive : drives) {
    if (drive.state != "live") continue;
    const auto page = contain("nvme " + drive.name, [&] {
      const auto read = read_nvme_health("/dev/" + drive.name);
      return read ? *read : std::string();
    });
    if (page) (void)parse_nvme_health(*page, drive);  // what it does not tell stays absent
  }
}

}  // namespace tundish::agent
