#pragma once
// Hash chain over history. Internal to store_sqlite.
#include <cstdint>
#include <string>

#include "model/operation.hpp"

namespace tundish::store_sqlite {

/// Hex SHA-256 over a tag, the sequence and every field but `hash`, each preceded by its length in
/// eight bytes: no two different entries give the same bytes. Part of the stored format.
std::string hash_entry(std::int64_t sequence, const HistoryEntry& entry);

}  // namespace tundish::store_sqlite
