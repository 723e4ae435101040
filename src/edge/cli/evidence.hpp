#pragma once
#include <string>

#include "edge/cli/context.hpp"

namespace tundish::edge::cli {

struct BundleArgs {
  std::string incident;
  std::string file;
};
/// Writes the evidence for a vendor; its sha256 is in the history.
Result<int> save_bundle(Context& context, const BundleArgs& args);

}  // namespace tundish::edge::cli
