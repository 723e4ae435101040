#pragma once
// Assertions that stay on in production: a restart is cheap, the state is in the store.
#include <source_location>
#include <string_view>

namespace tundish {

/// Ends the process with a message when `holds` is false. `why` says why it must hold.
void check(bool holds, std::string_view why,
           std::source_location where = std::source_location::current());

}  // namespace tundish
