#pragma once
// What every switch item is tested for: golden files, parse(render(x)) = x, and steps that name
// what changed and nothing else.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "codec/json.hpp"
#include "families/switches/parts/changes.hpp"
#include "families/switches/state_for_test.hpp"

namespace tundish::switches {

inline std::string read_for_test(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string show(const SwitchFiles& files) {
  std::string out;
  for (const auto& file : files) out += "==== " + file.name + "\n" + file.text;
  return out;
}

inline std::string show(const std::vector<SwitchStep>& steps) {
  std::string out;
  int number = 0;
  for (const auto& step : steps) {
    out += "==== step " + std::to_string(++number) + " by " + step.file + ": " + step.what + "\n" +
           step.text;
    if (!step.text.ends_with('\n')) out += '\n';
  }
  return out;
}

inline std::vector<SwitchStep> steps_between(const SwitchItem& item, const SwitchState& from,
                                             const SwitchState& to) {
  auto steps = item.steps(from, to);
  EXPECT_TRUE(steps.has_value());
  return steps ? *std::move(steps) : std::vector<SwitchStep>{};
}

/// Files of tests/data/switches/ITEM.
inline SwitchFiles data_files(const std::string& item, const std::vector<std::string>& names) {
  SwitchFiles out;
  for (const auto& name : names) {
    out.push_back({name, read_for_test(std::string(TUNDISH_SOURCE_DIR) + "/tests/data/switches/" +
                                       item + "/" + name)});
    EXPECT_FALSE(out.back().text.empty()) << item << "/" << name;
  }
  return out;
}

/// `text` with its only `from` replaced.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

struct GoldenCase {
  std::string name;
  SwitchState from, to;
};

namespace golden {

inline SwitchState empty(const StateShape& shape) {
  SwitchState state;
  state.asn = 4200000101;
  state.router_id = state.vtep_address = "10.0.0.1";
  for (int i = 1; i <= 4; ++i) state.ports.push_back({shape.port_name(i), {}, 0, "", "", ""});
  sort_state(state);
  return state;
}

inline void join(SwitchState& state, const StateShape& shape, int port, int vlan) {
  for (auto& have : state.ports) {
    if (have.name != shape.port_name(port)) continue;
    have.mode = vlan == 0 ? PortMode::quarantine : PortMode::access;
    have.vlan = vlan;
    have.description = "node0" + std::to_string(port) + " eth0";
  }
}

inline void add_vrf(SwitchState& state, const SwitchCapabilities& capabilities, int id, int vni) {
  VrfState vrf;
  vrf.name = "Vrf" + std::to_string(100000 + id).substr(1);
  vrf.vrf_id = id;
  vrf.l3vni = vni;
  if (capabilities.needs_l3vlan) vrf.l3vlan = 2000 + id % 1000;
  vrf.rd = state.router_id + ":" + std::to_string(id);
  vrf.import_targets = vrf.export_targets = {"65000:" + std::to_string(vni)};
  state.vrfs.push_back(vrf);
}

inline void add_segment(SwitchState& state, const std::string& vrf, int vlan, int vni,
                        const std::string& gateway) {
  SegmentState segment;
  segment.vrf = vrf;
  segment.vlan = vlan;
  segment.l2vni = vni;
  segment.rd = state.router_id + ":" + std::to_string(vlan);
  segment.import_targets = segment.export_targets = {"65000:" + std::to_string(vni)};
  segment.gateway = gateway;
  state.segments.push_back(segment);
}

}  // namespace golden

/// The six situations of the golden files, of one tenant on one leaf (facts/cloud.md 3.1).
inline std::vector<GoldenCase> golden_cases(const SwitchCapabilities& capabilities,
                                            const StateShape& shape) {
  using namespace golden;
  const SwitchState none = empty(shape);
  SwitchState base = none;
  add_vrf(base, capabilities, 10, 50010);
  if (shape.vrf_text == StateShape::VrfText::kept) base.vrfs[0].description = "acme train";
  add_segment(base, "Vrf00010", 110, 10010, "10.10.0.1/24");
  base.segments[0].acl_in = "T-10-IN";
  base.acls.push_back({"T-10-IN",
                       {{10, AclAction::deny, "tcp", "", "10.200.0.0/24", 22, 0},
                        {20, AclAction::permit, "ip", "10.10.0.0/24", "", 0, 0}}});
  join(base, shape, 1, 110);
  join(base, shape, 2, 110);
  SwitchState wider = base;
  add_segment(wider, "Vrf00010", 111, 10011, "10.11.0.1/24");
  join(wider, shape, 3, 111);
  SwitchState stored = base;
  add_vrf(stored, capabilities, 60001, 60001);
  add_segment(stored, "Vrf60001", 112, 10012, "10.200.0.1/24");
  join(stored, shape, 4, 112);
  stored.vrfs[0].leaks = {{"Vrf60001", {"10.200.0.0/24"}}};
  stored.vrfs[1].leaks = {{"Vrf00010", {"100.64.0.1/32", "100.64.0.2/32"}}};
  stored.vrfs[0].routes = {{"100.64.0.1/32", "10.10.0.11"}, {"100.64.0.2/32", "10.10.0.12"}};
  SwitchState smaller = base, shut = base;
  join(smaller, shape, 2, 0);
  join(shut, shape, 1, 0);
  join(shut, shape, 2, 0);
  std::vector<GoldenCase> out{{"create", none, base},        {"add_segment", base, wider},
                              {"add_storage", base, stored}, {"shrink", base, smaller},
                              {"delete", stored, none},      {"quarantine", base, shut}};
  for (auto& item : out) {
    sort_state(item.from);
    sort_state(item.to);
  }
  return out;
}

/// `./dev golden --accept` rewrites the files.
inline void expect_golden(const SwitchItem& item, const StateShape& shape) {
  const char* set = std::getenv("TUNDISH_GOLDEN");
  const bool accept = set != nullptr && std::string_view(set) == "--accept";
  for (const auto& one : golden_cases(item.capabilities(), shape)) {
    const auto files = item.render(one.to);
    ASSERT_TRUE(files.has_value()) << one.name << ": " << files.error().message();
    const auto steps = item.steps(one.from, one.to);
    ASSERT_TRUE(steps.has_value()) << one.name << ": " << steps.error().message();
    const std::string text = show(*files) + show(*steps);
    const std::filesystem::path path =
        std::filesystem::path(TUNDISH_SOURCE_DIR) / "tests/golden/switches" / item.name / one.name;
    if (accept) {
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path, std::ios::binary) << text;
    }
    EXPECT_EQ(read_for_test(path), text) << path << "; ./dev golden --accept rewrites it";
  }
}

inline void expect_reads_back(const SwitchItem& item, const SwitchState& state, int seed) {
  const auto files = item.render(state);
  ASSERT_TRUE(files.has_value()) << "seed " << seed << ": " << files.error().message();
  const auto seen = item.parse(*files, ownership_for_test(state));
  ASSERT_TRUE(seen.has_value()) << "seed " << seed;
  EXPECT_TRUE(seen->own == state) << "seed " << seed << "\nrendered\n"
                                  << show(*files) << "\nis " << render_json(state, 1)
                                  << "\nread as " << render_json(seen->own, 1);
  EXPECT_TRUE(seen->unclear.empty()) << "seed " << seed << ": " << seen->unclear[0] << "\n"
                                     << show(*files);
  const auto& foreign = seen->foreign;
  EXPECT_TRUE(foreign.vlans.empty() && foreign.vnis.empty() && foreign.vrfs.empty() &&
              foreign.route_targets.empty() && foreign.acls.empty())
      << "seed " << seed << ": " << render_json(foreign);
}

/// "vlan 110, acl T-10-IN: ..." is about both: kind and name, more of them behind commas.
inline std::set<std::string> subjects(const std::string& what) {
  std::set<std::string> out;
  std::istringstream words(what);
  std::string kind, name;
  while (words >> kind >> name) {
    const bool more = name.ends_with(',');
    while (!name.empty() && (name.back() == ',' || name.back() == ':')) name.pop_back();
    out.insert(kind + " " + name);
    if (!more) break;
  }
  return out;
}

/// Objects that differ, and those that must be taken along: ports of a segment that is made anew.
inline std::set<std::string> changed_objects(const StateChanges& changes) {
  std::set<std::string> out;
  const auto add = [&](const char* kind, const auto& list, auto name) {
    for (const auto& change : list) {
      out.insert(kind + name(*(change.from != nullptr ? change.from : change.to)));
    }
  };
  add("vrf ", changes.vrfs, [](const VrfState& vrf) { return vrf.name; });
  add("vlan ", changes.segments, [](const SegmentState& s) { return std::to_string(s.vlan); });
  add("port ", changes.ports, [](const SwitchPortState& port) { return port.name; });
  add("acl ", changes.acls, [](const AclState& acl) { return acl.name; });
  return out;
}

inline void expect_steps_fit(const SwitchItem& item, const SwitchState& from, const SwitchState& to,
                             int seed) {
  const auto same = item.steps(from, from);
  ASSERT_TRUE(same.has_value() && same->empty()) << "seed " << seed;
  const auto steps = item.steps(from, to);
  ASSERT_TRUE(steps.has_value()) << "seed " << seed << ": " << steps.error().message();
  std::set<std::string> named;
  for (const auto& step : *steps) {
    EXPECT_FALSE(step.text.empty()) << "seed " << seed << ": " << step.what;
    named.merge(subjects(step.what));
  }
  std::set<std::string> allowed = changed_objects(find_changes(from, to));
  for (const auto& port : from.ports) {
    // A port that is only given up, and is in no network, needs nothing done.
    const bool given_up = find_port(to, port.name) == nullptr;
    if (given_up && port.mode == PortMode::quarantine) allowed.erase("port " + port.name);
  }
  for (const auto& object : allowed) {
    EXPECT_TRUE(named.contains(object)) << "seed " << seed << ": no step for " << object << "\n"
                                        << show(*steps);
  }
  for (const auto& port : to.ports) {
    const SegmentState* now = find_segment(to, port.vlan);
    const SegmentState* old = find_segment(from, port.vlan);
    const bool anew =
        now != nullptr && old != nullptr && (now->vrf != old->vrf || now->l2vni != old->l2vni);
    if (port.mode == PortMode::access && anew) allowed.insert("port " + port.name);
  }
  for (const auto& object : named) {
    EXPECT_TRUE(allowed.contains(object)) << "seed " << seed << ": a step for " << object << "\n"
                                          << show(*steps);
  }
}

inline void expect_item_holds(const SwitchItem& item, const StateShape& shape) {
  for (int seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    StateMaker maker(static_cast<std::uint32_t>(seed), item.capabilities(), shape);
    const SwitchState state = maker.make(seed % 6);
    expect_reads_back(item, state, seed);
    const SwitchState next = maker.change(state);
    expect_reads_back(item, next, seed);
    expect_steps_fit(item, state, next, seed);
    expect_steps_fit(item, next, state, seed);
  }
}

}  // namespace tundish::switches
