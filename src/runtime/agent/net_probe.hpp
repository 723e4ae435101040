#pragma once
// Sends and receives the marked frames of a NetProbe on one interface.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/net_probe.hpp"
#include "runtime/agent/deadline.hpp"

namespace tundish::agent {

using MacBytes = std::array<std::uint8_t, 6>;

/// Payload of every frame and connection: "TNDP", token, way, sender; at most 18 bytes when
/// `sender` is its 4-byte hash, so that it fits behind an ARP request in the shortest frame.
std::string probe_mark(const NetProbe& probe, ProbeWay way, std::string_view sender);
struct ProbeMark {
  ProbeWay way;
  std::uint32_t sender;
};
/// The mark of this run in a frame's bytes; nullopt when there is none.
std::optional<ProbeMark> find_mark(std::string_view bytes, std::string_view token);
std::uint32_t hash_of_node(std::string_view node);
std::optional<MacBytes> parse_mac(std::string_view text);

/// Blocks for `probe.listen_ms`.
Result<NetProbeSeen> run_probe(const NetProbe& probe);

}  // namespace tundish::agent
