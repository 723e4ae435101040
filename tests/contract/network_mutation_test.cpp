// One number or word of rendered text is changed at random: after parse, the audit must name it.
// What it cannot name is listed in docs/networks.md ("what the audit cannot see") and counted here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <regex>

#include "base/text.hpp"
#include "control/network/audit.hpp"
#include "control/network/site_for_test.hpp"
#include "control/placement/draw_for_test.hpp"
#include "families/switches/switch_item.hpp"

namespace tundish::control::network {
namespace {

using placement::Draw;
using switches::SwitchFiles;

/// What carries nothing of the state: docs/networks.md lists it. A change goes unnamed rightly when
/// the line is the same without these parts.
const std::vector<std::regex> blind = {
    std::regex("(description|alias|remark|hostname).*"), std::regex("^ *[!#].*"),
    std::regex(" seq [0-9]+"),      // of a prefix list with one action
    std::regex("Vrf[0-9]+-FROM-Vrf60001"),  // every tenant takes in the storage's one prefix
    std::regex("dev vxlan[0-9]+"),  // frr: one tunnel device carries all VNIs
    std::regex("hook prerouting priority -?[0-9]+")};
constexpr int rounds = 1500;

struct Token {
  std::size_t at = 0, size = 0;
};

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end > at) out.push_back({at, end - at});
    at = end > at ? end : at + 1;
  }
  for (const char* word : {"permit", "deny"}) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      out.push_back({at, std::string(word).size()});
    }
  }
  return out;
}

std::string line_around(const std::string& text, std::size_t at) {
  const auto begin = text.rfind('\n', at);
  const auto end = text.find('\n', at);
  const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
  return text.substr(from, end == std::string::npos ? end : end - from);
}

/// The line that was changed, before and after; both empty when nothing changed.
struct ChangedLine {
  std::string before, after;
};
ChangedLine change_text(std::string& text, Draw& draw) {
  const auto tokens = tokens_of(text);
  if (tokens.empty()) return {};
  const auto pick = [&] {
    return tokens[static_cast<std::size_t>(draw.below(static_cast<int>(tokens.size())))];
  };
  const Token token = pick();
  const std::string before = text.substr(token.at, token.size);
  std::string after;
  if (before == "permit" || before == "deny") {
    after = before == "permit" ? "deny" : "permit";
  } else if (draw.below(2) == 0) {
    const Token other = pick();
    after = text.substr(other.at, other.size);
  } else {
    after = before;
    char& digit = after[static_cast<std::size_t>(draw.below(static_cast<int>(after.size())))];
    digit = digit == '9' ? '1' : static_cast<char>(digit + 1);
  }
  if (after == before) return {};
  const std::string old_line = line_around(text, token.at);
  text.replace(token.at, token.size, after);
  return {old_line, line_around(text, token.at)};
}

std::string without_blind(std::string line) {
  if (line.starts_with("route-map ")) line = line.substr(0, line.rfind(' '));  // its number
  static const std::regex zeros("\\b0+([0-9])");  // no switch writes them
  line = std::regex_replace(line, zeros, "$1");
  for (const auto& part : blind) line = std::regex_replace(line, part, "");
  return line;
}

std::string without_numbers(const std::string& line) {
  static const std::regex number("[0-9]+");
  return std::regex_replace(std::string(trim(line)), number, "N");
}

/// Lines that a parser does not hold against the rest: docs/networks.md lists them per vendor. A
/// change of one is no finding of the audit. Shrink this list, do not grow it.
const std::set<std::string>& known_gaps(std::string_view item) {
  static const std::map<std::string_view, std::set<std::string>> gaps = {
      {"junos",
       {"set interfaces et-N/N/N description \"nN ethN\"",
        "set interfaces et-N/N/N description \"svc ethN\"",
        "set interfaces et-N/N/N description storage",
        "set routing-instances VrfN description acme/a",
        "set routing-instances VrfN description bolt/b",
        "set routing-instances VrfN description core/c",
        "set routing-instances VrfN description storage"}},
      {"arista_eos", {"name segN"}},  // of a VLAN, which its number tells
      {"nxos", {"name segN"}},
      {"sonic", {"interface VrfN"}},  // FRR's interface holds the description of a VRF only
  };
  static const std::set<std::string> none;
  const auto found = gaps.find(item);
  return found == gaps.end() ? none : found->second;
}

