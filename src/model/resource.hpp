#pragma once
// What a check watches, and whether its verdict alone says which part is broken.
#include <span>
#include <string_view>

namespace tundish {

/// A part of a node or of what it shares with others.
enum class Resource {
  gpu,
  gpu_memory,
  nvlink,
  nvswitch,
  pcie,
  nic,
  link,
  leaf,
  cpu,
  memory,
  disk,
  storage_client,
  storage_server,
  service,
  clock,
  thermal,
  power,
  cooling,  ///< the liquid that cools a tray, and what keeps it in
  process,
  identity,
  unknown
};
inline std::span<const std::string_view> enum_names(Resource) {
  static constexpr std::string_view names[] = {
      "gpu",     "gpu_memory",     "nvlink",         "nvswitch", "pcie",     "nic",     "link",
      "leaf",    "cpu",            "memory",         "disk",     "storage_client",
      "storage_server",            "service",        "clock",    "thermal",  "power",   "cooling",
      "process", "identity",       "unknown"};
  return names;
}

/// symptom first: what says nothing is never taken for proof that a part is broken.
enum class Locality {
  symptom,      ///< another part can cause it: nobody is out of service before blame is settled
  device_local  ///< the part itself must be broken
};
inline std::span<const std::string_view> enum_names(Locality) {
  static constexpr std::string_view names[] = {"symptom", "device_local"};
  return names;
}

enum class CheckKind { passive, active };
inline std::span<const std::string_view> enum_names(CheckKind) {
  static constexpr std::string_view names[] = {"passive", "active"};
  return names;
}

/// Of an active check: light ones take seconds and share the node, heavy ones need all of it.
enum class Tier { light, heavy };
inline std::span<const std::string_view> enum_names(Tier) {
  static constexpr std::string_view names[] = {"light", "heavy"};
  return names;
}

}  // namespace tundish
