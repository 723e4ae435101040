#include "runtime/agent/cluster_network.hpp"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/text.hpp"
#include "runtime/agent/access_gateway.hpp"
#include "runtime/agent/teardown.hpp"
#include "runtime/agent/validate.hpp"
#include "runtime/process/fd.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

/// Where `ip netns` keeps names. Source: ip-netns(8), iproute2 6.1; checked 2026-11.
const std::string folder = "/run/netns";
const std::string prefix = "tundish-";

std::vector<std::string> cluster_networks() {
  std::vector<std::string> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix)) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Interfaces of a namespace but its loopback, from `ip -o link`: "2: eth0@if7: <...".
Result<std::vector<std::string>> links_in(const std::string& network, Duration limit) {
  std::vector<std::string> out;
  const std::string text = TRY(run_ip({"-n", network, "-o", "link", "show"}, limit));
  for (const auto& line : split(text, '\n')) {
    const auto begin = line.find(": ");
    if (begin == std::string::npos) continue;
    const std::string name =
        line.substr(begin + 2, line.find_first_of(":@", begin + 2) - begin - 2);
    if (name != "lo" && is_interface(name)) out.push_back(name);
  }
  return out;
}

/// A plain file, which a crash of `ip netns add` leaves, cannot be entered.
bool is_network(const std::string& name) {
  return run_in_network(folder + "/" + name, []() -> Result<> { return {}; }).has_value();
}

/// A crash between `ip netns add`'s two steps leaves a plain file: made anew.
Result<> make_network(const std::string& name, Duration limit) {
  std::error_code ignored;
  if (fs::exists(folder + "/" + name, ignored)) {
    if (is_network(name)) return {};
    (void)run_ip({"netns", "del", name}, limit);
  }
  TRY(run_ip({"netns", "add", name}, limit));
  return {};
}

std::string mac_text(const unsigned char* bytes) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2],
                bytes[3], bytes[4], bytes[5]);
  return text;
}

/// Of the calling thread's namespace.
std::vector<std::string> own_macs() {
  std::vector<std::string> out;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_PACKET) continue;
    if (at->ifa_name == gateway_interface) continue;
    sockaddr_ll link{};
    std::memcpy(&link, at->ifa_addr, sizeof link);
    const std::string mac = mac_text(link.sll_addr);
    if (link.sll_halen == 6 && mac != "00:00:00:00:00:00") out.push_back(mac);
  }
  ::freeifaddrs(list);
  return out;
}

}  // namespace

std::string cluster_network(const std::string& cluster) { return prefix + cluster; }

std::string cluster_network_file(const std::string& cluster) {
  return folder + "/" + cluster_network(cluster);
}

bool has_cluster_network(const std::string& cluster) {
  std::error_code ignored;
  return fs::exists(cluster_network_file(cluster), ignored);
}

bool can_make_networks() {
  // Asked once: it depends on the kernel and on rights that a process keeps.
  static const bool possible = [] {
    bool made = false;
    std::thread([&made] { made = ::unshare(CLONE_NEWNET) == 0; }).join();
    return made;
  }();
  return possible;
}

Result<> place_port(const PortOfCluster& port, Duration limit) {
  const std::string name = cluster_network(port.cluster);
  TRY_VOID(make_network(name, limit));
  const std::string now = network_of_interface(port.interface);
  if (!now.empty() && now != folder + "/" + name) {
    return make_error(Code::conflict, "port " + port.interface + " is still in " + now)
        .about("interface/" + port.interface)
        .with_remedy("end that cluster's controller first");
  }
  if (now.empty()) {
    if (::if_nametoindex(port.interface.c_str()) == 0) {
      return make_error(Code::not_found, "the node has no port " + port.interface)
          .about("interface/" + port.interface)
          .with_remedy("see the inventory's ports of the node, and its driver's log");
    }
    TRY(run_ip({"link", "set", port.interface, "netns", name}, limit));
  }
  TRY(run_ip({"-n", name, "link", "set", "lo", "up"}, limit));
  return {};
}

Result<> release_port(const std::string& cluster, Duration limit) {
  if (!has_cluster_network(cluster)) return {};
  const std::string name = cluster_network(cluster);
  if (is_network(name)) {
    for (const auto& link : TRY(links_in(name, limit))) {
      if (link == gateway_interface) {  // ours, not a port
        TRY(run_ip({"-n", name, "link", "del", link}, limit));
        continue;
      }
      // Down first: without an address of its own it must not answer in a tenant's segment.
      TRY(run_ip({"-n", name, "link", "set", link, "down"}, limit));
      TRY(run_ip({"-n", name, "link", "set", link, "netns", std::to_string(::getpid())}, limit));
    }
    if (!TRY(links_in(name, limit)).empty()) {
      return make_error(Code::conflict, "a port does not leave " + name);
    }
  }
  TRY(run_ip({"netns", "del", name}, limit));
  return {};
}

std::string network_of_interface(const std::string& interface) {
  if (::if_nametoindex(interface.c_str()) != 0) return "";
  for (const auto& name : cluster_networks()) {
    bool found = false;
    const std::string file = folder + "/" + name;
    const auto looked = run_in_network(file, [&]() -> Result<> {
      found = ::if_nametoindex(interface.c_str()) != 0;
      return {};
    });
    if (looked && found) return file;
  }
  return "";
}

Result<> run_in_network(const std::string& file, const std::function<Result<>()>& work) {
  if (file.empty()) return work();
  Result<> done;
  // A thread of its own, which ends with the work: no other ever finds itself in a tenant's
  // network.
  std::thread([&] {
    const process::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd || ::setns(fd.get(), CLONE_NEWNET) != 0) {
      done = make_error(Code::unavailable, "cannot enter " + file + ": " + std::strerror(errno));
      return;
    }
    done = work();
  }).join();
  return done;
}

void add_cluster_macs(std::vector<std::string>& macs) {
  for (const auto& name : cluster_networks()) {
    (void)run_in_network(folder + "/" + name, [&]() -> Result<> {
      for (auto& mac : own_macs()) macs.push_back(std::move(mac));
      return {};
    });
  }
}

}  // namespace tundish::agent
