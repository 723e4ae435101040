#pragma once
// Columns for a terminal.
#include <string>
#include <vector>

namespace tundish {

/// Three blanks between columns, none at a line's end. Control characters show as "?", so that a
/// stored text cannot drive the reader's terminal; line ends and tabs show as a blank.
std::string render_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows);

}  // namespace tundish
