#include "families/bmcs/leak_text.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codec/json.hpp"

namespace tundish::families {
namespace {

constexpr std::size_t most_members = 256;
constexpr std::size_t longest_path = 256;
constexpr std::size_t longest_word = 64;
constexpr std::string_view root = "/redfish/v1/";

bool is_path(const std::string& path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return c > 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '#';
  });
  return plain && path.size() <= longest_path && path.starts_with(root) &&
         path.find("..") == std::string::npos;
}

/// Texts of a BMC end in verdicts that people read.
std::string plain_text(const JsonValue& value) {
  std::string out = value.as_text().value_or("");
  if (out.size() > longest_word) out.resize(longest_word);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return out;
}

Result<JsonValue> parse_object(std::string_view text) {
  JsonValue out = TRY(JsonValue::parse(text));
  if (out.kind() != JsonValue::Kind::object) {
    return make_error(Code::invalid, "the BMC's answer is no Redfish resource");
  }
  return out;
}

std::string place_of(const JsonValue& detector) {
  const JsonValue part = detector.at("Location").at("PartLocation");
  for (const auto& value : {detector.at("UserLabel"), part.at("ServiceLabel"),
                            detector.at("PhysicalContext"), detector.at("Name")}) {
    if (std::string text = plain_text(value); !text.empty()) return text;
  }
  return "";
}

}  // namespace

Result<std::string> find_redfish_link(std::string_view text, std::string_view member) {
  const JsonValue resource = TRY(parse_object(text));
  const auto path = resource.at(member).at("@odata.id").as_text();
  return path && is_path(*path) ? *path : std::string();
}

Result<RedfishMembers> parse_members(std::string_view text) {
  const JsonValue collection = TRY(parse_object(text));
  const JsonValue members = collection.at("Members");
  if (members.kind() != JsonValue::Kind::list) {
    return make_error(Code::invalid, "the BMC's answer is no Redfish collection");
  }
  RedfishMembers out;
  for (const auto& member : members.items()) {
    const auto path = member.at("@odata.id").as_text();
    if (!path || !is_path(*path)) {
      return make_error(Code::invalid, "a member of the BMC's collection has no path");
    }
    if (out.paths.size() == most_members) {
      return make_error(Code::invalid, "the BMC's collection has more than 256 members");
    }
    out.paths.push_back(*path);
  }
  const auto next = collection.at("Members@odata.nextLink").as_text();
  if (!next) return out;
  if (!is_path(*next)) return make_error(Code::invalid, "the BMC's collection goes on nowhere");
  out.next = *next;
  return out;
}

Result<LeakDetector> parse_leak_detector(std::string_view text, const std::string& chassis) {
  const JsonValue detector = TRY(parse_object(text));
  const std::string id = plain_text(detector.at("Id"));
  if (id.empty()) return make_error(Code::invalid, "a detector of leaks has no Id");
  LeakDetector out;
  out.name = chassis + "/" + id;
  out.type = plain_text(detector.at("LeakDetectorType"));
  out.state = plain_text(detector.at("DetectorState"));
  out.presence = plain_text(detector.at("Status").at("State"));
  out.health = plain_text(detector.at("Status").at("Health"));
  out.place = place_of(detector);
  return out;
}

std::string redfish_id(const std::string& path) {
  const std::string whole = path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  return whole.substr(whole.rfind('/') + 1);
}

}  // namespace tundish::families
