// Verdicts of other programs: any text gives verdicts, each with its source and a reason.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "codec/foreign_verdicts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using Parse = std::vector<tundish::Verdict> (*)(std::string_view);
  for (const Parse parse :
       {tundish::parse_dcgm_health, tundish::parse_dcgm_fields, tundish::parse_nhc_log,
        tundish::parse_gpud_states, tundish::parse_node_conditions,
        tundish::parse_soperator_results}) {
    const auto verdicts = parse(text);
    tundish::check(!verdicts.empty(), "every text says something, if only that it is not known");
    for (const auto& verdict : verdicts) {
      tundish::check(!verdict.source.empty() && !verdict.reason.empty(), "it has a source");
      tundish::check(verdict.reason.size() < 1000 && verdict.device.size() < 200, "bounded");
    }
  }
  return 0;
}
