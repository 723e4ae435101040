#pragma once
// catalog/thresholds.yaml and catalog/nameplates.yaml -> limits that hold for one node.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/limit.hpp"

namespace tundish {

/// Errors start with "file:line". Refused: unknown keys and words, rows without source, doubled
/// models and product names, numbers below zero.
Result<Nameplates> load_nameplates(std::string_view text, std::string_view file);

/// As above; also a GPU model that has no nameplate, a driver range that holds for nothing, and two
/// rows that say the same.
Result<Thresholds> load_thresholds(std::string_view text, std::string_view file,
                                   const Nameplates& nameplates);

/// The rows that hold for the model and the driver. Of rows with one check and name, those for the
/// model (then for the driver) leave out the ones for everybody. Empty model or driver: not known,
/// and rows for special ones do not hold.
std::vector<Limit> limits_for(const Thresholds& thresholds, std::string_view model,
                              std::string_view driver);

/// Negative, zero or positive; compares as many numbers as `branch` has: 570.124 is within 570.
/// Texts that are no version are below every branch.
int compare_driver(std::string_view version, std::string_view branch);

/// Line of the `index`th item of a top-level list, and within it of `key` when it is there.
int line_of_item(std::string_view text, std::size_t index, std::string_view key);

}  // namespace tundish
