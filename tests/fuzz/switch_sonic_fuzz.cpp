// What a switch of kind sonic shows, from whoever wrote it: files behind lines `@@ NAME`.
#include <cstddef>
#include <cstdint>

#include "switch_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tundish::switches::fuzz_switch_files("sonic", {reinterpret_cast<const char*>(data), size},
                                       {"Ethernet0", "Ethernet4"});
  return 0;
}
