#pragma once
// Limits that some check asks for. A row of thresholds.yaml that nobody asks for holds for nothing.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/limit.hpp"

namespace tundish {

struct KnownLimit {
  std::string check;
  std::string name;  ///< what is measured, as the check calls it
  LimitUnit unit = LimitUnit::count;
};

/// Refused by file and line: a row whose check, name or unit is none of `known`. `text` is what
/// the rows were read from. Empty `known`: nobody says what there is, and nothing is refused.
Result<> check_limit_names(std::string_view text, std::string_view file, const Thresholds& rows,
                           const std::vector<KnownLimit>& known);

}  // namespace tundish
