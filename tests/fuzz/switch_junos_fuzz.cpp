// Configurations of the junos item, from whoever wrote them.
#include <cstddef>
#include <cstdint>

#include "switch_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  tundish::switches::fuzz_switch(
      "junos", "configuration", text,
      {"et-0/0/1", "et-0/0/2", "et-0/0/3", "et-0/0/4", "et-0/0/5", "et-0/0/6", "et-0/0/7"});
  return 0;
}
