#pragma once
// Lines and words of a switch's text.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/switch_state.hpp"

namespace tundish::switches {

/// Lines without their end; a carriage return goes too.
std::vector<std::string_view> lines_of(std::string_view text);
/// Number of blanks that a line begins with; a tab counts as one.
int indent_of(std::string_view line);
/// Words between blanks; "two words" in double quotes is one word, without the quotes.
std::vector<std::string> words_of(std::string_view line);
/// A number of `from`..`to` in plain decimal digits.
std::optional<int> parse_number(std::string_view text, int from, int to);

/// The prefix of the ownership and five digits.
bool is_own_vrf(std::string_view name, const SwitchOwnership& ownership);
/// The number of a VRF of ours, from its name; 0: it has none.
int vrf_id_of(std::string_view name);
bool is_own_acl(std::string_view name, const SwitchOwnership& ownership);
bool is_own_vlan(int vlan, const SwitchOwnership& ownership);
bool is_own_l3vlan(int vlan, const SwitchOwnership& ownership);
bool is_own_vni(int vni, const SwitchOwnership& ownership);
bool is_own_port(std::string_view name, const SwitchOwnership& ownership);

/// Sorted, each once.
void tidy_up(ForeignNumbers& foreign);
/// Adds `item` unless it is there.
template <class T>
void add_once(std::vector<T>& list, T item) {
  for (const T& have : list) {
    if (have == item) return;
  }
  list.push_back(std::move(item));
}

}  // namespace tundish::switches
