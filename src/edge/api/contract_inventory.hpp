#pragma once
// Bodies of /v1/inventory: CSV files in, problems and changes out.
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish::edge {

struct FileText {
  std::string name, content;
  void fields(Fields& f) {
    f(1, "name", name, "file name, for messages");
    f(2, "content", content, "CSV text");
  }
};

struct InventoryRequest {
  std::vector<FileText> files;
  std::string scope;
  bool dry_run = false;
  void fields(Fields& f) {
    f(1, "files", files, "CSV files; the kind of each is known by its header");
    f(2, "scope", scope, "rows missing from this scope are marked; empty: default");
    f(3, "dry_run", dry_run, "plan only");
  }
};

struct InventoryProblem {
  std::string file;
  int row = 0;
  std::string column, value, what, remedy;
  void fields(Fields& f) {
    f(1, "file", file, "file name");
    f(2, "row", row, "line as a person counts them");
    f(3, "column", column, "header of the column");
    f(4, "value", value, "cell as read");
    f(5, "what", what, "what is wrong");
    f(6, "remedy", remedy, "what would be right");
  }
};

struct InventoryChange {
  std::string kind, name, verb, details;
  void fields(Fields& f) {
    f(1, "kind", kind, "node, rack, sku, switch, cable ...");
    f(2, "name", name, "name of the object");
    f(3, "verb", verb, "create, update, unchanged or missing");
    f(4, "details", details, "fields that change");
  }
};

struct InventoryAnswer {
  std::vector<InventoryProblem> problems;
  std::vector<InventoryChange> changes;
  std::vector<std::string> lines;
  bool applied = false;
  int more_problems = 0;
  void fields(Fields& f) {
    f(1, "problems", problems, "the first 1,000; with one, nothing is changed");
    f(2, "changes", changes, "what is, or would be, done");
    f(3, "lines", lines, "for diff: differences in words");
    f(4, "applied", applied, "the changes are durable");
    f(5, "more_problems", more_problems, "found beyond those that are listed");
  }
};

}  // namespace tundish::edge
