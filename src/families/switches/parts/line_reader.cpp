#include "families/switches/parts/line_reader.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "families/switches/parts/acl_line.hpp"
#include "families/switches/parts/addresses.hpp"

namespace tundish::switches {
namespace {

bool is_target_line(const std::vector<std::string>& words) {
  return !words.empty() && words[0] == "route-target";
}

std::optional<std::vector<std::string>> entry_words(std::vector<std::string> words) {
  if (words.size() > 2 && words[0] == "seq") {
    if (!read_number(words[1], 0, 4294967295)) return std::nullopt;
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() < 2 || (words[0] != "permit" && words[0] != "deny")) return std::nullopt;
  return words;
}

}  // namespace

std::optional<int> read_number(std::string_view text, std::int64_t from, std::int64_t to) {
  const auto number = parse_integer(text);
  if (!number || *number < from || *number > to) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<std::vector<int>> read_vlans(std::string_view text) {
  std::vector<int> out;
  for (const auto& part : split(text, ',')) {
    const auto ends = split(part, '-');
    const auto from = read_number(ends[0], 1, 4094);
    const auto to = ends.size() == 2 ? read_number(ends[1], 1, 4094) : from;
    if (ends.size() > 2 || !from || !to || out.size() > 4094) return std::nullopt;
    for (int vlan = *from; vlan <= *to; ++vlan) out.push_back(vlan);
  }
  return out;
}

std::optional<std::string> read_mac(std::string_view text) {
  std::string digits;
  for (const char c : to_lower(text)) {
    if (c == ':' || c == '.' || c == '-') continue;
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return std::nullopt;
    digits += c;
  }
  if (digits.size() != 12) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < 12; i += 2) out += (i == 0 ? "" : ":") + digits.substr(i, 2);
  return out;
}

std::int64_t read_asn(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) {
    const auto number = parse_integer(text);
    return number && *number >= 1 && *number <= 4294967295 ? *number : 0;
  }
  const auto high = read_number(text.substr(0, dot), 0, 65535);
  const auto low = read_number(text.substr(dot + 1), 0, 65535);
  return high && low ? std::int64_t{*high} * 65536 + *low : 0;
}

std::string rest_of(const std::vector<std::string>& words, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < words.size(); ++i) out += (i == from ? "" : " ") + words[i];
  return out;
}

