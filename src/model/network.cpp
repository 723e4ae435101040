#include "model/network.hpp"

namespace tundish {
namespace {

std::string five_digits(int number) {
  const std::string text = std::to_string(number);
  return text.size() < 5 ? std::string(5 - text.size(), '0') + text : text;
}

}  // namespace

std::string vrf_name(int vrf_id) { return "Vrf" + five_digits(vrf_id); }
std::string segment_name(int l2vni) { return "seg" + std::to_string(l2vni); }
std::string acl_name(int vrf_id) { return "T-" + std::to_string(vrf_id) + "-IN"; }
std::string partition_name(int vrf_id) { return "t" + five_digits(vrf_id); }

}  // namespace tundish
