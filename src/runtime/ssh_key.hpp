#pragma once
// A key pair of OpenSSH, made from a seed: who keeps the seed need not keep the key.
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tundish {

struct SshKeyPair {
  std::string private_key;  ///< text of a file of OpenSSH, not encrypted
  std::string public_key;   ///< "ssh-ed25519 AAAA..."
};

/// ed25519 from 32 bytes. Refused for any other length.
Result<SshKeyPair> make_ssh_key(std::string_view seed);

}  // namespace tundish
