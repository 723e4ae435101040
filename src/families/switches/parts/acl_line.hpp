#pragma once
// One rule of an access list as EOS and NX-OS write it: `10 permit tcp any 10.0.0.0/24 eq 22`.
#include <optional>
#include <string>
#include <string_view>

#include "model/switch_state.hpp"

namespace tundish::switches {

/// How an address of 32 bits is written.
enum class AclHosts { named, prefixed };

std::string render_acl_rule(const AclRule& rule, AclHosts hosts);
/// nullopt for what a rule of ours cannot say: source ports, flags, fragments, logging.
std::optional<AclRule> parse_acl_rule(std::string_view line);

}  // namespace tundish::switches
