#pragma once
// InfiniBand's part of `network probe`: PKey tables as the ports carry them, and a path record from
// the real subnet manager for each pair of ports. Pure.
#include "control/network/probe.hpp"

namespace tundish::control::network {

/// More pairs of ports than this are asked for evenly spread, and the matrix says so.
inline constexpr std::size_t paths_asked = 1024;

/// What to ask of each fabric's subnet manager, by fabric.
std::map<std::string, std::vector<FabricPath>> plan_paths(const View& view,
                                                          const std::vector<ClusterId>& clusters);

using PathAnswers = std::map<std::string, Result<std::vector<FabricPath>>>;
/// Adds the pairs to `matrix`, which is isolated only when they are, too. A fabric without an
/// answer is unknown.
void judge_partitions(const View& view, const std::vector<ClusterId>& clusters,
                      const PathAnswers& answers, ProbeMatrix& matrix);

}  // namespace tundish::control::network
