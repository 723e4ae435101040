#include "runtime/agent/validate.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "model/prefix.hpp"
#include "runtime/agent/access_gateway.hpp"

namespace tundish::agent {
namespace {

constexpr std::size_t file_limit = 1 << 20;  // bytes of one engine file
constexpr std::size_t files_limit = 64;
constexpr std::size_t users_limit = 4096;
constexpr std::size_t names_limit = 16384;
constexpr std::size_t rules_limit = 256;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z'); }

template <class Accept>
bool all_of(std::string_view text, Accept accept) {
  return std::all_of(text.begin(), text.end(), accept);
}

Error refuse(const std::string& what, std::string_view value) {
  std::string shown(value.substr(0, 60));
  std::replace_if(shown.begin(), shown.end(), [](char c) { return c < 32 || c > 126; }, '?');
  return make_error(Code::invalid, what + " is not acceptable: \"" + shown + "\"");
}

Result<> validate_users(const std::vector<AccountUser>& users) {
  if (users.size() > users_limit) return make_error(Code::invalid, "too many users");
  std::set<std::string> names;
  std::set<int> uids;
  for (const auto& user : users) {
    if (!is_user_name(user.name)) return refuse("user name", user.name);
    if (user.uid < 20000 || user.uid > 59999) {
      return refuse("uid of user " + user.name, std::to_string(user.uid));
    }
    if (!names.insert(user.name).second) return refuse("user named twice", user.name);
    if (!uids.insert(user.uid).second) return refuse("uid used twice", user.name);
    for (const auto& key : user.ssh_keys) {
      if (!is_ssh_key(key)) return refuse("ssh key of user " + user.name, key);
    }
  }
  return {};
}

Result<> validate_names(const std::vector<HostEntry>& entries) {
  if (entries.size() > names_limit) return make_error(Code::invalid, "too many names");
  for (const auto& entry : entries) {
    if (!is_dns_name(entry.name) || entry.name == "localhost") {
      return refuse("name of the cluster", entry.name);
    }
    if (!is_ipv4(entry.address)) return refuse("address of " + entry.name, entry.address);
  }
  return {};
}

Result<> validate_files(const std::vector<EngineFile>& files) {
  if (files.size() > files_limit) return make_error(Code::invalid, "too many files");
  for (const auto& file : files) {
    if (!is_file_name(file.name)) return refuse("file name", file.name);
    if (file.content.size() > file_limit) return refuse("size of the file", file.name);
  }
  return {};
}

Result<> validate_secret(const std::string& munge_key) {
  const bool hex = all_of(munge_key, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  // munge refuses keys below 32 bytes. Source: munged(8), munge 0.5.15; checked 2026-08.
  if (hex && munge_key.size() % 2 == 0 && munge_key.size() >= 64 && munge_key.size() <= 2048) {
    return {};
  }
  return make_error(Code::invalid, "the munge key is not 32 to 1024 bytes in hexadecimal");
}

struct Place {
  std::string interface;
  std::string address;
  int prefix_length;
};

Result<> validate_place(const Place& place) {
  if (!is_interface(place.interface)) return refuse("interface", place.interface);
  if (!is_ipv4(place.address)) return refuse("address", place.address);
  if (place.prefix_length < 8 || place.prefix_length > 32) {
    return refuse("prefix length", std::to_string(place.prefix_length));
  }
  return {};
}

/// It becomes text for nft.
Result<> validate_gateway(const AccessGateway& gateway) {
  const std::string interface(gateway_interface);
  TRY_VOID(validate_place({interface, gateway.address, gateway.prefix_length}));
  if (!is_ipv4(gateway.target)) return refuse("target of the gateway", gateway.target);
  if (!gateway.router.empty() && !is_ipv4(gateway.router)) {
    return refuse("router of the gateway", gateway.router);
  }
  if (gateway.rules.size() > rules_limit) return make_error(Code::invalid, "too many rules");
  for (const auto& rule : gateway.rules) {
    if (rule.protocol != "tcp" && rule.protocol != "udp") return refuse("protocol", rule.protocol);
    if (!rule.source.empty() && !parse_prefix(rule.source)) return refuse("source", rule.source);
    const int last = rule.port_to == 0 ? rule.port_from : rule.port_to;
    if (rule.port_from < 1 || last > 65535 || last < rule.port_from) {
      return refuse("port of the gateway", std::to_string(rule.port_from));
    }
  }
  return {};
}

}  // namespace

bool is_word(std::string_view text, std::size_t limit) {
  if (text.empty() || text.size() > limit) return false;
  if (!is_lower(text[0]) && !is_digit(text[0])) return false;
  return all_of(text, [](char c) { return is_lower(c) || is_digit(c) || c == '_' || c == '-'; });
}

bool is_user_name(std::string_view text) { return is_word(text, 32) && is_lower(text[0]); }

bool is_dns_name(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (const auto& label : split(text, '.')) {
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') {
      return false;
    }
    if (!all_of(label, [](char c) { return is_alnum(c) || c == '-' || c == '_'; })) return false;
  }
  return true;
}

bool is_ipv4(std::string_view text) {
  in_addr address{};
  if (inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) return false;
  const auto value = ntohl(address.s_addr);
  const auto top = value >> 24;
  return top != 0 && top != 127 && top < 224;
}

bool is_interface(std::string_view text) {
  if (text.empty() || text.size() > 15 || !is_alnum(text[0]) || text == "lo") return false;
  return all_of(text, [](char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; });
}

bool is_ssh_key(std::string_view text) {
  if (text.size() > 16384) return false;
  if (!all_of(text, [](char c) { return c >= 32 && c < 127; })) return false;
  const auto parts = split(text, ' ');
  static constexpr std::string_view kinds[] = {
      "ssh-ed25519",         "ssh-rsa",
      "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
      "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com",
      "sk-ecdsa-sha2-nistp256@openssh.com"};
  if (parts.size() < 2) return false;
  if (std::find(std::begin(kinds), std::end(kinds), parts[0]) == std::end(kinds)) return false;
  return parts[1].size() >= 16 && all_of(parts[1], [](char c) {
           return is_alnum(c) || c == '+' || c == '/' || c == '=';
         });
}

bool is_file_name(std::string_view text) {
  if (text.empty() || text.size() > 64 || !is_alnum(text[0])) return false;
  return all_of(text, [](char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; });
}

bool is_plain_path(std::string_view text) {
  if (text.size() < 2 || text.size() > 512 || text[0] != '/') return false;
  for (const auto& part : split(text.substr(1), '/')) {
    if (!is_file_name(part)) return false;
  }
  return true;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() + 1 && path.substr(0, folder.size()) == folder &&
         path[folder.size()] == '/';
}

Result<> validate_cluster(const std::string& cluster) {
  if (!is_word(cluster, 40)) return refuse("cluster name", cluster);
  return {};
}

/// EXPORT@ADDRESS:/PATH, which becomes one word of a command.
Result<> validate_sshfs(const ExportMount& mount) {
  const auto at = mount.source.find('@');
  const auto colon = mount.source.find(':');
  const bool parts = at != std::string::npos && colon != std::string::npos && at < colon;
  if (parts && is_word(mount.source.substr(0, at), 31) && is_lower(mount.source[0]) &&
      is_ipv4(mount.source.substr(at + 1, colon - at - 1)) &&
      is_plain_path(mount.source.substr(colon + 1))) {
    return {};
  }
  return refuse("source of " + mount.target, mount.source);
}

Result<> validate_access(const StorageAccess& access) {
  if (!is_ipv4(access.address)) return refuse("address towards the storage", access.address);
  if (!is_ipv4(access.gateway)) return refuse("gateway of the storage", access.gateway);
  const auto slash = access.prefix.find('/');
  const auto length = slash == std::string::npos
                          ? std::nullopt
                          : parse_integer(std::string_view(access.prefix).substr(slash + 1));
  if (!length || *length < 8 || *length > 32 || !is_ipv4(access.prefix.substr(0, slash))) {
    return refuse("prefix of the storage", access.prefix);
  }
  if (!is_ssh_key(access.identity_key)) return refuse("key of the storage", access.identity_key);
  const bool text = access.private_key.size() < 4096 && all_of(access.private_key, [](char c) {
                      return c == '\n' || (c >= 32 && c < 127);
                    });
  if (text && access.private_key.starts_with("-----BEGIN ")) return {};
  return make_error(Code::invalid, "the key for the storage is none");
}

Result<> validate_export(const ExportMount& mount, const std::string& bind_root) {
  const bool place = mount.target == "/home" || mount.target == "/data" ||
                     is_below(mount.target, "/home") || is_below(mount.target, "/data");
  if (!is_plain_path(mount.target) || !place) return refuse("mount point", mount.target);
  if (mount.type == "bind") {
    if (is_plain_path(mount.source) && is_below(mount.source, bind_root)) return {};
    return refuse("source of " + mount.target, mount.source);
  }
  if (mount.type == "sshfs") return validate_sshfs(mount);
  if (mount.type != "nfs") return refuse("type of " + mount.target, mount.type);
  const std::size_t colon = mount.source.find(':');
  if (colon == std::string::npos || !is_plain_path(mount.source.substr(colon + 1)) ||
      !is_dns_name(mount.source.substr(0, colon))) {
    return refuse("source of " + mount.target, mount.source);
  }
  return {};
}

Result<> validate(const SetupNode& setup) {
  TRY_VOID(validate_cluster(setup.cluster));
  if (!is_dns_name(setup.node_name)) return refuse("node name", setup.node_name);
  TRY_VOID(validate_place({setup.interface, setup.address, setup.prefix_length}));
  TRY_VOID(validate_names(setup.hosts));
  TRY_VOID(validate_users(setup.users));
  TRY_VOID(validate_files(setup.files));
  if (setup.storage) TRY_VOID(validate_access(*setup.storage));
  for (const auto& mount : setup.exports) {
    if (mount.type != "sshfs" || setup.storage) continue;
    return make_error(Code::invalid, "no way is told to the export at " + mount.target);
  }
  for (const auto& service : setup.services) {
    if (service != "slurmd" && service != "sshd") return refuse("service", service);
  }
  if (!setup.munge_key.empty()) TRY_VOID(validate_secret(setup.munge_key));
  const bool slurmd = std::count(setup.services.begin(), setup.services.end(), "slurmd") != 0;
  if (slurmd && setup.munge_key.empty()) {
    return make_error(Code::invalid, "slurmd needs a munge key");
  }
  return {};
}

Result<> validate(const SetupController& setup) {
  TRY_VOID(validate_cluster(setup.cluster));
  if (!is_word(setup.tenant, 63)) return refuse("tenant", setup.tenant);
  TRY_VOID(validate_place({setup.interface, setup.address, setup.prefix_length}));
  if (setup.index < 0 || setup.index > 4095) return refuse("index", std::to_string(setup.index));
  TRY_VOID(validate_names(setup.hosts));
  TRY_VOID(validate_users(setup.users));
  TRY_VOID(validate_files(setup.files));
  const auto& password = setup.dbd_password;
  if (password.empty() || password.size() > 128 || !all_of(password, is_alnum)) {
    return make_error(Code::invalid, "the password of the accounting store is not acceptable");
  }
  if (setup.gateway) TRY_VOID(validate_gateway(*setup.gateway));
  return validate_secret(setup.munge_key);
}

Result<> validate_line(const std::string& line) {
  // /dev/kmsg refuses writes beyond 1024 bytes; one is the newline that ends the record.
  if (line.empty() || line.size() > 1023) return make_error(Code::invalid, "no kernel line");
  const bool text = all_of(line, [](char c) { return c == '\n' || (c >= 32 && c < 127); });
  if (!text || line.back() == '\n') return refuse("kernel line", line);
  return {};
}

}  // namespace tundish::agent
