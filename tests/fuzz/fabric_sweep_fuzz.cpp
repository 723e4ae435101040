// Any bytes as what the InfiniBand tools print: no crash, and only real GUIDs and PKeys come out.
#include <string_view>

#include "base/check.hpp"
#include "families/fabrics/opensm_parts/sweep.hpp"
#include "families/fabrics/parts/rules.hpp"

using namespace tundish;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto sweep = fabrics::parse_sweep(text);
  for (const auto& port : sweep.ports) {
    check(fabrics::is_guid(port.guid), "a port has a GUID");
    for (const auto& entry : port.pkeys) {
      check(entry.pkey > 0 && entry.pkey <= 0x7fff, "a PKey has 15 bits");
    }
  }
  fabrics::find_faults(sweep, {}, {}, {});
  const std::string guid = "0x0000000000020001";
  for (const auto& path : fabrics::read_paths(text, {{guid, guid, false, {}}})) {
    for (const int pkey : path.pkeys) check(pkey >= 0 && pkey <= 0x7fff, "a PKey has 15 bits");
  }
  return 0;
}
