// Property: what is taken renders to a text that is taken again and gives the same object; what is
// refused leaves the object as it was and names the file.
#include <cstdint>

#include "base/check.hpp"
#include "codec/sample_test.hpp"
#include "codec/yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tundish;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  sample::Thing thing = sample::full_thing();
  const auto result = parse_yaml(text, thing, "input");
  if (!result) {
    check(thing == sample::full_thing(), "a refused document must leave the object alone");
    check(result.error().what.starts_with("input:"), "an error must name the file");
    return 0;
  }
  sample::Thing back;
  check(parse_yaml(render_yaml(thing), back, "again").has_value(),
        "what is rendered must be taken");
  check(back == thing, "the round trip must be exact");
  return 0;
}
