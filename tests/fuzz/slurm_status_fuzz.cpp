// The parsers of what Slurm shows never crash, and what they accept obeys its own rules.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "families/engines/slurm_parts/names.hpp"
#include "families/engines/slurm_parts/parts.hpp"

using namespace tundish;
using namespace tundish::slurm_parts;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto seen = parse_observation(text)) {
    check(seen->reachable, "an observation is of a controller that answered");
    for (const auto& node : seen->nodes) check(!node.name.empty(), "a node has a name");
    check(plan_commands({}, *seen).size() <= seen->nodes.size() + seen->jobs.size() + 2,
          "a plan is bounded by what was seen");
  }
  (void)parse_sinfo_json(text);
  (void)parse_squeue_json(text);
  (void)parse_time(text.substr(0, 19));
  if (const auto names = expand_hostlist(text)) {
    check(names->size() <= hostlist_limit, "a list has a limit");
    if (names->size() < 1000) {
      const auto again = expand_hostlist(fold_hostlist(*names));
      // Names with brackets or commas cannot come out of a list, so folding loses nothing.
      check(again.has_value(), "what we fold can be expanded");
    }
  }
  const auto reason = clean_reason(text);
  check(is_our_reason(reason) && clean_reason(reason) == reason, "a clean reason stays as it is");
  return 0;
}
