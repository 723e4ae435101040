#include "families/switches/driver_frr_routes.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codec/json.hpp"

namespace tundish::switches {
namespace {

std::string text_of(const JsonValue& value) { return value.as_text().value_or(""); }

/// With its length, as FRR prints it.
std::string whole(const std::string& prefix) {
  if (prefix == "default") return "0.0.0.0/0";
  return prefix.find('/') == std::string::npos ? prefix + "/32" : prefix;
}

/// By numbers of the kernel and of FRR, those of its daemons that write routes.
/// Source: Linux, include/uapi/linux/rtnetlink.h: RTPROT_KERNEL 2, RTPROT_ZEBRA 11,
/// RTPROT_BABEL 42, RTPROT_BGP 186 to RTPROT_EIGRP 192; FRR, zebra/rt_netlink.h: 193 to 199;
/// checked 2026-11.
constexpr const char* of_the_kernel = "2";
bool is_of_frr(const std::string& origin) {
  const auto number = parse_integer(origin);
  return number && (*number == 11 || *number == 42 || (*number >= 186 && *number <= 199));
}

/// `ip -N` gives numbers. Source: Linux, include/uapi/linux/rtnetlink.h: RTN_BLACKHOLE 6,
/// RTN_UNREACHABLE 7, RTN_PROHIBIT 8, RTN_THROW 9; checked 2026-11.
std::string type_name(const std::string& type) {
  if (type == "6") return "blackhole";
  if (type == "7") return "unreachable";
  if (type == "8") return "prohibit";
  return type == "9" ? "throw" : type;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> out;
  for (auto& word : split(line, ' ')) {
    if (!word.empty()) out.push_back(std::move(word));
  }
  return out;
}

/// "10.255.0.2," without what follows it in the line.
std::string plain(const std::string& word) { return word.substr(0, word.find(',')); }

}  // namespace

std::string KernelRoute::way() const {
  std::string out;
  for (const auto& hop : hops) {
    if (!hop.gateway.empty()) out += " via " + hop.gateway;
    if (!hop.device.empty()) out += " dev " + hop.device;
  }
  return out + (type.empty() ? "" : " " + type);
}

/// "VRF NAME:" heads a VRF. "B>* 10.70.0.5/32 [20/0] via 10.255.0.2, br50010 onlink, weight 1" is a
/// route, "  *   via 10.255.0.3, br50010 ..." one more way of it, and K one that zebra found in the
/// kernel. Source: FRR, zebra/zebra_vty.c, vty_show_ip_route; checked 2026-11.
void FrrRoutes::take_rib(const std::string& text) {
  std::string vrf;
  Ways* ways = nullptr;
  for (const auto& line : split(text, '\n')) {
    const auto words = words_of(line);
    if (words.empty()) continue;
    if (words.size() == 2 && words[0] == "VRF" && words[1].ends_with(":")) {
      vrf = words[1].substr(0, words[1].size() - 1);
      ways = nullptr;
      continue;
    }
    const bool is_route = line[0] >= 'A' && line[0] <= 'Z' && words.size() >= 2 &&
                          words[1].find('/') != std::string::npos;
    if (is_route) ways = line[0] == 'K' ? nullptr : &rib_[{vrf, words[1]}];
    if (!is_route && line[0] != ' ') ways = nullptr;
    if (ways == nullptr) continue;
    for (std::size_t at = 0; at + 1 < words.size(); ++at) {
      const bool has_link = words[at].ends_with(",") && at > 0;
      if (words[at] == "via" && at + 2 < words.size() && words[at + 1].ends_with(",")) {
        ways->emplace(plain(words[at + 1]), plain(words[at + 2]));
      } else if (has_link && words[at] == "connected,") {
        ways->emplace("", plain(words[at + 1]));
      }
    }
  }
}

Result<> FrrRoutes::take_kernel(const std::string& text, const std::string& netns,
                                RouteFamily family) {
  const auto root = TRY(JsonValue::parse(text));
  for (const auto& json : root.items()) {
    KernelRoute route{netns,          text_of(json.at("table")), text_of(json.at("dst")),
                      text_of(json.at("protocol")), type_name(text_of(json.at("type"))), family};
    const auto take = [&route](const JsonValue& from) {
      const KernelRoute::Hop hop{text_of(from.at("gateway")), text_of(from.at("dev"))};
      if (!hop.gateway.empty() || !hop.device.empty()) route.hops.push_back(hop);
    };
    take(json);
    for (const auto& hop : json.at("nexthops").items()) take(hop);
    // What the kernel makes of addresses has no gateway; anybody can write its number on a route.
    const bool leads_on = std::any_of(route.hops.begin(), route.hops.end(),
                                      [](const auto& hop) { return !hop.gateway.empty(); });
    if (route.origin == of_the_kernel && !leads_on) continue;
    kernel_.push_back(std::move(route));
  }
  return {};
}

bool FrrRoutes::is_explained(const KernelRoute& route, const std::string& vrf) const {
  if (route.family == RouteFamily::ipv6 || !is_of_frr(route.origin)) return false;
  const auto found = rib_.find({vrf, whole(route.to)});
  if (found == rib_.end()) return false;
  return std::all_of(route.hops.begin(), route.hops.end(), [&](const KernelRoute::Hop& hop) {
    return found->second.contains({hop.gateway, hop.device});
  });
}

}  // namespace tundish::switches