/// Names of ports as each vendor writes them.
void name_ports(const std::string& item, TestSite& site) {
  site.driver = item;
  if (item == "arista_eos" || item == "nxos") site.port_prefix = "Ethernet1/";
  if (item == "junos") site.port_prefix = "et-0/0/";
  if (item == "sonic") {
    site.port_prefix = "Ethernet";
    site.port_step = 4;
  }
}

TEST(SwitchItems, need_a_vlan_for_an_l3vni_as_the_plans_believe) {
  for (const auto* item : all_switch_items()) {
    EXPECT_EQ(item->capabilities().needs_l3vlan, l3vlan_drivers().contains(std::string(item->name)))
        << item->name;
  }
}

class RenderedText : public testing::TestWithParam<const switches::SwitchItem*> {};

TEST_P(RenderedText, every_change_is_named_by_the_audit) {
  const auto& item = *GetParam();
  TestSite site;
  name_ports(std::string(item.name), site);
  site.fill();
  ASSERT_EQ(site.faults, "");
  const Intent intent = site.intent();
  SwitchesSeen seen;
  std::map<std::string, SwitchFiles> texts;
  std::map<std::string, SwitchOwnership> owned;
  for (const auto& [name, device] : intent.switches) {
    const SwitchState state = *plan_switch(intent, name);
    const auto files = item.render(state);
    ASSERT_TRUE(files) << files.error().message();
    texts[name] = *files;
    owned[name] = intent.spec.switches;
    for (const auto& port : state.ports) owned[name].ports.push_back(port.name);
    const auto parsed = item.parse(*files, owned[name]);
    ASSERT_TRUE(parsed) << parsed.error().message();
    seen[name] = *parsed;
  }
  const auto clean = audit(intent, seen, {});
  ASSERT_TRUE(std::none_of(clean.begin(), clean.end(),
                           [](const auto& f) { return f.rule != AuditRule::missing; }))
      << clean.front().object << ": " << clean.front().what;
  Draw draw(11);
  int tried = 0, named = 0, unseen = 0;
  while (tried < rounds) {
    const std::string leaf = draw.below(2) == 0 ? "leaf1" : "leaf2";
    SwitchFiles files = texts[leaf];
    auto& file = files[static_cast<std::size_t>(draw.below(static_cast<int>(files.size())))];
    const ChangedLine line = change_text(file.text, draw);
    if (line.after.empty()) continue;
    ++tried;
    const auto parsed = item.parse(files, owned[leaf]);
    if (!parsed) {  // refused as a whole: named by the parser
      ++named;
      continue;
    }
    auto mutated = seen;
    mutated[leaf] = *parsed;
    if (audit(intent, mutated, {}).size() > clean.size()) {
      ++named;
    } else {
      ++unseen;
      if (without_blind(line.before) == without_blind(line.after)) continue;
      const std::string kind = without_numbers(line.before);
      EXPECT_TRUE(known_gaps(item.name).contains(kind))
          << item.name << " " << file.name << ": unseen: " << line.before << " -> " << line.after
          << "\nkind: " << kind;
    }
  }
  std::cout << item.name << ": " << tried << " changes, " << named << " named, " << unseen
            << " in lines that the audit does not read\n";
  EXPECT_GE(named * 100, tried * 80);
}

INSTANTIATE_TEST_SUITE_P(items, RenderedText,
                         testing::ValuesIn(all_switch_items().begin(), all_switch_items().end()),
                         [](const auto& item) { return std::string(item.param->name); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RenderedText);

}  // namespace
}  // namespace tundish::control::network
