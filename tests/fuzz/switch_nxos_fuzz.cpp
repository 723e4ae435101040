// Configurations of the nxos item, from whoever wrote them.
#include <cstddef>
#include <cstdint>

#include "switch_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  tundish::switches::fuzz_switch("nxos", "running-config", text,
                                 {"Ethernet1/1", "Ethernet1/2", "Ethernet1/3", "Ethernet1/4",
                                  "Ethernet1/5", "Ethernet1/6", "Ethernet1/7"});
  return 0;
}
