#pragma once
// Spreadsheets as operators keep them (RFC 4180 and what programs write instead of it).
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tundish {

struct CsvRow {
  int row = 0;  ///< line of the file on which the record starts, from 1
  std::vector<std::string> cells;
};

/// Something odd that did not stop the reading.
struct CsvNotice {
  int row = 0;
  int column = 0;  ///< from 1
  std::string what;
};

struct CsvTable {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;  ///< as wide as the header at least
  std::vector<CsvNotice> notices;
  char separator = ',';
  int header_row = 0;
};

/// Takes a byte order mark, any line ends, and comma, semicolon or tab as separator, found in the
/// header or in Excel's "sep=" line. Blank rows and blank trailing columns are dropped. A cell that
/// is not UTF-8 is read as Latin-1 and noted, as is a cell to the right of the header.
Result<CsvTable> parse_csv(std::string_view text);

/// Comma, "\n", quotes only where needed. A cell that a spreadsheet would run as a formula (starts
/// with = + - @, tab or carriage return, and is not a negative number) gets a leading apostrophe,
/// which spreadsheets read as "text". parse_csv takes exactly one such apostrophe off again, so the
/// way there and back is exact.
std::string render_csv(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows);

}  // namespace tundish
