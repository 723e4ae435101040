#pragma once
// What `network probe` says to people: leaks first, each thing once.
#include <string>

#include "control/network/probe.hpp"

namespace tundish::edge::cli {

/// "2.1 s ago"; "never read" below 0.
std::string age_text(std::int64_t ms);
/// Who would send to whom.
std::string render_probe_plan(const control::network::ProbeMatrix& plan);
/// One line before a run begins.
std::string announce_probe(const control::network::ProbeMatrix& plan);
std::string render_matrix(const control::network::ProbeMatrix& matrix);
/// done: isolated; refused: a leak; unknown: neither.
int probe_exit(const control::network::ProbeMatrix& matrix);

}  // namespace tundish::edge::cli
