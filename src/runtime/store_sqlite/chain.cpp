#include "runtime/store_sqlite/chain.hpp"

#include <sodium.h>

#include <string_view>

#include "base/text.hpp"

namespace tundish::store_sqlite {
namespace {

void append_field(std::string& bytes, std::string_view text) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes += static_cast<char>((static_cast<std::uint64_t>(text.size()) >> shift) & 255);
  }
  bytes += text;
}

}  // namespace

std::string hash_entry(std::int64_t sequence, const HistoryEntry& entry) {
  std::string bytes;
  append_field(bytes, "tundish-history-1");
  append_field(bytes, std::to_string(sequence));
  append_field(bytes, std::to_string(entry.revision));
  append_field(bytes, std::to_string(entry.at.us));
  append_field(bytes, entry.actor);
  append_field(bytes, entry.operation);
  append_field(bytes, entry.object);
  append_field(bytes, entry.reason);
  append_field(bytes, entry.outcome);
  append_field(bytes, entry.previous_hash);
  std::string digest(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(reinterpret_cast<unsigned char*>(digest.data()),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return render_hex(digest);
}

}  // namespace tundish::store_sqlite
