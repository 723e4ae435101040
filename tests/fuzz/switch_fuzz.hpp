#pragma once
// A switch's parser never fails, and what it read can be written and read again.
#include <algorithm>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "families/switches/switch_item.hpp"

namespace tundish::switches {

inline void fuzz_switch(const char* item_name, const char* file, std::string text,
                        std::vector<std::string> ports) {
  const SwitchItem* item = find_switch_item(item_name);
  check(item != nullptr, "the item is in the table");
  SwitchOwnership ownership;
  ownership.ports = std::move(ports);
  const auto seen = item->parse({{file, std::move(text)}}, ownership);
  check(seen.has_value(), "a parser is total");
  SwitchState sorted = seen->own;
  sort_state(sorted);
  check(sorted == seen->own, "what is read is in order");
  const auto none = item->steps(seen->own, seen->own);
  check(!none || none->empty(), "the same state needs no step");
  if (!item->accept(seen->own)) return;
  const auto files = item->render(seen->own);
  check(files.has_value(), "what is accepted can be written");
  ownership.ports.clear();
  for (const auto& port : seen->own.ports) ownership.ports.push_back(port.name);
  const auto again = item->parse(*files, ownership);
  check(again && again->own == seen->own, "what is written reads the same");
  check(again->unclear.empty(), "what is written is understood");
}

}  // namespace tundish::switches
