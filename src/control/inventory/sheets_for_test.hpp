#pragma once
// Sheets from text, and a registry that takes a plan.
#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"
#include "control/inventory/import.hpp"
#include "model/registry.hpp"

namespace tundish::control::inventory {

/// Lines of cells split at commas; no quotes.
inline Sheet sheet_of(std::string file, std::string_view text) {
  Sheet sheet;
  sheet.file = std::move(file);
  int line = 0;
  for (const auto& row : split(text, '\n')) {
    ++line;
    if (row.empty()) continue;
    if (sheet.header.empty()) {
      sheet.header = split(row, ',');
    } else {
      auto cells = split(row, ',');
      cells.resize(std::max(cells.size(), sheet.header.size()));
      sheet.rows.push_back({line, std::move(cells)});
    }
  }
  return sheet;
}

/// Performs every operation; a plan must never hold one that is refused.
inline void apply(Registry& registry, const ImportPlan& plan) {
  for (const auto& operation : plan.operations) {
    Txn txn(registry, Instant{1}, "test");
    const auto done = operation->perform(txn);
    ASSERT_TRUE(done.has_value()) << operation->name() << " " << operation->object() << ": "
                                  << done.error().message();
  }
}

inline std::string problems_of(const ImportPlan& plan) {
  std::string out;
  for (const auto& p : plan.problems) {
    out += p.file + ":" + std::to_string(p.row) + ":" + p.column + ": " + p.what + "\n";
  }
  return out;
}

inline const Node& node_named(const Registry& registry, const std::string& name) {
  const Node* found = registry.find_named<Node>(name);
  EXPECT_NE(found, nullptr) << name;
  static const Node none;
  return found ? *found : none;
}

}  // namespace tundish::control::inventory
