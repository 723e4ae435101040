#include "control/peers/compare.hpp"

#include <algorithm>

namespace tundish::control {
namespace {

/// Below so many percent of the median of its peers a number is far off. Ours: wide enough for the
/// spread of boards and temperatures, narrow enough for a GPU that is held at half its clock.
constexpr std::int64_t clock_percent = 85;
constexpr std::int64_t power_percent = 70;
constexpr std::int64_t rate_percent = 75;
constexpr std::int64_t traffic_percent = 30;
/// Peers that are less busy say nothing about clocks.
constexpr std::int64_t busy_percent = 50;
/// Less traffic says nothing.
constexpr std::int64_t least_traffic = 100'000'000;
constexpr std::size_t least_peers = 2;

using Number = std::int64_t NodeLoad::*;

std::vector<std::int64_t> told(const std::vector<NodeLoad>& peers, Number number) {
  std::vector<std::int64_t> out;
  for (const auto& peer : peers) {
    if (peer.*number >= 0) out.push_back(peer.*number);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::int64_t median(const std::vector<std::int64_t>& sorted) {
  return sorted.empty() ? -1 : sorted[(sorted.size() - 1) / 2];  // the lower one of two
}

struct Rule {
  const char* what;
  const char* unit;
  Number number;
  std::int64_t least_percent;
};

std::string with_unit(std::int64_t value, const char* unit) {
  return value < 0 ? "unknown" : std::to_string(value) + " " + unit;
}

PeerFinding find_low(const Rule& rule, const NodeLoad& mine, const std::vector<NodeLoad>& peers) {
  const auto theirs = told(peers, rule.number);
  const std::int64_t middle = median(theirs);
  PeerFinding out;
  out.what = rule.what;
  out.value = with_unit(mine.*rule.number, rule.unit);
  out.peers = with_unit(middle, rule.unit);
  out.peers_asked = static_cast<int>(theirs.size());
  const bool comparable = theirs.size() >= least_peers && middle > 0 && mine.*rule.number >= 0;
  out.outlier = comparable && mine.*rule.number * 100 < middle * rule.least_percent;
  return out;
}

}  // namespace

std::vector<PeerFinding> compare_with_peers(const NodeLoad& mine,
                                            const std::vector<NodeLoad>& peers) {
  const bool busy = median(told(peers, &NodeLoad::utilization_percent)) >= busy_percent;
  std::vector<PeerFinding> out;
  out.push_back(find_low(
      {"SM clock of its slowest GPU", "MHz", &NodeLoad::clock_mhz, clock_percent}, mine, peers));
  out.push_back(
      find_low({"power of its GPUs", "W", &NodeLoad::power_w, power_percent}, mine, peers));
  for (auto& finding : out) finding.outlier = finding.outlier && busy;
  out.push_back(
      find_low({"rate of its slowest HCA port", "Gb/s", &NodeLoad::nic_rate_gbps, rate_percent},
               mine, peers));
  PeerFinding traffic =
      find_low({"bytes that its HCAs send", "B/s", &NodeLoad::nic_bytes_per_s, traffic_percent},
               mine, peers);
  traffic.outlier =
      traffic.outlier && median(told(peers, &NodeLoad::nic_bytes_per_s)) >= least_traffic;
  out.push_back(std::move(traffic));
  const auto throttled = told(peers, &NodeLoad::throttled_gpus);
  PeerFinding slowed;
  slowed.what = "GPUs slowed down for heat or power";
  slowed.value = with_unit(mine.throttled_gpus, "GPUs");
  slowed.peers = with_unit(median(throttled), "GPUs");
  slowed.peers_asked = static_cast<int>(throttled.size());
  slowed.outlier =
      throttled.size() >= least_peers && median(throttled) == 0 && mine.throttled_gpus > 0;
  out.push_back(std::move(slowed));
  return out;
}

}  // namespace tundish::control
