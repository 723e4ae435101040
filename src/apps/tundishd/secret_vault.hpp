#pragma once
#include "control/cluster/reconcile_cluster.hpp"
#include "control/ledger.hpp"
#include "ports/random.hpp"
#include "runtime/secret_box.hpp"

namespace tundish::tundishd {

/// Secrets of clusters and tenants: made on first use, stored sealed, clear only on the way to an
/// agent.
class SecretVault final : public control::SecretSource {
 public:
  SecretVault(control::Ledger& ledger, const SecretBox& box, Random& random)
      : ledger_(ledger), box_(box), random_(random) {}
  std::string munge_key(const Cluster& cluster) override;
  std::string dbd_password(const Cluster& cluster) override;
  control::StorageKey storage_key(const TenantId& tenant) override;

 private:
  struct Wanted {
    std::string owner, purpose;
    TenantId tenant;
    int bytes = 0;
  };
  std::string get(const Wanted& wanted);

  control::Ledger& ledger_;
  const SecretBox& box_;
  Random& random_;
};

}  // namespace tundish::tundishd
