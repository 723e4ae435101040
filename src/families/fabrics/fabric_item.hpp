#pragma once
// A kind of fabric manager: one file per item, whose exported symbol is named like the file. All
// functions are pure; drivers carry the texts.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/fabric_state.hpp"

namespace tundish::fabrics {

/// One step of a change, in the order to run them. Removal comes first.
struct FabricStep {
  std::string what;  ///< for people: "GUID 0x... leaves PKey 0x0101"
  std::string call;  ///< "PUT /resources/pkeys", "replace partitions.conf", "set partition 3"
  std::string text;  ///< body or whole file
};

struct FabricItem {
  std::string_view name;
  std::string_view doc;
  std::string_view source;
  Result<> (*accept)(const FabricState& desired);
  /// The whole of what is ours beside `foreign`, the manager's present text, which stays as it is.
  Result<std::string> (*render)(const FabricState& desired, const std::string& foreign,
                                const FabricOwnership& ownership);
  /// Total. parse(render(x, f)).own == x for every f.
  Result<FabricSeen> (*parse)(const std::string& text, const FabricOwnership& ownership);
  Result<std::vector<FabricStep>> (*steps)(const FabricState& from, const FabricState& to);
};

const FabricItem* find_fabric_item(std::string_view name);

}  // namespace tundish::fabrics

namespace tundish {
std::span<const fabrics::FabricItem* const> all_fabric_items();
}  // namespace tundish
