#pragma once
// Host lists as Slurm writes them, and the words for nodes and reasons that both directions share.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tundish::slurm_parts {

/// Most names that one list may stand for; a longer one is refused, not cut.
inline constexpr std::size_t hostlist_limit = 65536;

/// "n[01-04,07],login" as names, in the order written. "(null)" and "" are no names.
Result<std::vector<std::string>> expand_hostlist(std::string_view text);
/// The shortest list for names, sorted: n[01-04,07].
std::string fold_hostlist(std::vector<std::string> names);

/// A reason as it can pass through scontrol and come back equal: one line of plain characters
/// that starts with "tundish:".
std::string clean_reason(std::string_view text);
bool is_our_reason(std::string_view reason);
/// Put before a reason that Slurm's own daemon set, so that it cannot be taken for a person's.
inline constexpr std::string_view slurm_prefix = "slurm: ";
/// Words of Slurm itself about what it saw; nobody asked for that state.
bool is_slurm_reason(std::string_view reason);
bool is_reboot_reason(std::string_view reason);

}  // namespace tundish::slurm_parts
