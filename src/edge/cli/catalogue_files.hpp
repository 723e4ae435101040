#pragma once
// The catalogue as files: codes, limits and nameplates, where they lie without a tundishd.
#include <cstddef>
#include <string>
#include <vector>

#include "edge/cli/context.hpp"
#include "model/limit.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish::edge::cli {

/// What a file holds; refused when it cannot be read or is more than `most` bytes.
Result<std::string> read_bytes(const std::string& name, std::size_t most);
/// A text that people write; refused when it is larger than such a file can be, or not UTF-8.
Result<std::string> read_small_file(const std::string& name);

/// Where the catalogue is: `asked` for, else the nearest folder above `beside` (empty: nowhere)
/// that has one, else the one that this program and its tundishd were shipped with.
struct CatalogueAsk {
  std::string asked, beside;
};
Result<std::string> find_catalogue(const Context& context, const CatalogueAsk& ask);

struct LimitFiles {
  Thresholds limits;
  Nameplates plates;
};
/// Also refused by line: a limit that no check asks for.
Result<LimitFiles> load_limit_files(const Context& context, const std::string& folder);
Result<XidCatalogue> load_codes(const std::string& folder);

}  // namespace tundish::edge::cli
