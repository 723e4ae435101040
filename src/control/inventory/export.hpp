#pragma once
#include "control/inventory/import.hpp"

namespace tundish::control {

/// The declared inventory of a scope as sheets; importing them again changes nothing. Retired nodes
/// and what is missing from the last import are left out. Scope empty: the only one there is.
std::vector<Sheet> export_inventory(const Registry& view, const std::string& scope);

/// For people: what an import of the sheets would change, and what the nodes themselves report
/// differently from their declaration.
std::vector<std::string> diff_inventory(const Registry& view, const std::vector<Sheet>& sheets,
                                        const ImportOptions& options = {});

}  // namespace tundish::control
