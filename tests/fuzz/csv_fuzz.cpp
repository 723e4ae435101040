// Property: a table that was read, written and read again is the same table.
#include <cstdint>

#include "base/check.hpp"
#include "codec/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tundish;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = parse_csv(text);
  if (!table) return 0;
  std::vector<std::vector<std::string>> rows;
  int line = table->header_row;
  for (const auto& row : table->rows) {
    check(row.row > line, "rows must come in the order of the file");
    line = row.row;
    rows.push_back(row.cells);
  }
  const auto back = parse_csv(render_csv(table->header, rows));
  check(back.has_value(), "what is rendered must be taken");
  check(back->header == table->header, "the header must survive");
  check(back->rows.size() == rows.size(), "no row may appear or vanish");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check(back->rows[i].cells == rows[i], "every cell must survive");
  }
  return 0;
}
