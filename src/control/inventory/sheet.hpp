#pragma once
// A spreadsheet as the import takes it. The parser lives elsewhere: control reads no files.
#include <string>
#include <vector>

namespace tundish::control {

struct SheetRow {
  int row = 0;  ///< line of the file, from 1
  std::vector<std::string> cells;
};

/// Something odd that the parser met and that did not stop the reading.
struct SheetNotice {
  int row = 0;
  int column = 0;  ///< from 1
  std::string what;
};

struct Sheet {
  std::string file;
  std::vector<std::string> header;
  std::vector<SheetRow> rows;
  std::vector<SheetNotice> notices;
  int header_row = 1;
  std::string unreadable;  ///< why the parser gave up; then only `file` is set
};

}  // namespace tundish::control
