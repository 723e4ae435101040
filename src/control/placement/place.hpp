#pragma once
// Places a gang and its spares, whole or not at all.
#include "control/placement/fleet.hpp"
#include "control/placement/request.hpp"

namespace tundish::control::placement {

/// Pure and deterministic; the caller marks the nodes busy when it commits the answer.
///
/// Members take the optimum of Key among the placements where the spares can stand: with
/// segments in an NVLink domain that a member uses, else in a leaf group, else in a pod of
/// theirs. When the optimum of the members alone leaves that room, it is the answer. Spares
/// then take the optimum among what remains, closest first.
Outcome place(const FleetIndex& index, const Request& request);

struct Swap {
  std::string lost;
  std::vector<std::string> members;      ///< the gang, with or without the lost node
  std::vector<std::string> held_spares;  ///< of the same allocation; preferred if they can stand
};

struct Replacement {
  std::string node;
  Stand stand = Stand::same_pod;
  bool from_spare = false;
};
using SwapOutcome = std::variant<Replacement, Shortfall>;

/// The node that leaves the gang (members without the lost one, plus it) with the best Key;
/// with segments only nodes of the lost node's NVLink domain, else only the gang's pods.
/// Ties: closest to the lost node, then lowest id. Count and spares of the request are ignored.
SwapOutcome pick_replacement(const FleetIndex& index, const Swap& swap, const Request& request);

}  // namespace tundish::control::placement
