#pragma once
#include "edge/cli/program.hpp"
#include "lab/lab.hpp"

namespace tundish {

/// lab up, down, status, list, use, exec, ssh; hidden: supervise, node-init, connect.
void add_lab(edge::cli::Command root, edge::cli::Context& context);

/// The lab that a context names: a name, or a root folder.
lab::LabPaths lab_paths(const std::string& name_or_root);
/// Full path of this program.
std::string own_path();

}  // namespace tundish
