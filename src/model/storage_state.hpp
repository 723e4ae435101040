#pragma once
// Exports of a storage as its server shows them: who may use each one, from which address, and who
// does; and what a node needs to use one. Pure data.
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

/// A folder of one tenant, and the addresses that may use it. An address is of one export.
struct StorageExport {
  std::string name;
  std::vector<std::string> addresses;
  std::vector<std::string> keys = {};
  bool operator==(const StorageExport&) const = default;
  void fields(Fields& f) {
    f(1, "name", name, "of the export: the tenant's");
    f(2, "addresses", addresses, "IPv4, sorted: those that were granted it");
    f(3, "keys", keys, "public keys that open it, without comment, sorted");
  }
};

/// A connection that somebody may still read and write through.
struct StorageSession {
  std::string name;
  std::string address;
  bool operator==(const StorageSession&) const = default;
  void fields(Fields& f) {
    f(1, "name", name, "export that its address is granted; empty: none any more");
    f(2, "address", address, "IPv4 of the client");
  }
};

struct StorageSeen {
  std::vector<StorageExport> exports;
  std::vector<StorageSession> sessions;
  std::string identity_key;
  bool shows_keys = false;
  bool operator==(const StorageSeen&) const = default;
  void fields(Fields& f) {
    f(1, "exports", exports, "sorted by name");
    f(2, "sessions", sessions, "sorted by address");
    f(3, "identity_key", identity_key, "public key of the server, as clients must find it");
    f(4, "shows_keys", shows_keys, "it tells which keys open each export; else they are unknown");
  }
};

/// How a node reaches its tenant's storage: the way is a route of its own, from an address of its
/// own, because the tenant's other addresses may be somebody else's too.
struct StorageAccess {
  std::string address;
  std::string prefix;
  std::string gateway;
  std::string identity_key;
  std::string private_key;
  void fields(Fields& f) {
    f(1, "address", address, "IPv4 of the node towards the storage, unique over the fabric");
    f(2, "prefix", prefix, "IPv4 prefix of the storage");
    f(3, "gateway", gateway, "IPv4 of the segment's gateway");
    f(4, "identity_key", identity_key, "public key that the server must show");
    f(5, "private_key", private_key, "secret, opens the tenant's export; never logged");
  }
};

}  // namespace tundish
