#include "runtime/process/strays.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "base/text.hpp"
#include "runtime/process/leash.hpp"

namespace tundish::process {
namespace {

std::string text_of(pid_t pid, const char* file) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_ours(pid_t pid) {
  struct stat found {};
  return ::stat(("/proc/" + std::to_string(pid)).c_str(), &found) == 0 &&
         found.st_uid == ::geteuid();
}

bool is_marked(pid_t pid) {
  for (const auto& entry : split(text_of(pid, "environ"), '\0')) {
    if (entry == leashed_mark) return true;
  }
  return false;
}

bool is_kept(pid_t pid) {
  pid_t at = parent_of(pid);
  for (int depth = 0; at > 1 && depth < 64; ++depth, at = parent_of(at)) {
    if (trim(text_of(at, "comm")) == keeper_name) return true;
  }
  return false;
}

}  // namespace

int kill_strays() {
  int killed = 0;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return 0;
  while (const dirent* entry = ::readdir(folder)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 1 || pid == ::getpid() || !is_ours(pid) || !is_marked(pid) || is_kept(pid)) continue;
    killed += ::kill(pid, SIGKILL) == 0 ? 1 : 0;
  }
  ::closedir(folder);
  return killed;
}

}  // namespace tundish::process
