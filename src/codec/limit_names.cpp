#include "codec/limit_names.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "codec/limits.hpp"

namespace tundish {
namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::string word(LimitUnit unit) {
  return std::string(enum_names(unit)[static_cast<std::size_t>(unit)]);
}

struct Mistake {
  std::string key, what, remedy;
};

/// Empty `key`: there is none.
Mistake mistake_of(const Limit& row, const std::vector<KnownLimit>& known) {
  std::vector<std::string> checks, names;
  for (const auto& one : known) {
    add_once(checks, one.check);
    if (one.check == row.check) add_once(names, one.name);
  }
  if (names.empty()) {
    return {"check", "no check with limits is called " + row.check, which_word(row.check, checks)};
  }
  const auto found = std::find_if(known.begin(), known.end(), [&](const KnownLimit& one) {
    return one.check == row.check && one.name == row.name;
  });
  if (found == known.end()) {
    return {"name", "check " + row.check + " has no limit called " + row.name,
            which_word(row.name, names)};
  }
  if (found->unit == row.unit) return {};
  return {"unit", row.check + "." + row.name + " is not measured in " + word(row.unit),
          "its unit is " + word(found->unit)};
}

}  // namespace

Result<> check_limit_names(std::string_view text, std::string_view file, const Thresholds& rows,
                           const std::vector<KnownLimit>& known) {
  if (known.empty()) return {};
  for (std::size_t i = 0; i < rows.limits.size(); ++i) {
    Mistake found = mistake_of(rows.limits[i], known);
    if (found.key.empty()) continue;
    return make_error(Code::invalid, std::string(file) + ":" +
                                         std::to_string(line_of_item(text, i, found.key)) + ": " +
                                         found.what)
        .with_remedy(found.remedy);
  }
  return {};
}

}  // namespace tundish
