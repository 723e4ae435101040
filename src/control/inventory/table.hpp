#pragma once
// A sheet whose kind and headings are understood, and a reader of its cells that collects problems.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "control/inventory/cell.hpp"
#include "control/inventory/import.hpp"

namespace tundish::control::inventory {

enum class SheetKind { skus, racks, devices, interfaces, cables };
inline std::span<const std::string_view> enum_names(SheetKind) {
  static constexpr std::string_view names[] = {"skus", "racks", "devices", "interfaces", "cables"};
  return names;
}
std::string kind_name(SheetKind kind);

/// Headings in the order in which the export writes them.
const std::vector<std::string>& columns_of(SheetKind kind);

struct SheetTable {
  const Sheet* sheet = nullptr;
  SheetKind kind = SheetKind::devices;
  std::map<std::string, std::size_t> columns;  ///< our name of a heading to its place
};

/// Bounded, so that a file of nothing but mistakes costs no more than it can tell.
struct Findings {
  std::vector<ImportProblem> problems;
  std::vector<ImportNotice> notices;
  int more_problems = 0;  ///< found beyond those
  int more_notices = 0;
  std::int64_t hint_work = 500'000;  ///< names that "did you mean" may still look at

  void add(ImportProblem problem);
  void add(ImportNotice notice);
  bool is_full() const { return problems.size() >= most_findings; }

  static constexpr std::size_t most_findings = 1000;
};

/// Every readable sheet, kinds in the order of SheetKind; what cannot be used is a problem.
std::vector<SheetTable> understand(const std::vector<Sheet>& sheets, Findings& findings);

struct RowRef {
  const SheetTable* table = nullptr;
  std::size_t index = 0;
  bool operator==(const RowRef&) const = default;
};

/// What to say of a cell.
struct Blame {
  std::string column;  ///< our name of it; empty: the row
  std::string what;
  std::string remedy;
};

class Cells {
 public:
  Cells(RowRef at, Findings& findings) : at_(at), findings_(findings) {}

  bool has(const std::string& column) const { return at_.table->columns.contains(column); }
  /// Tidied; empty when there is no such column.
  std::string text(const std::string& column) const;
  /// The nearest cell above that is not empty: what merged cells left.
  std::string above(const std::string& column) const;
  /// The candidate that `word` is probably a slip of; "" also when enough was suggested already.
  std::string hint(std::string_view word,
                   const std::function<std::vector<std::string>()>& candidates) const;
  void blame(const Blame& blame) const;
  void note(std::string what) const;
  /// "devices.csv row 5"
  std::string place() const;
  RowRef at() const { return at_; }

  /// nullopt: no such column, or a problem was noted. An empty cell is an empty T.
  template <class T>
  std::optional<T> read(const std::string& column, Result<T> (*parse)(std::string_view)) const {
    if (!has(column)) return std::nullopt;
    const std::string cell = text(column);
    if (cell.empty()) return T{};
    if (!refuse_error_mark(cell)) return std::nullopt;  // noted by check_row
    return settle(column, parse(cell));
  }
  std::optional<std::int64_t> integer(const std::string& column, const IntegerRange& range) const;
  /// A problem also when the cell is empty, with what merged cells above suggest.
  std::optional<std::string> require(const std::string& column,
                                     Result<std::string> (*parse)(std::string_view)) const;
  /// Cells to the right of the last heading, and error marks in columns that are used.
  void check_row() const;

 private:
  template <class T>
  std::optional<T> settle(const std::string& column, const Result<T>& value) const {
    if (value) return *value;
    blame({column, value.error().what, value.error().remedy});
    return std::nullopt;
  }
  std::string raw(const std::string& column, std::size_t index) const;

  RowRef at_;
  Findings& findings_;
};

}  // namespace tundish::control::inventory
