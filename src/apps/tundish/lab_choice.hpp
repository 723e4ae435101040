#pragma once
// Which labs there are on this machine, and which of them commands mean.
#include <string>
#include <vector>

#include "edge/cli/context.hpp"
#include "lab/lab.hpp"

namespace tundish {

/// Labs below the usual folder, and the one in use when it lies elsewhere; by name or root folder.
std::vector<std::string> known_labs(const edge::cli::Context& context);
/// The lab of that name as `lab list` tells it, where its root does not follow from the name; what
/// is no such name stays as it is.
std::string resolve_lab(const edge::cli::Context& context, const std::string& name_or_root);
/// What a context must hold to reach it; `not_found` with what there is instead.
Result<edge::cli::ContextFile> find_lab(const edge::cli::Context& context,
                                        const std::string& name_or_root);
/// "no lab at ROOT", with the labs that there are as the remedy.
Error no_lab_error(const edge::cli::Context& context, const std::string& name_or_root);

/// lab list, lab use.
void add_lab_choice(edge::cli::Command noun, edge::cli::Context& context);

}  // namespace tundish
