// Property: what is taken renders to a text that is taken again and renders the same; what is
// refused leaves the object as it was.
#include <cstdint>

#include "base/check.hpp"
#include "codec/json.hpp"
#include "codec/sample_test.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tundish;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  sample::Thing thing = sample::full_thing();
  if (parse_json(text, thing)) {
    const std::string once = render_json(thing);
    sample::Thing back;
    check(parse_json(once, back).has_value(), "what is rendered must be taken");
    check(back == thing && render_json(back) == once, "the round trip must be exact");
  } else {
    check(thing == sample::full_thing(), "a refused document must leave the object alone");
  }
  sample::Thing lenient;
  std::string kept;
  if (parse_json(text, lenient, Unknown::keep_out, &kept)) {
    const std::string merged = merge_json(render_json(lenient), kept);
    sample::Thing back;
    std::string kept_again;
    check(parse_json(merged, back, Unknown::keep_out, &kept_again).has_value(),
          "what is merged must be taken");
    check(back == lenient, "merging must not change known fields");
    check(kept_again == kept, "merging must lose no unknown field");
  }
  if (const auto value = JsonValue::parse(text)) {
    const auto again = JsonValue::parse(value->render());
    check(again && again->render() == value->render(), "a value must survive the round trip");
  }
  return 0;
}
