// The parser of what a switch of kind sonic shows never crashes, and what it accepts as ours obeys
// its own rules. The input is files behind lines `@@ NAME`.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "families/switches/switch_item.hpp"

using namespace tundish;
using namespace tundish::switches;

namespace {

SwitchFiles split_files(std::string_view text) {
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const SwitchItem& item = *find_switch_item("sonic");
  SwitchOwnership ownership;
  ownership.ports = {"Ethernet0", "Ethernet4"};
  const auto seen = item.parse(split_files({reinterpret_cast<const char*>(data), size}), ownership);
  if (!seen) return 0;
  for (const auto& vrf : seen->own.vrfs) check(vrf.name.starts_with("Vrf"), "a VRF of ours");
  for (const auto& port : seen->own.ports) {
    check(port.name == "Ethernet0" || port.name == "Ethernet4", "a port of ours");
  }
  for (const auto& acl : seen->own.acls) check(acl.name.starts_with("T-"), "a list of ours");
  const auto same = item.steps(seen->own, seen->own);
  check(!same || same->empty(), "a state does not differ from itself");
  if (const auto files = item.render(seen->own)) {
    const auto again = item.parse(*files, ownership);
    check(again && again->own == seen->own, "what may be rendered reads back");
  }
  return 0;
}
