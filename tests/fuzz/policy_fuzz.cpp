// Property: whatever a policy file holds, it is refused with its place or read; what is read
// renders to a text that is the same policy; what is small enough is proved or refuted, never
// neither.
#include <cstdint>

#include "base/check.hpp"
#include "codec/yaml.hpp"
#include "control/verify/verify.hpp"

namespace {

constexpr std::size_t most_states = 12;
constexpr int most_budget = 2;

bool is_small(const tundish::RemediationPolicy& policy) {
  if (policy.states.size() > most_states || policy.faults.size() > 6) return false;
  for (const auto& [name, state] : policy.states) {
    if (state.budget > most_budget || state.next.size() > 8) return false;
    for (const auto& edge : state.next) {
      if (edge.when.size() > 4) return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tundish;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  RemediationPolicy policy;
  if (const auto read = parse_yaml(text, policy, "policy"); !read) {
    check(read.error().what.starts_with("policy:"), "an error must name the file");
    return 0;
  }
  RemediationPolicy again;
  const std::string rendered = render_yaml(policy);
  check(parse_yaml(rendered, again, "again").has_value(), "what is rendered must be taken");
  check(render_yaml(again) == rendered, "the round trip must be exact");
  if (!is_small(policy)) return 0;
  const auto found =
      control::verify::verify({policy, {{"xid 79", "reboot", "gpu", true, false}}, {}});
  if (!found) return 0;
  check(found->proved.size() + found->refuted.size() == 11, "each property has a verdict");
  for (const auto& refuted : found->refuted) {
    check(!refuted.verdict.empty(), "a refutation must say what is wrong");
  }
  return 0;
}
