#pragma once
// Which known word somebody probably meant.
#include <string>
#include <string_view>
#include <vector>

namespace tundish {

/// The candidate with the fewest changed letters, upper and lower case alike; empty when none is
/// near. Bounded, whatever the word is.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean WORD?"; without a near one "known: A, B, C".
std::string which_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tundish
