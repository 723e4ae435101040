#pragma once
// Limits that cannot fire, or always do: found by arithmetic, before a node is judged by them.
#include <string>
#include <vector>

#include "model/limit.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish {

struct LintFinding {
  std::string object;
  std::string problem;
  std::string remedy;
  void fields(Fields& f) {
    f(1, "object", object, "file or row");
    f(2, "problem", problem, "what cannot work");
    f(3, "remedy", remedy, "what to do");
  }
};

/// Against nameplates: a floor below a quarter of what the maker prints can hardly fail, one above
/// it always does. Shares beyond 0 and 100 percent, a fail weaker than its warn, an element that
/// the query does not have. `checks`: names that exist; empty: not looked at.
std::vector<LintFinding> lint_limits(const Thresholds& thresholds, const Nameplates& nameplates,
                                     const std::vector<std::string>& checks);

/// Every published code has a row with an action, every row of a hardware fault one that ends it.
std::vector<LintFinding> lint_catalogue(const XidCatalogue& catalogue);

}  // namespace tundish
