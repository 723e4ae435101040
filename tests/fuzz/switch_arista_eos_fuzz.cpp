// Configurations of the arista_eos item, from whoever wrote them.
#include <cstddef>
#include <cstdint>

#include "switch_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  tundish::switches::fuzz_switch(
      "arista_eos", "running-config", text,
      {"Ethernet1", "Ethernet2", "Ethernet3", "Ethernet4", "Ethernet5", "Ethernet6", "Ethernet7"});
  return 0;
}
