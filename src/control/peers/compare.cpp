#include "control/peers/compare.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

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

constexpr std::string_view split_mark = ", which disagree";

struct Low {
  PeerFinding finding;
  bool split = false;  ///< low beside the better half only
};

Low find_low(const Rule& rule, const NodeLoad& mine, const std::vector<NodeLoad>& peers) {
  const auto theirs = told(peers, rule.number);
  const std::int64_t lower = median(theirs);
  const std::int64_t upper = theirs.empty() ? -1 : theirs[theirs.size() / 2];
  const std::int64_t value = mine.*rule.number;
  Low out;
  out.finding.what = rule.what;
  out.finding.value = with_unit(value, rule.unit);
  out.finding.peers_asked = static_cast<int>(theirs.size());
  // The two in the middle are far apart: neither is the norm.
  const bool apart = lower * 100 < upper * rule.least_percent;
  out.finding.peers = apart ? std::to_string(lower) + " to " + with_unit(upper, rule.unit)
                            : with_unit(lower, rule.unit);
  const bool comparable = theirs.size() >= least_peers && lower > 0 && value >= 0;
  out.finding.outlier = comparable && value * 100 < lower * rule.least_percent;
  out.split = comparable && apart && !out.finding.outlier &&
              value * 100 < upper * rule.least_percent;
  return out;
}

enum class Counts { yes, no };  ///< no: the job is not busy enough for the number to say anything

PeerFinding judged(Low low, Counts counts) {
  if (low.split && counts == Counts::yes) low.finding.peers += split_mark;
  low.finding.outlier = low.finding.outlier && counts == Counts::yes;
  return std::move(low.finding);
}

}  // namespace

std::vector<PeerFinding> compare_with_peers(const NodeLoad& mine,
                                            const std::vector<NodeLoad>& peers) {
  const bool busy = median(told(peers, &NodeLoad::utilization_percent)) >= busy_percent;
  const bool sends = median(told(peers, &NodeLoad::nic_bytes_per_s)) >= least_traffic;
  const auto look = [&](const Rule& rule, bool counts) {
    return judged(find_low(rule, mine, peers), counts ? Counts::yes : Counts::no);
  };
  std::vector<PeerFinding> out;
  out.push_back(
      look({"SM clock of its slowest GPU", "MHz", &NodeLoad::clock_mhz, clock_percent}, busy));
  out.push_back(look({"power of its GPUs", "W", &NodeLoad::power_w, power_percent}, busy));
  out.push_back(
      look({"rate of its slowest HCA port", "Gb/s", &NodeLoad::nic_rate_gbps, rate_percent}, true));
  out.push_back(look(
      {"bytes that its HCAs send", "B/s", &NodeLoad::nic_bytes_per_s, traffic_percent}, sends));
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

bool is_split(const PeerFinding& finding) { return finding.peers.ends_with(split_mark); }

}  // namespace tundish::control
