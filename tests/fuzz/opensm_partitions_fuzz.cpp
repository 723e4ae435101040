// Any bytes as partitions.conf: no crash; what is rendered beside them is a file that opensm takes,
// keeps the tenants' partitions as they are, and is the same the second time.
#include <string>

#include "base/check.hpp"
#include "families/fabrics/fabric_item.hpp"
#include "families/fabrics/opensm_parts/withdrawal.hpp"

using namespace tundish;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto& item = *fabrics::find_fabric_item("opensm");
  const FabricOwnership ours;
  const auto seen = item.parse(text, ours);
  check(seen.has_value(), "the reader is total");
  FabricState wanted;
  wanted.partitions.push_back({"t00010",
                               0x110,
                               true,
                               false,
                               4096,
                               100,
                               3,
                               {{"0x0000000000020001", IbMembership::limited}}});
  const auto made = item.render(wanted, text, ours);
  if (!made) return 0;
  if (fabrics::is_withdrawal(text, *made, ours)) {
    check(seen->own.partitions.size() >= 1, "nobody joins by a withdrawal");
  }
  const auto again = item.parse(*made, ours);
  check(again->own == wanted && !again->default_is_full, "what is rendered reads back");
  const auto twice = item.render(wanted, *made, ours);
  check(twice && *twice == *made, "the second time changes nothing");
  return 0;
}
