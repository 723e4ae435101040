#pragma once
// Secrets at rest, tokens, and randomness from the kernel.
#include <array>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ports/random.hpp"

namespace tundish {

/// Seals what the store must not hold in clear (munge keys, passwords of BMCs and switches). The
/// key lies in a file of its own, in no backup of the store.
class SecretBox {
 public:
  /// Makes the key file (mode 0600) when it is absent. Refuses one that others may read.
  static Result<SecretBox> open(const std::string& key_file);
  SecretBox(SecretBox&& other) noexcept;
  SecretBox& operator=(SecretBox&& other) noexcept;
  SecretBox(const SecretBox&) = delete;
  SecretBox& operator=(const SecretBox&) = delete;
  ~SecretBox();

  /// Hex of a fresh nonce and the ciphertext: sealing a text twice gives two texts.
  std::string seal(std::string_view clear) const;
  /// `corrupt` when it was changed or sealed with another key.
  Result<std::string> unseal(const std::string& sealed) const;

 private:
  using Key = std::array<unsigned char, 32>;
  SecretBox() = default;
  Key key_ = {};
};

/// Hex SHA-256. Enough for tokens, which are random and long; not for passwords.
std::string hash_token(std::string_view token);

class KernelRandom final : public Random {
 public:
  std::uint64_t next() override;
};

}  // namespace tundish
