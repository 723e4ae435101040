#include "families/switches/parts/words.hpp"

#include <algorithm>

namespace tundish::switches {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class T>
void sort_once(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    out.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

int indent_of(std::string_view line) {
  int out = 0;
  for (const char c : line) {
    if (!is_blank(c)) break;
    ++out;
  }
  return out;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < line.size()) {
    if (is_blank(line[at])) {
      ++at;
      continue;
    }
    const bool quoted = line[at] == '"';
    std::size_t end = quoted ? line.find('"', at + 1) : at;
    if (quoted) {
      end = std::min(end, line.size());
      out.emplace_back(line.substr(at + 1, end - at - 1));
      at = end + 1;
      continue;
    }
    while (end < line.size() && !is_blank(line[end])) ++end;
    out.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return out;
}

std::optional<int> parse_number(std::string_view text, int from, int to) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (value < from || value > to) return std::nullopt;
  return value;
}

bool is_own_vrf(std::string_view name, const SwitchOwnership& ownership) {
  const std::string_view prefix = ownership.vrf_prefix;
  return name.size() == prefix.size() + 5 && name.starts_with(prefix) &&
         std::all_of(name.end() - 5, name.end(), is_digit);
}

int vrf_id_of(std::string_view name) {
  if (name.size() < 5) return 0;
  return parse_number(name.substr(name.size() - 5), 1, 65535).value_or(0);
}

bool is_own_acl(std::string_view name, const SwitchOwnership& ownership) {
  return !ownership.acl_prefix.empty() && name.starts_with(ownership.acl_prefix);
}

bool is_own_vlan(int vlan, const SwitchOwnership& ownership) {
  return vlan >= ownership.vlan_from && vlan <= ownership.vlan_to;
}

bool is_own_l3vlan(int vlan, const SwitchOwnership& ownership) {
  return vlan >= ownership.l3vlan_from && vlan <= ownership.l3vlan_to;
}

bool is_own_vni(int vni, const SwitchOwnership& ownership) {
  return vni >= ownership.vni_from && vni <= ownership.vni_to;
}

bool is_own_port(std::string_view name, const SwitchOwnership& ownership) {
  return std::find(ownership.ports.begin(), ownership.ports.end(), name) != ownership.ports.end();
}

void tidy_up(ForeignNumbers& foreign) {
  sort_once(foreign.vlans);
  sort_once(foreign.vnis);
  sort_once(foreign.vrfs);
  sort_once(foreign.route_targets);
  sort_once(foreign.acls);
}

}  // namespace tundish::switches
