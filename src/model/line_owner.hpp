#pragma once
// Whose a line of a switch's configuration is that no parser understood: by the names and numbers
// that stand in it.
#include <set>
#include <string>
#include <vector>

#include "model/switch_state.hpp"

namespace tundish {

/// By what a line names one owner.
struct LineMarks {
  std::set<std::string> names;  ///< of its own objects alone: VRF, list, "vlan110", "vx10010"
  std::set<int> numbers;        ///< VLANs and VNIs: they tell an owner only behind such a word
};

constexpr int no_owner = -1;

/// The one of `owners` that the line is about. `no_owner`: it names none, several, holds a number
/// of another, or speaks of what one takes from another.
int owner_of_line(const std::vector<LineMarks>& owners, const std::string& line);

/// Every one of `owners` whose names stand in the line, whatever the line says of them.
std::vector<int> owners_named_in(const std::vector<LineMarks>& owners, const std::string& line);

/// The names of a VRF, of its list, its VNI and the VLAN that carries it.
void add_marks(const VrfState& vrf, LineMarks& out);
void add_marks(const SegmentState& segment, LineMarks& out);

/// The port stands in the line as a word of its own.
bool names_port(const std::string& line, const std::string& port);

}  // namespace tundish
