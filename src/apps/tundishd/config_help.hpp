#pragma once
#include <string>

namespace tundish::tundishd {

/// Usage, every key of tundishd.yaml with its default, and where the page is.
std::string render_help();

}  // namespace tundish::tundishd
