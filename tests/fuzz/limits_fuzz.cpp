// Thresholds and nameplates: refused with file and line, or lint and choice take them.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "codec/limits.hpp"
#include "codec/limits_lint.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plates = tundish::load_nameplates(text, "f");
  if (!plates) tundish::check(plates.error().what.find("f:") != std::string::npos, "says where");
  const auto limits = tundish::load_thresholds(text, "f", plates ? *plates : tundish::Nameplates{});
  if (!limits) {
    tundish::check(limits.error().what.find("f:") != std::string::npos, "says where");
    return 0;
  }
  (void)tundish::lint_limits(*limits, plates ? *plates : tundish::Nameplates{}, {});
  (void)tundish::limits_for(*limits, "h100_sxm", "570.1");
  return 0;
}
