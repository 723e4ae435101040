#include "runtime/agent/tenant_files.hpp"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "runtime/agent/validate.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

/// Where a user without privileges can leave something. Source: file-hierarchy(7); cron, at and
/// mail spools of Debian 12; checked 2026-08.
const char* const writable_places[] = {"/home",     "/data",    "/tmp",
                                       "/var/tmp",  "/dev/shm", "/dev/mqueue",
                                       "/run/user", "/run/lock", "/run/screen",
                                       "/var/mail", "/var/spool/cron", "/var/crash",
                                       "/var/lib/systemd/linger", "/scratch"};

struct IpcObject {
  std::string kind;
  int id = -1;
};

/// proc(5): a head line, then one object per line; the columns are named in the head.
std::vector<IpcObject> read_ipc(const std::string& kind) {
  std::vector<IpcObject> out;
  std::ifstream file("/proc/sysvipc/" + kind);
  std::vector<std::string> head;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> words;
    for (auto& word : split(line, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
    if (head.empty()) {
      head = words;
      continue;
    }
    IpcObject object{kind, -1};
    bool tenant = false;
    for (std::size_t i = 0; i < head.size() && i < words.size(); ++i) {
      const auto value = parse_integer(words[i]).value_or(-1);
      if (head[i] == kind + "id") object.id = static_cast<int>(value);
      if (head[i] == "uid" || head[i] == "cuid") tenant = tenant || is_tenant_uid(value);
    }
    if (tenant && object.id >= 0) out.push_back(object);
  }
  return out;
}

std::vector<IpcObject> read_all_ipc() {
  std::vector<IpcObject> out;
  for (const char* const kind : {"shm", "sem", "msq"}) {
    const auto part = read_ipc(kind);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

void look_into(const fs::path& folder, dev_t device, std::vector<std::string>& out) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    struct stat info {};
    if (::lstat(entry.path().c_str(), &info) != 0 || info.st_dev != device) continue;
    if (is_tenant_uid(static_cast<long>(info.st_uid))) {
      out.push_back(entry.path().string());
    } else if (S_ISDIR(info.st_mode)) {
      look_into(entry.path(), device, out);
    }
  }
}

}  // namespace

std::vector<std::string> find_tenant_files_in(const std::vector<std::string>& places) {
  std::vector<std::string> out;
  for (const auto& place : places) {
    struct stat info {};
    if (::lstat(place.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    look_into(place, info.st_dev, out);
  }
  return out;
}

std::vector<std::string> find_tenant_files() {
  return find_tenant_files_in({std::begin(writable_places), std::end(writable_places)});
}

std::vector<std::string> find_tenant_ipc() {
  std::vector<std::string> out;
  for (const auto& object : read_all_ipc()) {
    out.push_back(object.kind + " " + std::to_string(object.id));
  }
  return out;
}

void remove_tenant_ipc() {
  for (const auto& object : read_all_ipc()) {
    if (object.kind == "shm") ::shmctl(object.id, IPC_RMID, nullptr);
    if (object.kind == "sem") ::semctl(object.id, 0, IPC_RMID);
    if (object.kind == "msq") ::msgctl(object.id, IPC_RMID, nullptr);
  }
}

}  // namespace tundish::agent
