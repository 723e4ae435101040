#pragma once
// A switch's parser never fails, and what it read can be written and read again.
#include <algorithm>
#include <string>
#include <string_view>
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

/// Files behind lines `@@ NAME`.
inline SwitchFiles split_files(std::string_view text) {
  SwitchFiles out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    if (line.starts_with("@@ ")) {
      out.push_back({std::string(line.substr(3, line.find('\n') - 3)), ""});
    } else if (!out.empty()) {
      out.back().text += line;
    }
    text.remove_prefix(end + 1);
  }
  return out;
}

/// For items of several files: what is taken for ours obeys the rules of ours.
inline void fuzz_switch_files(const char* item_name, std::string_view text,
                              const std::vector<std::string>& ports) {
  const SwitchItem& item = *find_switch_item(item_name);
  SwitchOwnership ownership;
  ownership.ports = ports;
  const auto seen = item.parse(split_files(text), ownership);
  if (!seen) return;
  for (const auto& vrf : seen->own.vrfs) check(vrf.name.starts_with("Vrf"), "a VRF of ours");
  for (const auto& port : seen->own.ports) {
    check(std::find(ports.begin(), ports.end(), port.name) != ports.end(), "a port of ours");
  }
  for (const auto& acl : seen->own.acls) check(acl.name.starts_with("T-"), "a list of ours");
  const auto same = item.steps(seen->own, seen->own);
  check(!same || same->empty(), "a state does not differ from itself");
  if (const auto files = item.render(seen->own)) {
    const auto again = item.parse(*files, ownership);
    check(again && again->own == seen->own, "what may be rendered reads back");
  }
}

}  // namespace tundish::switches
