#pragma once
// The limits of the catalogue as the verifier reads them.
#include <vector>

#include "control/verify/verify.hpp"
#include "model/limit.hpp"

namespace tundish::control::verify {

/// One row per limit: what can be read at all, and what a sound part shows. Where no nameplate says
/// it, only what follows from the unit is known.
std::vector<ThresholdRow> threshold_rows(const Thresholds& thresholds,
                                         const Nameplates& nameplates);

}  // namespace tundish::control::verify
