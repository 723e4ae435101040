#include "lab/redfish_text.hpp"

#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

namespace tundish::lab {
namespace {

struct Member {
  std::string name;
  std::string json;
};

/// Texts here are ours or checked names: nothing needs escaping but quotes in messages.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string object(std::initializer_list<Member> members) {
  std::string out = "{";
  for (const auto& member : members) {
    if (out.size() > 1) out += ",";
    out += quoted(member.name) + ":" + member.json;
  }
  return out + "}";
}

std::string link(std::string_view path) { return object({{"@odata.id", quoted(path)}}); }

std::string collection(std::string_view path, std::string_view type,
                       const std::vector<std::string>& members) {
  std::string links;
  for (const auto& member : members) links += (links.empty() ? "" : ",") + link(member);
  return object({{"@odata.id", quoted(path)},
                 {"@odata.type", quoted(type)},
                 {"Members@odata.count", std::to_string(members.size())},
                 {"Members", "[" + links + "]"}});
}

std::string collection(std::string_view path, std::string_view type, std::string_view member) {
  return collection(path, type, std::vector<std::string>{std::string(member)});
}

std::string status() { return object({{"State", quoted("Enabled")}, {"Health", quoted("OK")}}); }

const char* power_state(const NodeState& node) { return node.powered ? "On" : "Off"; }

std::string system_document(const NodeState& node) {
  const std::string boot = object({{"BootSourceOverrideEnabled", quoted("Disabled")},
                                   {"BootSourceOverrideTarget", quoted("None")},
                                   {"BootSourceOverrideMode", quoted("UEFI")}});
  const std::string action = object(
      {{"target", quoted("/redfish/v1/Systems/1/Actions/ComputerSystem.Reset")},
       {"ResetType@Redfish.AllowableValues",
        R"(["On","ForceOff","GracefulShutdown","ForceRestart","GracefulRestart","PowerCycle"])"}});
  return object({{"@odata.id", quoted("/redfish/v1/Systems/1")},
                 {"@odata.type", quoted("#ComputerSystem.v1_20_0.ComputerSystem")},
                 {"Id", quoted("1")},
                 {"Name", quoted("System")},
                 {"HostName", quoted(node.hardware.name)},
                 {"Manufacturer", quoted("Tundish Lab")},
                 {"SerialNumber", quoted(node.hardware.serial)},
                 {"PowerState", quoted(power_state(node))},
                 {"Status", status()},
                 {"Boot", boot},
                 {"Actions", object({{"#ComputerSystem.Reset", action}})}});
}

constexpr std::string_view thermal_path = "/redfish/v1/Chassis/1/ThermalSubsystem";

std::string chassis_document(const NodeState& node) {
  const std::string placement =
      object({{"Placement", object({{"Rack", quoted(node.hardware.rack)}})}});
  std::string out = object({{"@odata.id", quoted("/redfish/v1/Chassis/1")},
                            {"@odata.type", quoted("#Chassis.v1_22_0.Chassis")},
                            {"Id", quoted("1")},
                            {"Name", quoted("Chassis")},
                            {"ChassisType", quoted("RackMount")},
                            {"SerialNumber", quoted(node.hardware.serial)},
                            {"PowerState", quoted(power_state(node))},
                            {"Location", placement},
                            {"Status", status()}});
  if (node.leak_detectors.empty()) return out;
  out.back() = ',';
  return out + quoted("ThermalSubsystem") + ":" + link(thermal_path) + "}";
}

const std::string detection_path = std::string(thermal_path) + "/LeakDetection";
const std::string detectors_path = detection_path + "/LeakDetectors";

/// As most BMCs serve them: below the thermal subsystem. Source: DMTF DSP0268, LeakDetection 1.1,
/// LeakDetector 1.4; checked 2026-11.
std::optional<std::string> leak_document(std::string_view path, const NodeState& node) {
  if (node.leak_detectors.empty()) return std::nullopt;
  if (path == thermal_path) {
    return object({{"@odata.id", quoted(path)},
                   {"@odata.type", quoted("#ThermalSubsystem.v1_3_3.ThermalSubsystem")},
                   {"Id", quoted("ThermalSubsystem")},
                   {"Name", quoted("Thermal Subsystem")},
                   {"LeakDetection", link(detection_path)},
                   {"Status", status()}});
  }
  if (path == detection_path) {
    return object({{"@odata.id", quoted(path)},
                   {"@odata.type", quoted("#LeakDetection.v1_1_0.LeakDetection")},
                   {"Id", quoted("LeakDetection")},
                   {"Name", quoted("Leak Detection")},
                   {"LeakDetectors", link(detectors_path)},
                   {"Status", status()}});
  }
  if (path == detectors_path) {
    std::vector<std::string> members;
    for (const auto& [name, state] : node.leak_detectors) {
      members.push_back(detectors_path + "/" + name);
    }
    return collection(path, "#LeakDetectorCollection.LeakDetectorCollection", members);
  }
  for (const auto& [name, state] : node.leak_detectors) {
    if (path != detectors_path + "/" + name) continue;
    const bool away = state == "Unavailable";
    return object({{"@odata.id", quoted(path)},
                   {"@odata.type", quoted("#LeakDetector.v1_4_0.LeakDetector")},
                   {"Id", quoted(name)},
                   {"Name", quoted("Leak Detector " + name)},
                   {"LeakDetectorType", quoted("Moisture")},
                   {"DetectorState", quoted(state)},
                   {"PhysicalContext", quoted(name == "ColdPlate" ? "GPU" : "LiquidInlet")},
                   {"Status",
                    away ? object({{"State", quoted("UnavailableOffline")}}) : status()}});
  }
  return std::nullopt;
}

std::string service_root() {
  return object({{"@odata.id", quoted("/redfish/v1/")},
                 {"@odata.type", quoted("#ServiceRoot.v1_15_0.ServiceRoot")},
                 {"Id", quoted("RootService")},
                 {"Name", quoted("Root Service")},
                 {"RedfishVersion", quoted("1.17.0")},
                 {"Systems", link("/redfish/v1/Systems")},
                 {"Chassis", link("/redfish/v1/Chassis")},
                 {"Managers", link("/redfish/v1/Managers")}});
}

std::string manager_interface(const NodeState& node) {
  return object({{"@odata.id", quoted("/redfish/v1/Managers/1/EthernetInterfaces/1")},
                 {"@odata.type", quoted("#EthernetInterface.v1_10_0.EthernetInterface")},
                 {"Id", quoted("1")},
                 {"Name", quoted("Manager Ethernet Interface")},
                 {"MACAddress", quoted(node.hardware.bmc_mac)},
                 {"IPv4Addresses",
                  "[" + object({{"Address", quoted(node.hardware.bmc_address)}}) + "]"}});
}

}  // namespace

