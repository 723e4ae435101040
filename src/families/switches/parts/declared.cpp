#include "families/switches/parts/declared.hpp"

#include <algorithm>

namespace tundish::switches {
namespace {

Error differs(const std::string& what, const std::string& shown, const std::string& declared) {
  return make_error(Code::conflict,
                    "the switch shows " + what + " " + shown + ", declared is " + declared)
      .about("switch")
      .with_remedy("correct the switch's row in the inventory, or the switch");
}

}  // namespace

Result<> same_declared(const SwitchState& from, const SwitchState& to) {
  if (from.asn != 0 && from.asn != to.asn) {
    return differs("AS", std::to_string(from.asn), std::to_string(to.asn));
  }
  if (!from.router_id.empty() && from.router_id != to.router_id) {
    return differs("router-id", from.router_id, to.router_id);
  }
  if (!from.vtep_address.empty() && from.vtep_address != to.vtep_address) {
    return differs("tunnel end", from.vtep_address, to.vtep_address);
  }
  const bool has_gateway =
      std::any_of(from.segments.begin(), from.segments.end(),
                  [](const SegmentState& segment) { return !segment.gateway.empty(); });
  if (has_gateway && from.anycast_mac != to.anycast_mac) {
    return differs("gateway MAC", from.anycast_mac, to.anycast_mac);
  }
  return {};
}

}  // namespace tundish::switches
