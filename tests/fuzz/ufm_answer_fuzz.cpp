// Any bytes as the manager's answer: no crash, and what is read is rendered and read again alike.
#include <string>

#include "base/check.hpp"
#include "families/fabrics/fabric_item.hpp"

using namespace tundish;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto& item = *fabrics::find_fabric_item("ufm");
  const FabricOwnership ours;
  const auto seen = item.parse(text, ours);
  if (!seen || !item.accept(seen->own)) return 0;
  const auto made = item.render(seen->own, text, ours);
  if (!made) return 0;
  const auto again = item.parse(*made, ours);
  check(again && again->own == seen->own, "what is rendered reads back");
  return 0;
}
