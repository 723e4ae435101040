#pragma once
// Tenants, their users, tokens and secrets.
#include <string>
#include <vector>

#include "model/meta.hpp"

namespace tundish {

using TenantId = Id<Tenant>;

struct TenantSpec {
  int gpu_quota = 0;
  void fields(Fields& f) {
    f(1, "gpu_quota", gpu_quota,
      "GPUs that members of its allocations may count to; spares are free");
  }
};

struct Tenant {
  static constexpr std::string_view kind = "tenant";
  TenantId id;
  TenantSpec spec;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "spec", spec, "quota");
    f(3, "meta", meta, "name, version, revision");
  }
};

struct UserSpec {
  std::vector<std::string> ssh_keys;
  int uid = 0;
  void fields(Fields& f) {
    f(1, "ssh_keys", ssh_keys, "public keys in authorized_keys form");
    f(2, "uid", uid, "numeric id on the tenant's nodes, from 20000; unique per site");
  }
};

struct User {
  static constexpr std::string_view kind = "user";
  Id<User> id;
  UserSpec spec;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "spec", spec, "keys and numeric id");
    f(3, "meta", meta, "name, tenant, revision");
  }
};

/// Roles are data (catalog/roles.yaml); these are the built-in ones.
enum class Role { viewer, member, tenant_admin, auditor, on_call, operator_, agent };
inline std::span<const std::string_view> enum_names(Role) {
  static constexpr std::string_view names[] = {"viewer",  "member",   "tenant-admin", "auditor",
                                               "on-call", "operator", "agent"};
  return names;
}

/// A bearer token: only its hash is kept. Kind agent tokens are identities of agents.
struct Token {
  static constexpr std::string_view kind = "token";
  Id<Token> id;
  std::string hash;
  Role role = Role::viewer;
  std::string node;
  bool one_time = false;
  Instant expires_at;
  Instant last_used_at;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "hash", hash, "SHA-256 of the token, hexadecimal; the token itself is shown once");
    f(3, "role", role, "what it may do");
    f(4, "node", node, "BMC MAC (enrolment) or node id (agent identity); empty for people");
    f(5, "one_time", one_time, "spent by its first successful use: enrolment");
    f(6, "expires_at", expires_at, "empty: never");
    f(7, "last_used_at", last_used_at,
      "coarse: written at most once an hour; not for agents, which are heard anyway");
    f(8, "meta", meta, "name, tenant, revision");
  }
};

/// An encrypted row. The clear value never enters JSON, history, log or backup.
struct Secret {
  static constexpr std::string_view kind = "secret";
  Id<Secret> id;
  std::string purpose;
  std::string sealed;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "purpose", purpose, "munge_key, bmc_password, dbd_password ...");
    f(3, "sealed", sealed, "nonce and ciphertext, hexadecimal; key in a file outside the store");
    f(4, "meta", meta, "name, tenant, revision");
  }
};

}  // namespace tundish
