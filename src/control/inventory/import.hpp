#pragma once
// Import of an operator's spreadsheets: all mistakes at once or all operations, never both.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.hpp"
#include "control/inventory/sheet.hpp"
#include "model/operation.hpp"

namespace tundish::control {

struct ImportProblem {
  std::string file;
  int row = 0;         ///< line of the file; 0: the file as a whole
  std::string column;  ///< heading as the file writes it; empty: the row as a whole
  std::string value;
  std::string what;
  std::string remedy;
  void fields(Fields& f) {
    f(1, "file", file, "file as it was given");
    f(2, "row", row, "line of the file, from 1; 0 when the file as a whole is meant");
    f(3, "column", column, "heading as the file writes it; empty when the row is meant");
    f(4, "value", value, "cell as the file writes it");
    f(5, "what", what, "what is wrong");
    f(6, "remedy", remedy, "what to do about it");
  }
};

/// Worth knowing, stops nothing.
struct ImportNotice {
  std::string file;
  int row = 0;
  std::string what;
  void fields(Fields& f) {
    f(1, "file", file, "file as it was given");
    f(2, "row", row, "line of the file, from 1");
    f(3, "what", what, "what was met");
  }
};

enum class ImportVerb {
  create,
  update,
  unchanged,
  missing  ///< declared by this scope before, absent now: a condition, never a retirement
};
inline std::span<const std::string_view> enum_names(ImportVerb) {
  static constexpr std::string_view names[] = {"create", "update", "unchanged", "missing"};
  return names;
}

struct ImportChange {
  std::string kind;
  std::string name;
  ImportVerb verb = ImportVerb::unchanged;
  std::vector<std::string> details;
  void fields(Fields& f) {
    f(1, "kind", kind, "site, rack, sku, switch, node, interface or cable");
    f(2, "name", name, "name of the object");
    f(3, "verb", verb, "create, update, unchanged or missing");
    f(4, "details", details, "field: before -> after, and remarks");
  }
};

struct ImportOptions {
  /// Missing rows are judged within it. Empty: the only site that the sheets name, or "default".
  std::string scope;
};

struct ImportPlan {
  std::string scope;
  std::vector<ImportProblem> problems;  ///< at most 1,000 of them
  int more_problems = 0;                ///< found beyond those
  std::vector<ImportNotice> notices;
  int more_notices = 0;
  std::vector<ImportChange> changes;     ///< empty when there are problems
  std::vector<OperationPtr> operations;  ///< empty when there are problems or nothing is new
};

/// Sheets of any subset of the kinds, known by their headings. References are looked up in the
/// sheets first, then in the registry. A heading that a sheet lacks leaves the declared value.
ImportPlan plan_import(const Registry& view, const std::vector<Sheet>& sheets,
                       const ImportOptions& options = {});

}  // namespace tundish::control
