#pragma once
// What the node knows of itself as a text file for prometheus-node-exporter's textfile collector.
// Source: github.com/prometheus/node_exporter, README, textfile collector; checked 2026-11
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "model/verdict.hpp"
#include "model/witness.hpp"

namespace tundish::agent {

/// (kind, provenance) -> sightings since the agent started.
using WitnessCounts = std::map<std::pair<std::string, std::string>, std::int64_t>;

/// Pure. `verdicts` is everything that is not ok.
std::string render_text_metrics(const std::vector<Verdict>& verdicts, const WitnessCounts& counts,
                                Instant at);

/// Any thread. An empty folder: nothing is written.
class TextMetrics {
 public:
  explicit TextMetrics(std::string folder) : folder_(std::move(folder)) {}
  void count(const std::vector<Witness>& witnesses);
  /// In one step: a reader sees the file before or after, never half of it.
  Result<> write(const std::vector<Verdict>& verdicts, Instant at);

 private:
  std::string folder_;
  std::mutex mutex_;
  WitnessCounts counts_;
};

}  // namespace tundish::agent
