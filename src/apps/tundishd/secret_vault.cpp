#include "apps/tundishd/secret_vault.hpp"

#include "base/check.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::tundishd {

std::string SecretVault::munge_key(const Cluster& cluster) {
  return get(cluster, "munge_key", 128);
}

std::string SecretVault::dbd_password(const Cluster& cluster) {
  return get(cluster, "dbd_password", 16);
}

std::string SecretVault::get(const Cluster& cluster, const std::string& purpose, int bytes) {
  const std::string name = cluster.id.str() + "/" + purpose;
  if (const Secret* known = ledger_.view().find_named<Secret>(name)) {
    const auto clear = box_.unseal(known->sealed);
    check(clear.has_value(), "a secret must open with the key file that sealed it");
    return *clear;
  }
  const std::string clear = random_.hex(bytes);
  const auto put = put_secret(name, purpose, box_.seal(clear), cluster.meta.tenant);
  const auto stored = ledger_.perform(*put, "controller:cluster", "first use");
  check(stored.has_value(), "a new secret can always be stored");
  return clear;
}

}  // namespace tundish::tundishd
