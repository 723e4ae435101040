#pragma once
// What a word that is not known was probably meant to be.
#include <string>
#include <vector>

namespace tundish::edge::cli {

class Context;

/// "did you mean WORD?"; empty when nothing is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

/// Remedy for an object that does not exist, as "node/gpu1": the name of that kind that is nearest,
/// and the command that lists them. Asks the API; empty for a kind that no command lists.
std::string suggest_object(const Context& context, const std::string& object);

}  // namespace tundish::edge::cli
