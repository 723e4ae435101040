#include "families/switches/parts/same_switch.hpp"

namespace tundish::switches {

Result<> same_switch(const SwitchState& from, const SwitchState& to) {
  const auto differ = [](const std::string& what, const std::string& runs, const std::string& is) {
    return make_error(Code::conflict,
                      "the switch runs with " + what + " " + runs + ", " + is + " is declared")
        .with_remedy("correct the switch's row in the inventory");
  };
  if (from.asn != 0 && from.asn != to.asn) {
    return differ("AS", std::to_string(from.asn), std::to_string(to.asn));
  }
  if (!from.router_id.empty() && from.router_id != to.router_id) {
    return differ("router id", from.router_id, to.router_id);
  }
  if (!from.vtep_address.empty() && from.vtep_address != to.vtep_address) {
    return differ("tunnel address", from.vtep_address, to.vtep_address);
  }
  return {};
}

}  // namespace tundish::switches
