#include "lab/ib_plan.hpp"

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "lab/switch_plan.hpp"

namespace tundish::lab {
namespace {

constexpr int trunks_per_leaf = 2;
constexpr int least_ports = 36;  // a switch of the trade

std::string number(int value) { return std::to_string(value); }

/// Beside the GUIDs of make_hca().
std::string switch_guid(int index) {
  char text[24];  // 19 for any index that a lab has
  std::snprintf(text, sizeof text, "0x0002c90302%06x", index * 16);
  return text;
}

std::string switch_id(const std::string& guid) { return "S-" + guid.substr(2); }

const IbSwitch& find_switch(const IbPlan& plan, const std::string& name) {
  const auto has_name = [&](const IbSwitch& one) { return one.name == name; };
  return *std::find_if(plan.switches.begin(), plan.switches.end(), has_name);
}

void add_trunks(IbPlan& plan, int racks) {
  int next = 1;
  for (int rack = 1; rack <= racks; ++rack) {
    const std::string leaf = "ibleaf" + number(rack);
    int last = 0;
    for (const auto& port : plan.ports) {
      if (port.hca.ib_switch == leaf) last = std::max(last, port.hca.port);
    }
    for (int k = 1; k <= trunks_per_leaf; ++k) {
      plan.trunks.push_back({leaf, last + k, "ibspine1", next++});
    }
  }
}

void count_ports(IbPlan& plan) {
  for (auto& one : plan.switches) {
    one.ports = least_ports;
    for (const auto& port : plan.ports) {
      if (port.hca.ib_switch == one.name) one.ports = std::max(one.ports, port.hca.port);
    }
    for (const auto& trunk : plan.trunks) {
      if (trunk.leaf == one.name) one.ports = std::max(one.ports, trunk.leaf_port);
      if (trunk.spine == one.name) one.ports = std::max(one.ports, trunk.spine_port);
    }
  }
}

std::string render_switch(const IbPlan& plan, const IbSwitch& one) {
  const std::string digits = one.guid.substr(2);
  std::string out = "switchguid=0x" + digits + "(" + digits + ")\nSwitch " + number(one.ports) +
                    " \"" + switch_id(one.guid) + "\" # \"" + one.name + "\"\n";
  for (const auto& port : plan.ports) {
    if (port.hca.ib_switch != one.name) continue;
    out += "[" + number(port.hca.port) + "] \"" + ib_node_id(port.hca) + "\"[1]\n";
  }
  for (const auto& trunk : plan.trunks) {
    const bool is_leaf = trunk.leaf == one.name;
    if (!is_leaf && trunk.spine != one.name) continue;
    const IbSwitch& other = find_switch(plan, is_leaf ? trunk.spine : trunk.leaf);
    out += "[" + number(is_leaf ? trunk.leaf_port : trunk.spine_port) + "] \"" +
           switch_id(other.guid) + "\"[" + number(is_leaf ? trunk.spine_port : trunk.leaf_port) +
           "]\n";
  }
  return out + "\n";
}

std::string render_hca(const IbPlan& plan, const IbPort& port) {
  const LabHca& hca = port.hca;
  return "caguid=" + hca.node_guid + "\nHca 1 \"" + ib_node_id(hca) + "\" # \"" + port.machine +
         " " + hca.name + "\"\n[1](" + hca.guid.substr(2) + ") \"" +
         switch_id(find_switch(plan, hca.ib_switch).guid) + "\"[" + number(hca.port) + "]\n\n";
}

/// The word after `key` in a line of words.
std::string after(const std::vector<std::string>& words, const std::string& key) {
  const auto it = std::find(words.begin(), words.end(), key);
  return it == words.end() || it + 1 == words.end() ? "" : *(it + 1);
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : line + " ") {
    if (c != ' ' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::move(word));
      word.clear();
    }
  }
  return out;
}

}  // namespace

IbPlan ib_plan_of(const LabSpec& spec) {
  IbPlan plan;
  if (spec.fabric != FabricKind::frr || spec.hcas == 0) return plan;
  for (const auto& node : hardware_of(spec)) {
    for (const auto& hca : node.hcas) plan.ports.push_back({node.name, hca});
  }
  int last = 0;
  for (const auto& port : plan.ports) {
    if (port.hca.ib_switch == "ibleaf1") last = std::max(last, port.hca.port);
  }
  LabHca own = make_hca(0, 0);
  own.ib_switch = "ibleaf1";
  own.port = last + 1;
  plan.ports.push_back({manager_name, own});
  for (int rack = 1; rack <= spec.racks; ++rack) {
    plan.switches.push_back({"ibleaf" + number(rack), switch_guid(rack), 0});
  }
  if (spec.racks > 1) {
    plan.switches.push_back({"ibspine1", switch_guid(255), 0});
    add_trunks(plan, spec.racks);
  }
  count_ports(plan);
  return plan;
}

std::string render_ib_net(const IbPlan& plan) {
  std::string out;
  for (const auto& one : plan.switches) out += render_switch(plan, one);
  for (const auto& port : plan.ports) out += render_hca(plan, port);
  return out;
}

std::string ib_node_id(const LabHca& hca) { return "H-" + hca.node_guid.substr(2); }

std::vector<IbPortDump> parse_ib_dump(const std::string& printed) {
  std::vector<IbPortDump> out;
  std::string node_id;
  bool is_complete = false;
  for (const auto& line : split(printed, '\n')) {
    const auto words = words_of(line);
    if (words.size() >= 3 && words[0] == "Ca" && words[2].size() > 2) {
      node_id = words[2].substr(1, words[2].size() - 2);
    } else if (words.size() >= 3 && words[0] == "Switch") {
      node_id.clear();
    } else if (!node_id.empty() && words.size() >= 4 && words[1] == "[1]") {
      const auto state = split(words.back(), '/');
      if (state.size() != 2) continue;
      const auto lid = parse_integer(after(words, "lid"));
      out.push_back({node_id, static_cast<int>(lid.value_or(0)), state[0], state[1]});
      node_id.clear();
    }
    is_complete = is_complete || line.find("dumped") != std::string::npos;
  }
  if (!is_complete) out.clear();
  return out;
}

std::vector<IbKeys> parse_ib_keys(const std::string& printed) {
  std::vector<IbKeys> out;
  for (const auto& line : split(printed, '\n')) {
    const auto words = words_of(line);
    if (words.size() == 2 && words[0] == "lid") {
      out.push_back({static_cast<int>(parse_integer(words[1]).value_or(0)), {}});
    } else if (!out.empty() && words.size() > 1 && words[0].back() == ':') {
      out.back().table.insert(out.back().table.end(), words.begin() + 1, words.end());
    }
  }
  std::erase_if(out, [](const IbKeys& keys) { return keys.lid == 0 || keys.table.empty(); });
  return out;
}

}  // namespace tundish::lab
