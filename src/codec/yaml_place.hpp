#pragma once
// Where in a YAML file something stands, for mistakes that show only after it was read.
#include <string>
#include <string_view>
#include <vector>

namespace tundish {

/// "FILE:LINE: " of what the path leads to: keys of maps, indices of lists as digits. Of a path
/// that leads nowhere the last step that is there; "FILE: " for a file that cannot be read.
std::string yaml_place(std::string_view text, std::string_view file,
                       const std::vector<std::string>& path);

}  // namespace tundish