std::optional<std::string> render_redfish(std::string_view path, const NodeState& node) {
  if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  if (path == "/redfish/v1") return service_root();
  if (path == "/redfish/v1/Systems/1") return system_document(node);
  if (path == "/redfish/v1/Chassis/1") return chassis_document(node);
  if (path == "/redfish/v1/Managers/1/EthernetInterfaces/1") return manager_interface(node);
  if (path == "/redfish/v1/Systems") {
    return collection(path, "#ComputerSystemCollection.ComputerSystemCollection",
                      "/redfish/v1/Systems/1");
  }
  if (path == "/redfish/v1/Chassis") {
    return collection(path, "#ChassisCollection.ChassisCollection", "/redfish/v1/Chassis/1");
  }
  if (path == "/redfish/v1/Managers") {
    return collection(path, "#ManagerCollection.ManagerCollection", "/redfish/v1/Managers/1");
  }
  if (path == "/redfish/v1/Managers/1") {
    return object({{"@odata.id", quoted(path)},
                   {"@odata.type", quoted("#Manager.v1_19_0.Manager")},
                   {"Id", quoted("1")},
                   {"Name", quoted("BMC")},
                   {"ManagerType", quoted("BMC")},
                   {"Status", status()},
                   {"EthernetInterfaces", link("/redfish/v1/Managers/1/EthernetInterfaces")}});
  }
  if (path == "/redfish/v1/Managers/1/EthernetInterfaces") {
    return collection(path, "#EthernetInterfaceCollection.EthernetInterfaceCollection",
                      "/redfish/v1/Managers/1/EthernetInterfaces/1");
  }
  return leak_document(path, node);
}

std::string render_redfish_error(const std::string& code, const std::string& message) {
  const std::string id = "Base.1.17." + code;
  const std::string info = object({{"@odata.type", quoted("#Message.v1_1_2.Message")},
                                   {"MessageId", quoted(id)},
                                   {"Message", quoted(message)},
                                   {"MessageSeverity", quoted("Critical")}});
  return object({{"error", object({{"code", quoted(id)},
                                   {"message", quoted(message)},
                                   {"@Message.ExtendedInfo", "[" + info + "]"}})}});
}

std::optional<PowerAction> parse_reset_type(std::string_view text) {
  static const std::map<std::string_view, PowerAction> known = {
      {"On", PowerAction::on},
      {"ForceOn", PowerAction::on},
      {"ForceOff", PowerAction::force_off},
      {"GracefulShutdown", PowerAction::graceful_shutdown},
      {"ForceRestart", PowerAction::force_restart},
      {"GracefulRestart", PowerAction::graceful_restart},
      {"PowerCycle", PowerAction::cycle}};
  const auto it = known.find(text);
  if (it == known.end()) return std::nullopt;
  return it->second;
}

}  // namespace tundish::lab
