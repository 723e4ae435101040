#include "lab/switch_chassis.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/log.hpp"
#include "codec/json.hpp"
#include "lab/namespaces.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

constexpr long namespace_magic = 0x6e736673;  // NSFS_MAGIC, Linux include/uapi/linux/magic.h

std::string run_in(const std::string& network, std::vector<std::string> argv,
                   const std::string& input) {
  process::Command command;
  command.argv = {"nsenter", "--net=" + network};
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  command.input = input;
  const auto output = process::run(command);
  return output && output->ok() ? output->out : "";
}

std::vector<JsonValue> links_in(const std::string& network) {
  const auto list = JsonValue::parse(run_in(network, {"ip", "-j", "link"}, ""));
  return list ? list->items() : std::vector<JsonValue>{};
}

std::string name_of(const JsonValue& link) { return link.at("ifname").as_text().value_or(""); }

}  // namespace

Chassis::~Chassis() {
  for (const auto& [name, held] : held_) ::close(held.fd);
  if (root_ >= 0) ::close(root_);
}

Result<> Chassis::make(std::vector<std::string> ports) {
  ports_ = std::move(ports);
  root_ = TRY(make_network());
  return {};
}

std::string Chassis::network() const { return path_of_fd(root_); }

bool Chassis::is_port(const std::string& name) const {
  return std::find(ports_.begin(), ports_.end(), name) != ports_.end();
}

void Chassis::follow(int pid) {
  const fs::path folder = fs::path("/proc") / std::to_string(pid) / "root" / "run/netns";
  std::set<std::string> there;
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    struct stat at {};
    if (::stat(it->path().c_str(), &at) != 0) continue;
    const auto known = held_.find(name);
    if (known != held_.end() && known->second.inode == at.st_ino) {
      there.insert(name);
      continue;
    }
    if (known != held_.end()) continue;  // another one of the same name: taken up next time
    const int fd = ::open(it->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct statfs kind {};
    // The file is there a moment before the namespace is mounted on it.
    if (fd >= 0 && ::fstatfs(fd, &kind) == 0 && kind.f_type == namespace_magic &&
        ::fstat(fd, &at) == 0) {
      held_[name] = {fd, at.st_ino};
      there.insert(name);
    } else if (fd >= 0) {
      ::close(fd);
    }
  }
  for (auto it = held_.begin(); it != held_.end();) {
    if (there.contains(it->first)) {
      ++it;
      continue;
    }
    give_back(it->second);
    it = held_.erase(it);
  }
}

void Chassis::give_back(const Held& held) {
  const std::string network = path_of_fd(held.fd);
  std::string lines;
  for (const auto& link : links_in(network)) {
    const std::string name = name_of(link);
    if (is_port(name)) lines += "link set " + name + " netns " + this->network() + "\n";
  }
  if (!lines.empty()) (void)run_in(network, {"ip", "-force", "-batch", "-"}, lines);
  ::close(held.fd);
}

void Chassis::reset() {
  for (const auto& [name, held] : held_) give_back(held);
  held_.clear();
  std::string lines = "addr flush dev lo\nlink set lo down\n";
  for (const auto& link : links_in(network())) {
    const std::string name = name_of(link);
    if (name == "lo") continue;
    lines += is_port(name) ? "link set " + name + " nomaster\nlink set " + name +
                                 " down\naddr flush dev " + name + "\n"
                           : "link del " + name + "\n";
  }
  (void)run_in(network(), {"ip", "-force", "-batch", "-"}, lines);
  (void)run_in(network(), {"nft", "flush", "ruleset"}, "");
}

Result<PortState> Chassis::find(const std::string& port) const {
  std::vector<std::string> networks = {network()};
  for (const auto& [name, held] : held_) networks.push_back(path_of_fd(held.fd));
  for (const auto& at : networks) {
    const auto parsed = JsonValue::parse(run_in(at, {"ip", "-j", "addr", "show", "dev", port}, ""));
    if (!parsed || parsed->size() == 0) continue;
    const JsonValue link = parsed->at(std::size_t{0});
    PortState state;
    state.network = at;
    state.master = link.at("master").as_text().value_or("");
    state.mac = link.at("address").as_text().value_or("");
    state.mtu = static_cast<int>(link.at("mtu").as_integer().value_or(0));
    for (const auto& flag : link.at("flags").items()) {
      if (flag.as_text() == "UP") state.up = true;
    }
    for (const auto& address : link.at("addr_info").items()) {
      if (address.at("scope").as_text() != "global") continue;
      state.addresses.push_back(address.at("local").as_text().value_or("") + "/" +
                                std::to_string(address.at("prefixlen").as_integer().value_or(32)));
    }
    return state;
  }
  return make_error(Code::not_found, "no namespace of the switch has port " + port);
}

}  // namespace tundish::lab
