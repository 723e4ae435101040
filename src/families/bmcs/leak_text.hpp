#pragma once
// What a BMC says of detectors of leaks, read from its Redfish documents. Pure.
// Source: DMTF DSP0268 2025.4: Chassis 1.26 (LeakDetectors), ThermalSubsystem (LeakDetection),
// LeakDetection 1.2 (its own LeakDetectors are deprecated and still what most BMCs serve),
// LeakDetector 1.6; DSP0266 1.21 (links, Members@odata.nextLink); checked 2026-11
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/node_readings.hpp"

namespace tundish::families {

/// The resource that a document says to look at next; empty: it names none. Only paths below
/// /redfish/v1/ on the same BMC are links.
Result<std::string> find_redfish_link(std::string_view text, std::string_view member);

struct RedfishMembers {
  std::vector<std::string> paths;
  std::string next;  ///< the rest of the collection; empty: that is all
};
Result<RedfishMembers> parse_members(std::string_view text);

/// `chassis`: Id of what the detector belongs to. What is not told is empty, never OK.
Result<LeakDetector> parse_leak_detector(std::string_view text, const std::string& chassis);

/// Last part of a resource's path.
std::string redfish_id(const std::string& path);

}  // namespace tundish::families
