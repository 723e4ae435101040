#pragma once
// Files that tundishd and the agents of a lab find when they start.
#include <string>

#include "lab/lab.hpp"

namespace tundish {

/// What the command line must know to reach a lab's tundishd.
struct LabAccess {
  std::string api;
  std::string token_file;
};
LabAccess lab_access(const lab::LabPaths& paths);

/// By path inside the lab's root. Makes fresh secrets at every call.
Result<lab::LabFiles> lab_files(const lab::LabSpec& spec);

}  // namespace tundish
