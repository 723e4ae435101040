#include "apps/tundishd/secret_vault.hpp"

#include "base/check.hpp"
#include "base/text.hpp"
#include "model/ops/tenancy_ops.hpp"
#include "runtime/ssh_key.hpp"

namespace tundish::tundishd {

std::string SecretVault::munge_key(const Cluster& cluster) {
  return get({cluster.id.str(), "munge_key", cluster.meta.tenant, 128});
}

std::string SecretVault::dbd_password(const Cluster& cluster) {
  return get({cluster.id.str(), "dbd_password", cluster.meta.tenant, 16});
}

control::StorageKey SecretVault::storage_key(const TenantId& tenant) {
  const std::string hex = get({tenant.str(), "storage_key", tenant, 32});
  std::string seed;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    seed += static_cast<char>(parse_integer(std::string_view(hex).substr(at, 2), 16).value_or(0));
  }
  const auto pair = make_ssh_key(seed);
  check(pair.has_value(), "a seed is 32 bytes in hexadecimal");
  return {pair->private_key, pair->public_key};
}

std::string SecretVault::get(const Wanted& wanted) {
  const std::string name = wanted.owner + "/" + wanted.purpose;
  if (const Secret* known = ledger_.view().find_named<Secret>(name)) {
    const auto clear = box_.unseal(known->sealed);
    check(clear.has_value(), "a secret must open with the key file that sealed it");
    return *clear;
  }
  const std::string clear = random_.hex(wanted.bytes);
  const auto put = put_secret(name, wanted.purpose, box_.seal(clear), wanted.tenant);
  const auto stored = ledger_.perform(*put, "controller:cluster", "first use");
  check(stored.has_value(), "a new secret can always be stored");
  return clear;
}

}  // namespace tundish::tundishd
