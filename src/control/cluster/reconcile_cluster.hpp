#pragma once
#include "control/action.hpp"

namespace tundish::control {

/// Opens one tenant's export.
struct StorageKey {
  std::string private_key;  ///< text of a file of OpenSSH
  std::string public_key;   ///< one line
};

/// Where clear secrets come from; they are never in the registry. Empty: not there yet.
class SecretSource {
 public:
  virtual ~SecretSource() = default;
  virtual std::string munge_key(const Cluster& cluster) = 0;
  virtual std::string dbd_password(const Cluster& cluster) = 0;
  virtual StorageKey storage_key(const TenantId& /*tenant*/) { return {}; }
};

/// The engine of a cluster: controller, members, drains that follow claims, and what a person did.
Outcome reconcile_cluster(const View& view, const Cluster& cluster, const Engine& engine,
                          SecretSource& secrets);

/// The engine as the registry wants it.
DesiredEngine desired_engine(const View& view, const Cluster& cluster);

}  // namespace tundish::control
