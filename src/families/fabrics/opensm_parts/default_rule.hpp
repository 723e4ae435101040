#pragma once
// The one line by which every port is only a limited member of the default partition, and the one
// that says who writes here. Both are recognised by their whole text.
#include <string_view>

namespace tundish::fabrics {

inline constexpr std::string_view default_rule_line =
    "Default=0x7fff : ALL=limited, SELF=full ; # tundish\n";
inline constexpr std::string_view notice_line =
    "# tundish writes the partitions of its own names and numbers; the rest stays as it is.\n";

}  // namespace tundish::fabrics
