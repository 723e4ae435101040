// The verdict of a probe over all its tables. A way that is open is a leak, whatever could not be
// told of the others; what could not be told is named, and is neither.
#include <set>

#include "base/text.hpp"
#include "control/network/probe.hpp"

namespace tundish::control::network {
namespace {

std::string word_of(ProbeWay way) {
  std::string out(enum_names(way)[static_cast<std::size_t>(way)]);
  for (auto& c : out) c = c == '_' ? ' ' : c;
  return out;
}

std::vector<ProbeOpenWay> open_ways_of(const ProbeMatrix& matrix) {
  std::vector<ProbeOpenWay> out;
  for (const auto& pair : matrix.pairs) {
    for (const auto& way : pair.ways) {
      if (pair.same || way.cell != ProbeCell::open) continue;
      out.push_back({pair.from, pair.to, word_of(way.way), way.detail});
    }
  }
  for (const auto& pair : matrix.partitions) {
    if (pair.same) continue;
    if (pair.tables == ProbeCell::open) {
      out.push_back({pair.from, pair.to, "PKey tables", pair.tables_detail});
    }
    if (pair.paths == ProbeCell::open) {
      out.push_back({pair.from, pair.to, "path records", pair.paths_detail});
    }
  }
  for (const auto& row : matrix.storage) {
    if (row.same || row.cell != ProbeCell::open) continue;
    out.push_back({row.from, row.to, "storage", row.detail});
  }
  for (const auto& row : matrix.leaf) {
    for (const auto& what : row.open) out.push_back({row.cluster, row.switch_name, what, ""});
  }
  for (const auto& service : matrix.services) {
    std::vector<std::string> answered = service.reached;
    answered.insert(answered.end(), service.refused.begin(), service.refused.end());
    if (service.closed_to_all.empty() || answered.empty()) continue;
    out.push_back({service.cluster, service.closed_to_all, "service " + service.service,
                   join(answered, ", ")});
  }
  for (const auto& row : matrix.out_of_band) {
    for (const auto& other : row.open) out.push_back({row.node, other, "out of band", ""});
  }
  return out;
}

/// "3 cells between clusters", or nothing of none.
void add_count(std::vector<std::string>& out, int count, const std::string& what) {
  if (count == 0) return;
  out.push_back(std::to_string(count) + (count == 1 ? " cell " : " cells ") + what);
}

std::vector<std::string> doubts_of(const ProbeMatrix& matrix) {
  std::vector<std::string> out;
  std::set<std::string> clusters;
  int across = 0, outside = 0, leaf = 0, partitions = 0, storage = 0, out_of_band = 0;
  for (const auto& pair : matrix.pairs) {
    if (pair.from != outside_label) clusters.insert(pair.from);
    if (pair.same && !pair.good) out.push_back(pair.from + " was not seen by itself");
    if (pair.same) continue;
    const bool with_free = pair.from == outside_label || pair.to == outside_label;
    int& unknown = with_free ? outside : across;
    for (const auto& way : pair.ways) unknown += way.cell == ProbeCell::unknown ? 1 : 0;
    if (pair.ways.empty() && !pair.good) ++across;
  }
  for (const auto& pair : matrix.partitions) {
    if (pair.good) continue;
    if (pair.same) {
      out.push_back(pair.from + " was not seen whole in " + pair.fabric);
      continue;
    }
    partitions += (pair.tables == ProbeCell::unknown ? 1 : 0) +
                  (pair.paths == ProbeCell::unknown ? 1 : 0);
  }
  for (const auto& row : matrix.storage) {
    if (row.good) continue;
    if (row.same) out.push_back(row.from + " does not reach its own export with every node");
    if (!row.same && row.cell == ProbeCell::unknown) ++storage;
  }
  for (const auto& row : matrix.leaf) leaf += row.cell == ProbeCell::unknown ? 1 : 0;
  for (const auto& row : matrix.out_of_band) {
    out_of_band += row.cell == ProbeCell::unknown ? 1 : 0;
  }
  if (clusters.empty()) {
    out.insert(out.begin(), "no node took part");
  } else if (clusters.size() == 1) {
    out.insert(out.begin(), "only " + *clusters.begin() +
                                " took part: nobody to be separated from; name two clusters or "
                                "none");
  }
  int silent = 0;
  for (const auto& left : matrix.left_out) silent += left.ends_with(joins_still) ? 0 : 1;
  if (silent > 0) {
    out.push_back(std::to_string(silent) + (silent == 1 ? " node" : " nodes") +
                  " of the networks could not be asked");
  }
  add_count(out, across, "between clusters unknown");
  add_count(out, outside, "between clusters and free nodes unknown");
  add_count(out, leaf, "of the leaves' own addresses unknown");
  add_count(out, partitions, "of InfiniBand unknown");
  add_count(out, storage, "of the storage unknown");
  add_count(out, out_of_band, "of the out-of-band network unknown");
  return out;
}

}  // namespace

void conclude_probe(ProbeMatrix& matrix) {
  matrix.open_ways = open_ways_of(matrix);
  matrix.doubts = doubts_of(matrix);
  matrix.verdict = !matrix.open_ways.empty() ? ProbeVerdict::leak
                   : matrix.doubts.empty()   ? ProbeVerdict::isolated
                                             : ProbeVerdict::unproved;
  matrix.isolated = matrix.verdict == ProbeVerdict::isolated;
}

}  // namespace tundish::control::network
