// What a switch of kind frr shows, from whoever wrote it: files behind lines `@@ NAME`.
#include <cstddef>
#include <cstdint>

#include "switch_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tundish::switches::fuzz_switch_files("frr", {reinterpret_cast<const char*>(data), size},
                                       {"swp1", "swp2"});
  return 0;
}
