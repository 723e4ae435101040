#pragma once
// What was shipped with this program: checks, their limits, the catalogue.
#include <string>

#include "edge/cli/context.hpp"

namespace tundish {

/// The catalogue of a checkout (build/x/bin) or of an installed package, by the folder of the
/// programs; the tundishd of a lab beside them reads the same one.
std::string shipped_catalogue(const std::string& bin_dir);

/// Tells the command line of them: it cannot see the families itself.
void add_shipped(edge::cli::Context& context);

}  // namespace tundish
