#include "runtime/agent/port_shield.hpp"

#include <gmock/gmock.h>

namespace tundish::agent {
namespace {

using testing::HasSubstr;

TEST(PortShield, DropsOtherAddressesAndForwardsNothing) {
  const std::string text = render_shield("eth3", "10.64.2.2");
  EXPECT_THAT(text, HasSubstr("table ip tundish_eth3 {"));
  EXPECT_THAT(text, HasSubstr("iifname \"eth3\" ip daddr != 10.64.2.2 "
                              "fib daddr type { local, unicast } drop"));
  EXPECT_THAT(text, HasSubstr("hook forward"));
  EXPECT_LT(text.find("delete table"), text.find("chain input")) << "a repeat replaces it";
}

}  // namespace
}  // namespace tundish::agent
