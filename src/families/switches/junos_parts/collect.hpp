#pragma once
// Junos: every statement put with its instance, policy or interface. What they mean is read off by
// read.cpp.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "families/switches/junos_parts/parts.hpp"

namespace tundish::switches::juniper {

using Names = std::set<std::string>;

inline constexpr int vni_max = 16777215;

bool starts(const Statement& line, const Statement& head);
Statement rest(const Statement& line, std::size_t from);

struct Vlan {
  int id = 0, vni = 0;
};

struct Instance {
  std::string type, rd, description;
  Names imports, exports;  ///< by vrf-target
  std::vector<std::string> import_policies, export_policies;
  Names interfaces;
  std::map<std::string, Vlan> vlans;
  int vni = 0, routing_vni = 0;
  std::vector<AddressRoute> routes;
  std::vector<Statement> others;
};

struct Term {
  Names communities, prefixes;
  std::string action;
  bool odd = false;
};

struct Policy {
  std::map<std::string, Term> terms;
  Names added;
  std::string action;
  bool odd = false;
};

struct Unit {
  std::string mac, acl, address;
  int mtu = 1500;
  bool grouped = false;
  std::vector<Statement> others;
};

struct Port {
  std::string description, address;
  bool disabled = false, routed = false, switched = false;
  std::vector<Statement> odd;
  Names members;
  bool seen = false;
};

struct Collected {
  std::map<std::string, Instance> instances;
  std::map<std::string, Names> communities;
  std::map<std::string, Policy> policies;
  std::map<std::string, std::vector<Statement>> filters;
  std::map<int, Unit> units;
  std::map<std::string, Port> ports;
  std::string group_mac, router_id, vtep_address;
  std::int64_t asn = 0;
  std::set<int> foreign_vlans, foreign_vnis;
};

Collected collect(const Statements& config, const SwitchOwnership& ownership);

}  // namespace tundish::switches::juniper
