#include "runtime/agent/tenant_processes.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/text.hpp"
#include "runtime/agent/validate.hpp"

namespace tundish::agent {
namespace {

/// A tenant's uid in any of the four: a setuid program that it runs is its own, too.
long tenant_uid_of(const std::string& line) {
  std::string words = line.substr(4);
  for (char& c : words) {
    if (c == '\t') c = ' ';
  }
  for (const auto& word : split(words, ' ')) {
    const auto uid = parse_integer(word);
    if (uid && is_tenant_uid(static_cast<long>(*uid))) return static_cast<long>(*uid);
  }
  return -1;
}

}  // namespace

std::vector<TenantProcess> find_tenant_processes(const std::string& proc) {
  std::vector<TenantProcess> out;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(proc, failed)) {
    const auto pid = parse_integer(entry.path().filename().string());
    if (!pid) continue;
    std::ifstream status(entry.path() / "status");
    TenantProcess process;
    process.pid = static_cast<int>(*pid);
    process.uid = -1;
    bool zombie = false;
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("Name:", 0) == 0) process.name = std::string(trim(line.substr(5)));
      if (line.rfind("State:", 0) == 0) zombie = line.find("Z (") != std::string::npos;
      if (line.rfind("Uid:", 0) == 0) process.uid = tenant_uid_of(line);
    }
    if (process.uid >= 0 && !zombie) out.push_back(process);
  }
  return out;
}

std::vector<TenantProcess> kill_tenant_processes(Duration limit) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(limit.us);
  for (;;) {
    const auto left = find_tenant_processes();
    if (left.empty() || std::chrono::steady_clock::now() >= end) return left;
    // All are stopped before the first dies, so that none can start another meanwhile.
    for (const auto& process : left) ::kill(process.pid, SIGSTOP);
    for (const auto& process : left) ::kill(process.pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace tundish::agent
