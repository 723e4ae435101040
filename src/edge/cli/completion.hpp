#pragma once
// Shell completion out of the command tree. Pure.
#include <string>

#include "edge/cli/command.hpp"

namespace tundish::edge::cli {

std::string render_bash_completion(const CommandDoc& root);
std::string render_zsh_completion(const CommandDoc& root);
std::string render_fish_completion(const CommandDoc& root);

}  // namespace tundish::edge::cli
