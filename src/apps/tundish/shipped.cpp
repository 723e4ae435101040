#include "apps/tundish/shipped.hpp"

#include <filesystem>

#include "apps/tundish/cmd_lab.hpp"
#include "families/checks/check.hpp"
#include "families/checks/limit_parts/limit_names.hpp"

namespace tundish {

std::string shipped_catalogue(const std::string& bin_dir) {
  std::error_code ignored;
  for (const std::string up :
       {"/../../../catalog", "/../../catalog", "/../share/tundish/catalog"}) {
    const std::filesystem::path path(bin_dir + up);
    if (std::filesystem::exists(path / "xid.yaml", ignored)) {
      return std::filesystem::canonical(path, ignored).string();
    }
  }
  return "/usr/share/tundish/catalog";
}

void add_shipped(edge::cli::Context& context) {
  for (const auto* check : all_checks()) {
    context.known_checks.push_back({std::string(check->name), check->kind});
  }
  context.known_limits = checks::known_limits();
  context.catalog_dir =
      shipped_catalogue(std::filesystem::path(own_path()).parent_path().string());
}

}  // namespace tundish
