#include "families/switches/driver_lldp.hpp"

#include "codec/json.hpp"

namespace tundish::switches {
namespace {

std::string text_of(const JsonValue& value) { return value.as_text().value_or(""); }

}  // namespace

std::string plain_mac(const std::string& text) {
  constexpr std::size_t digits = 12;
  std::string hex;
  for (char c : text) {
    if (c == ':' || c == '.' || c == '-') continue;
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return "";
    hex += c;
  }
  if (hex.size() != digits || hex.size() == text.size()) return "";
  std::string out;
  for (std::size_t i = 0; i < digits; i += 2) out += (i == 0 ? "" : ":") + hex.substr(i, 2);
  return out;
}

void read_lldp_json0(const std::string& text, std::vector<PortNeighbour>& out) {
  const auto root = JsonValue::parse(text);
  if (!root) return;
  for (const auto& lldp : root->at("lldp").items()) {
    for (const auto& seen : lldp.at("interface").items()) {
      PortNeighbour neighbour;
      neighbour.port = text_of(seen.at("name"));
      neighbour.device = text_of(seen.at("chassis").at(0).at("name").at(0).at("value"));
      for (const auto& id : seen.at("port").at(0).at("id").items()) {
        const std::string value = text_of(id.at("value"));
        if (text_of(id.at("type")) == "mac") {
          neighbour.device_mac = plain_mac(value);
        } else {
          neighbour.device_port = value;
        }
      }
      if (neighbour.device_port.empty()) {
        neighbour.device_port = text_of(seen.at("port").at(0).at("descr").at(0).at("value"));
      }
      if (!neighbour.device.empty() || !neighbour.device_mac.empty()) {
        out.push_back(std::move(neighbour));
      }
    }
  }
}

}  // namespace tundish::switches
