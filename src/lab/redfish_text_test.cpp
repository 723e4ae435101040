#include "lab/redfish_text.hpp"

#include <gtest/gtest.h>

#include "codec/json.hpp"

namespace tundish::lab {
namespace {

TEST(RedfishText, EveryDocumentIsJsonThatNamesItself) {
  NodeState node;
  node.hardware = hardware_of(LabSpec{})[0];
  for (const std::string path :
       {"/redfish/v1/Systems", "/redfish/v1/Systems/1", "/redfish/v1/Chassis",
        "/redfish/v1/Chassis/1", "/redfish/v1/Managers", "/redfish/v1/Managers/1",
        "/redfish/v1/Managers/1/EthernetInterfaces",
        "/redfish/v1/Managers/1/EthernetInterfaces/1"}) {
    const auto text = render_redfish(path, node);
    ASSERT_TRUE(text) << path;
    const auto document = JsonValue::parse(*text);
    ASSERT_TRUE(document) << path << *text;
    EXPECT_EQ(document->at("@odata.id").as_text(), path);
  }
  EXPECT_FALSE(render_redfish("/redfish/v1/Systems/2", node));
}

TEST(RedfishText, DetectorsOfLeaksAreReachedByLinksAlone) {
  NodeState node;
  node.hardware = hardware_of(LabSpec{})[0];
  EXPECT_TRUE(JsonValue::parse(*render_redfish("/redfish/v1/Chassis/1", node))
                  ->at("ThermalSubsystem")
                  .is_absent());
  node.leak_detectors = {{"ColdPlate", "OK"}, {"Manifold", "Critical"}};
  std::string path = "/redfish/v1/Chassis/1";
  for (const char* next : {"ThermalSubsystem", "LeakDetection", "LeakDetectors"}) {
    const auto text = render_redfish(path, node);
    ASSERT_TRUE(text) << path;
    const auto document = JsonValue::parse(*text);
    ASSERT_TRUE(document) << *text;
    path = document->at(next).at("@odata.id").as_text().value_or("");
  }
  const auto list = JsonValue::parse(*render_redfish(path, node));
  ASSERT_EQ(list->at("Members").size(), 2u);
  const auto wet = JsonValue::parse(
      *render_redfish(*list->at("Members").at(1).at("@odata.id").as_text(), node));
  EXPECT_EQ(wet->at("DetectorState").as_text(), "Critical");
  EXPECT_EQ(wet->at("Status").at("Health").as_text(), "OK") << "of the detector";
}

TEST(RedfishText, PowerStateFollowsTheNode) {
  NodeState node;
  node.hardware = hardware_of(LabSpec{})[2];
  const auto read = [&] {
    return *JsonValue::parse(*render_redfish("/redfish/v1/Systems/1", node));
  };
  EXPECT_EQ(read().at("PowerState").as_text(), "Off");
  node.powered = true;
  EXPECT_EQ(read().at("PowerState").as_text(), "On");
  EXPECT_EQ(read().at("SerialNumber").as_text(), "TND24-00003");
  EXPECT_EQ(read().at("Status").at("Health").as_text(), "OK");
}

TEST(RedfishText, ErrorsHaveTheShapeOfTheStandard) {
  const auto error = JsonValue::parse(render_redfish_error("InternalError", "a \"quoted\" text"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->at("error").at("code").as_text(), "Base.1.17.InternalError");
  EXPECT_EQ(error->at("error").at("message").as_text(), "a \"quoted\" text");
  EXPECT_FALSE(parse_reset_type("Nmi"));
  EXPECT_EQ(parse_reset_type("PowerCycle"), PowerAction::cycle);
}

}  // namespace
}  // namespace tundish::lab
