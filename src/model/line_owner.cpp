#include "model/line_owner.hpp"

#include <algorithm>
#include <utility>

#include "model/network.hpp"

namespace tundish {
namespace {

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : line + " ") {
    if (is_of_name(c)) {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, ""));
    }
  }
  return out;
}

/// A line that joins two networks may stand in the one and name the other.
bool joins_networks(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find("import") != std::string::npos || word.find("export") != std::string::npos ||
           word.find("leak") != std::string::npos || word.find("target") != std::string::npos ||
           word == "nexthop-vrf" || word == "map";
  });
}

/// The number that a word ends with: of "vlan110" 110; -1: none.
int number_in(const std::string& word) {
  std::size_t from = word.size();
  while (from > 0 && word[from - 1] >= '0' && word[from - 1] <= '9') --from;
  if (from == word.size() || word.size() - from > 8) return -1;
  return std::stoi(word.substr(from));
}

bool has_number(const LineMarks& owner, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return owner.numbers.contains(number_in(word));
  });
}

bool is_word_of_number(const std::string& word) {
  return word == "vlan" || word == "vni" || word == "vid" || word == "vxlan";
}

bool has_name(const LineMarks& owner, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (owner.names.contains(words[i])) return true;
    if (i == 0 || !is_word_of_number(words[i - 1])) continue;
    const int number = number_in(words[i]);
    if (std::to_string(number) == words[i] && owner.numbers.contains(number)) return true;
  }
  return false;
}

/// As Linux, EOS and NX-OS call the link of a VLAN, and Linux the tunnel of a VNI.
void add_vlan(int vlan, LineMarks& out) {
  if (vlan == 0) return;
  out.numbers.insert(vlan);
  for (const char* word : {"vlan", "Vlan", "br"}) out.names.insert(word + std::to_string(vlan));
}

void add_vni(int vni, LineMarks& out) {
  if (vni == 0) return;
  out.numbers.insert(vni);
  for (const char* word : {"vx", "vni", "br"}) out.names.insert(word + std::to_string(vni));
}

}  // namespace

int owner_of_line(const std::vector<LineMarks>& owners, const std::string& line) {
  const auto words = words_of(line);
  if (joins_networks(words)) return no_owner;
  int found = no_owner;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (!has_name(owners[i], words)) continue;
    if (found != no_owner) return no_owner;
    found = static_cast<int>(i);
  }
  if (found == no_owner) return no_owner;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const bool is_other = static_cast<int>(i) != found;
    if (is_other && has_number(owners[i], words)) return no_owner;
  }
  return found;
}

std::vector<int> owners_named_in(const std::vector<LineMarks>& owners, const std::string& line) {
  const auto words = words_of(line);
  std::vector<int> out;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (has_name(owners[i], words)) out.push_back(static_cast<int>(i));
  }
  return out;
}

void add_marks(const VrfState& vrf, LineMarks& out) {
  out.names.insert(vrf.name);
  if (vrf.vrf_id != 0) out.names.insert(acl_name(vrf.vrf_id));
  add_vni(vrf.l3vni, out);
  add_vlan(vrf.l3vlan, out);
}

void add_marks(const SegmentState& segment, LineMarks& out) {
  if (!segment.acl_in.empty()) out.names.insert(segment.acl_in);
  if (segment.l2vni != 0) out.names.insert(segment_name(segment.l2vni));
  add_vni(segment.l2vni, out);
  add_vlan(segment.vlan, out);
}

bool names_port(const std::string& line, const std::string& port) {
  const auto is_end = [&](std::size_t at) {
    return at >= line.size() || !(is_of_name(line[at]) || line[at] == '/');
  };
  for (auto at = line.find(port); at != std::string::npos; at = line.find(port, at + 1)) {
    if ((at == 0 || is_end(at - 1)) && is_end(at + port.size())) return true;
  }
  return false;
}

}  // namespace tundish
