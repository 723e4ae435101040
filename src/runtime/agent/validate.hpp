#pragma once
// Arguments come from another program over a network and end up in file names, command lines and
// configuration: anything that is not plainly a name or an address is refused.
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/verbs.hpp"

namespace tundish::agent {

/// Uids that belong to tenants; 60000 to 65535 are nobody and dynamic service users, above are
/// ranges that users hand to their containers. Source: Debian policy 9.2.2; checked 2026-08.
constexpr bool is_tenant_uid(long uid) {
  return (uid >= 20000 && uid < 60000) || (uid >= 65536 && uid < 4294967294L);
}

bool is_word(std::string_view text, std::size_t limit);  ///< [a-z0-9][a-z0-9_-]*
bool is_user_name(std::string_view text);
bool is_dns_name(std::string_view text);
bool is_ipv4(std::string_view text);
bool is_interface(std::string_view text);
bool is_ssh_key(std::string_view text);
bool is_file_name(std::string_view text);
/// Absolute, without empty, "." or ".." parts and odd characters.
bool is_plain_path(std::string_view text);
/// `path` is strictly below `folder`.
bool is_below(std::string_view path, std::string_view folder);

Result<> validate(const SetupNode& setup);
Result<> validate(const SetupController& setup);
Result<> validate_export(const ExportMount& mount, const std::string& bind_root);
/// A cluster name as an argument of its own.
Result<> validate_cluster(const std::string& cluster);
/// A kernel line for a drill: one record.
Result<> validate_line(const std::string& line);

}  // namespace tundish::agent
