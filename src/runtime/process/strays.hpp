#pragma once
// What a leashed program left when its keeper and whoever held the leash were both killed at once.
#include <string_view>

namespace tundish::process {

/// In the environment of every leashed program and of all that it starts.
inline constexpr std::string_view leashed_mark = "TUNDISH_LEASHED=1";

/// Kills the processes of our own user that carry the mark and have no keeper among their ancestors
/// any more; says how many. A tenant's process cannot be among them: it is another user's.
int kill_strays();

}  // namespace tundish::process
