#include "model/ops/common.hpp"
#include "base/quote.hpp"

#include <algorithm>

namespace tundish {

Result<> require_valid_name(std::string_view kind, const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_fine = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  if (!name.empty() && name.size() <= 63 && is_letter(name[0]) &&
      std::all_of(name.begin(), name.end(), is_fine)) {
    return {};
  }
  return make_error(Code::invalid, in_quotes(name) + " is no valid name for a " + std::string(kind))
      .with_remedy("use a letter first, then letters, digits, - or _, at most 63");
}

}  // namespace tundish
