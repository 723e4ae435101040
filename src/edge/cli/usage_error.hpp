#pragma once
// What was wrong with a command line, and the command that would be right.
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tundish::edge::cli {

/// Message and remedy for words that did not parse; `cause` is what the parser said, for what is
/// neither an unknown command nor an unknown flag.
std::string explain_usage(const CLI::App& root, const std::vector<std::string>& words,
                          const std::string& cause);

}  // namespace tundish::edge::cli
