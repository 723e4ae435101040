// Any bytes as a BMC's answer: no crash, no link that leads off the BMC, no state made up.
#include <string>

#include "base/check.hpp"
#include "families/bmcs/leak_text.hpp"
#include "families/bmcs/power_off.hpp"
#include "families/checks/check.hpp"

using namespace tundish;

namespace {

void check_path(const std::string& path) {
  check(path.starts_with("/redfish/v1/") && path.find("..") == std::string::npos,
        "a link stays on the BMC");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* member : {"LeakDetectors", "ThermalSubsystem", "LeakDetection"}) {
    const auto link = families::find_redfish_link(text, member);
    if (link && !link->empty()) check_path(*link);
  }
  if (const auto members = families::parse_members(text)) {
    for (const auto& path : members->paths) check_path(path);
    if (!members->next.empty()) check_path(members->next);
  }
  if (const auto state = families::parse_power_state(text); state && *state == "Off") {
    check(text.find("PowerState") != std::string::npos || text.find('\\') != std::string::npos,
          "only the BMC says that a system is off");
  }
  const auto detector = families::parse_leak_detector(text, "1");
  if (!detector) return 0;
  const bool rewritten = text.find('\\') != std::string::npos ||
                         detector->state.find('?') != std::string::npos;
  check(rewritten || text.find(detector->state) != std::string::npos,
        "a state is the BMC's own word");
  CheckSample sample;
  sample.leaks = {*detector};
  check(!checks::judge_bmc(sample).empty(), "every detector has a verdict");
  return 0;
}
