#pragma once
// The routes of an FRR switch: what the kernel has, held against what FRR means to be there.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tundish::switches {

enum class RouteFamily { ipv4, ipv6 };

/// One entry of `ip -N -j route show table all`.
struct KernelRoute {
  struct Hop {
    std::string gateway, device;
  };
  std::string netns, table, to, origin, type;
  RouteFamily family = RouteFamily::ipv4;
  std::vector<Hop> hops = {};

  std::string way() const;  ///< " via 10.0.0.1 dev swp1"
};

class FrrRoutes {
 public:
  /// `show ip route vrf NAME` of any number of VRFs, one behind the other.
  void take_rib(const std::string& text);
  /// But those that the kernel makes itself, for its addresses.
  Result<> take_kernel(const std::string& text, const std::string& netns, RouteFamily family);

  const std::vector<KernelRoute>& kernel() const { return kernel_; }
  /// One of FRR's daemons wants exactly this. We write no IPv6 route, and none by hand.
  bool is_explained(const KernelRoute& route, const std::string& vrf) const;

 private:
  /// Of one prefix in one VRF: "10.255.0.2 br50010", "" "br110".
  using Ways = std::set<std::pair<std::string, std::string>>;

  std::vector<KernelRoute> kernel_;
  std::map<std::pair<std::string, std::string>, Ways> rib_;  ///< (VRF, prefix)
};

}  // namespace tundish::switches