bool LineReader::is_our_vrf(std::string_view name) const {
  const std::string& prefix = ownership_.vrf_prefix;
  if (!name.starts_with(prefix) || name.size() != prefix.size() + 5) return false;
  return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

bool LineReader::is_our_vlan(int vlan) const {
  return vlan >= ownership_.vlan_from && vlan <= ownership_.vlan_to;
}

bool LineReader::is_our_l3vlan(int vlan) const {
  return vlan >= ownership_.l3vlan_from && vlan <= ownership_.l3vlan_to;
}

bool LineReader::is_our_acl(std::string_view name) const {
  return name.starts_with(ownership_.acl_prefix);
}

bool LineReader::is_our_port(std::string_view name) const {
  return std::find(ownership_.ports.begin(), ownership_.ports.end(), name) !=
         ownership_.ports.end();
}

VrfState& LineReader::vrf(const std::string& name) {
  VrfState& out = own_vrfs_[name];
  if (out.name.empty()) {
    out.name = name;
    out.vrf_id = read_number(name.substr(name.size() - 5), 0, 99999).value_or(0);
  }
  return out;
}

SegmentState& LineReader::segment(int vlan) {
  const auto [at, is_new] = own_segments_.try_emplace(vlan);
  if (is_new) {
    at->second.vlan = vlan;
    at->second.mtu = 1500;  // an interface's own; only another one is written
  }
  return at->second;
}

AclState& LineReader::acl(const std::string& name) {
  AclState& out = own_acls_[name];
  out.name = name;
  return out;
}

std::vector<std::string> LineReader::vrf_names() const {
  std::vector<std::string> out;
  for (const auto& [name, vrf] : own_vrfs_) out.push_back(name);
  return out;
}

std::vector<int> LineReader::segment_vlans() const {
  std::vector<int> out;
  for (const auto& [vlan, segment] : own_segments_) out.push_back(vlan);
  return out;
}

void LineReader::unclear(const std::string& place, const std::string& line) {
  unclear_.push_back(place.empty() ? line : place + ": " + line);
}

void LineReader::unclear_all(const std::string& place, const LineTree& node) {
  unclear(place, node.line);
  for (const auto& child : node.children) unclear_all(place + ": " + node.line, child);
}

void LineReader::foreign(const std::string& place, const LineTree& node) {
  const auto words = words_of_line(node.line);
  if (is_target_line(words)) {
    for (const auto& word : words) {
      if (word.find(':') != std::string::npos) note_target(word);
    }
  }
  const bool mentions =
      std::any_of(words.begin(), words.end(), [&](const auto& word) { return is_our_vrf(word); });
  const bool access = words.size() == 4 && words[0] == "switchport" && words[1] == "access" &&
                      is_our_vlan(read_number(words[3], 1, 4094).value_or(0));
  if (mentions || access) unclear(place, node.line);
  const std::string inner = place.empty() ? node.line : place + ": " + node.line;
  for (const auto& child : node.children) foreign(inner, child);
}

void LineReader::read_acl(const std::string& name, const LineTree& node) {
  AclState& out = acl(name);
  for (const auto& child : node.children) {
    const auto words = words_of_line(child.line);
    if (words.size() > 1 && words[1] == "remark") continue;
    if (child.line.starts_with("statistics ") || child.line.starts_with("counters ")) continue;
    const auto rule = parse_acl_rule(child.line);
    if (!rule || !child.children.empty()) {
      unclear_all(node.line, child);
    } else {
      out.rules.push_back(*rule);
    }
  }
}

void LineReader::compare_networks() {
  for (const auto& [name, vrf] : own_vrfs_) {
    std::set<std::string> routed;
    for (const auto& route : vrf.routes) routed.insert(route.prefix);
    if (routed != networks_[name]) {
      unclear("vrf " + name, "the host routes differ from the networks that it announces");
    }
  }
}

SwitchSeen LineReader::finish() {
  SwitchSeen out;
  for (auto& [name, vrf] : own_vrfs_) state_.vrfs.push_back(std::move(vrf));
  for (auto& [vlan, segment] : own_segments_) state_.segments.push_back(std::move(segment));
  for (auto& [name, list] : own_acls_) state_.acls.push_back(std::move(list));
  sort_state(state_);
  out.own = std::move(state_);
  out.foreign.vlans.assign(vlans_.begin(), vlans_.end());
  out.foreign.vnis.assign(vnis_.begin(), vnis_.end());
  out.foreign.vrfs.assign(vrfs_.begin(), vrfs_.end());
  out.foreign.route_targets.assign(targets_.begin(), targets_.end());
  out.foreign.acls.assign(acls_.begin(), acls_.end());
  out.unclear = std::move(unclear_);
  return out;
}

void LeakReader::prefix_entry(const std::string& list, std::vector<std::string> words) {
  lists_[list].push_back(std::move(words));
}

void LeakReader::route_map(const std::string& name, const std::string& action,
                           const LineTree& node) {
  Entry entry{action, {}};
  for (const auto& child : node.children) {
    if (!child.line.starts_with("description ")) entry.lines.push_back(child.line);
  }
  maps_[name].push_back(std::move(entry));
}

std::optional<std::vector<std::string>> LeakReader::list(const std::string& name,
                                                         std::string& why) const {
  const auto found = lists_.find(name);
  if (found == lists_.end()) {
    why = "there is no prefix list " + name;
    return std::nullopt;
  }
  std::vector<std::string> out;
  for (const auto& raw : found->second) {
    const auto words = entry_words(raw);
    why = "prefix list " + name + ": " + rest_of(raw, 0);
    if (!words || !parse_network4((*words)[1])) return std::nullopt;
    if ((*words)[0] == "deny") {
      if (rest_of(*words, 1) != "0.0.0.0/0 le 32") return std::nullopt;
      continue;
    }
    const bool longer = words->size() == 4 && (*words)[2] == "le" && (*words)[3] == "32";
    const bool single = words->size() == 2 && (*words)[1].ends_with("/32");
    if (!longer && !single) return std::nullopt;
    out.push_back((*words)[1]);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool LeakReader::ends(const std::string& name) const {
  const auto found = lists_.find(name);
  if (found == lists_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [](const auto& raw) {
    const auto words = entry_words(raw);
    return words && (*words)[0] == "deny";
  });
}

const std::vector<LeakReader::Entry>* LeakReader::find_map(const std::string& name) const {
  const auto found = maps_.find(name);
  return found == maps_.end() ? nullptr : &found->second;
}

std::optional<std::vector<std::string>> LeakReader::prefixes(const std::string& map,
                                                             std::string& why) const {
  constexpr std::string_view match = "match ip address prefix-list ";
  const auto* entries = find_map(map);
  why = "route-map " + map + " does not only permit a prefix list";
  if (entries == nullptr || entries->size() != 1 || entries->front().action != "permit" ||
      entries->front().lines.size() != 1 || !entries->front().lines[0].starts_with(match)) {
    return std::nullopt;
  }
  return list(entries->front().lines[0].substr(match.size()), why);
}

}  // namespace tundish::switches
