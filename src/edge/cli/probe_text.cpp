#include "edge/cli/probe_text.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "edge/cli/context.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

using namespace control::network;  // NOLINT: the tables of the matrix

constexpr std::size_t names_told = 6;

/// "n01, n02 and 30 more".
std::string some_of(const std::vector<std::string>& names) {
  if (names.size() <= names_told) return join(names, ", ");
  const std::vector<std::string> first(names.begin(), names.begin() + names_told);
  return join(first, ", ") + " and " + std::to_string(names.size() - names_told) + " more";
}

std::string spoken(ProbeWay way) {
  std::string out = word(way);
  for (auto& c : out) c = c == '_' ? ' ' : c;
  return out;
}

/// Lines that say the same of several things, each said once: by the text, in the order they came.
class Joined {
 public:
  void add(const std::string& text, const std::string& what) {
    if (!whats_.contains(text)) order_.push_back(text);
    auto& known = whats_[text];
    if (std::find(known.begin(), known.end(), what) == known.end()) known.push_back(what);
  }
  /// `line` makes one of a text and all it is said of.
  template <class Line>
  std::string render(Line line) const {
    std::string out;
    for (const auto& text : order_) out += line(text, whats_.at(text));
    return out;
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<std::string>> whats_;
};

enum class Found { leak, unproved, unreached, good };

std::string told(Found found) {
  switch (found) {
    case Found::leak: return "LEAK";
    case Found::unproved: return "not proved";
    case Found::unreached: return "NOT REACHED";
    case Found::good: return "good";
  }
  return "not proved";
}

template <class Row>
Found judge(const Row& row, bool is_open) {
  if (row.good) return Found::good;
  if (row.same) return Found::unreached;
  return is_open ? Found::leak : Found::unproved;
}

Found found_in(const ProbePair& pair) {
  return judge(pair, std::any_of(pair.ways.begin(), pair.ways.end(), [](const ProbeWayResult& way) {
                 return way.cell == ProbeCell::open;
               }));
}
Found found_in(const ProbePartitions& pair) {
  return judge(pair, pair.tables == ProbeCell::open || pair.paths == ProbeCell::open);
}
Found found_in(const ProbeStorage& row) { return judge(row, row.cell == ProbeCell::open); }

/// Leaks first, the rest as it came.
template <class Row>
std::vector<Row> sorted(std::vector<Row> rows) {
  std::ranges::stable_partition(rows, [](const Row& row) { return found_in(row) == Found::leak; });
  return rows;
}

std::string render_pairs(const ProbeMatrix& matrix) {
  std::vector<Cells> rows;
  Joined lines;
  for (const auto& pair : sorted(matrix.pairs)) {
    Cells cells = {pair.from, pair.to, pair.same ? "own" : "other"};
    for (const auto& way : pair.ways) {
      cells.push_back(word(way.cell));
      if (pair.same || way.cell == ProbeCell::closed) continue;
      lines.add(word(way.cell) + " from " + pair.from + " to " + pair.to + "\n" + way.detail,
                spoken(way.way));
    }
    cells.push_back(told(found_in(pair)));
    rows.push_back(std::move(cells));
  }
  Cells header = {"FROM", "TO", "WHOSE"};
  for (int way = 0; way < probe_ways; ++way) {
    std::string name = spoken(static_cast<ProbeWay>(way));
    for (auto& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    header.push_back(std::move(name));
  }
  header.push_back("VERDICT");
  return render_table(header, rows) +
         lines.render([](const std::string& text, const std::vector<std::string>& ways) {
           const auto end = text.find('\n');
           const std::string all = ways.size() == probe_ways ? "every way" : join(ways, ", ");
           return text.substr(0, end) + " by " + all + ": " + text.substr(end + 1) + "\n";
         });
}

std::string render_partitions(const ProbeMatrix& matrix) {
  if (matrix.partitions.empty()) return "";
  std::vector<Cells> rows;
  Joined lines;
  for (const auto& pair : sorted(matrix.partitions)) {
    rows.push_back({pair.from, pair.to, pair.same ? "own" : "other", pair.fabric, word(pair.tables),
                    word(pair.paths), age_text(pair.age_ms), told(found_in(pair))});
    if (pair.good) continue;
    const std::string ends = pair.from + " to " + pair.to;
    lines.add("PKey tables: " + word(pair.tables) + ": " + or_dash(pair.tables_detail), ends);
    lines.add("path records: " + word(pair.paths) + ": " + or_dash(pair.paths_detail), ends);
  }
  return render_table({"FROM", "TO", "WHOSE", "FABRIC", "PKEY TABLES", "PATH RECORDS",
                       "TABLES READ", "VERDICT"},
                      rows) +
         lines.render([](const std::string& text, const std::vector<std::string>& ends) {
           return some_of(ends) + ", " + text + "\n";
         });
}

std::string render_storage(const ProbeMatrix& matrix) {
  if (matrix.storage.empty()) return "";
  std::vector<Cells> rows;
  Joined lines;
  for (const auto& row : sorted(matrix.storage)) {
    rows.push_back({row.from, row.to, row.same ? "own" : "other", word(row.cell),
                    told(found_in(row))});
    if (!row.good) lines.add(row.detail, row.from + " to storage of " + row.to);
  }
  return render_table({"FROM", "STORAGE EXPORT OF", "WHOSE", "CELL", "VERDICT"}, rows) +
         lines.render([](const std::string& text, const std::vector<std::string>& ends) {
           return some_of(ends) + ": " + text + "\n";
         });
}

std::string render_services(const ProbeMatrix& matrix) {
  std::string out;
  for (const auto& service : matrix.services) {
    const bool answered = !service.reached.empty() || !service.refused.empty();
    out += service.cluster + " to " + service.service + ": " +
           std::to_string(service.reached.size()) + " reached, " +
           std::to_string(service.refused.size()) + " refused, " +
           std::to_string(service.silent.size()) + " silent";
    if (service.closed_to_all.empty()) out += " (who may reach it is not ours to judge)";
    if (!service.closed_to_all.empty() && answered) out += ": LEAK: it is " + service.closed_to_all;
    out += "\n";
  }
  return out;
}

std::string render_out_of_band(const ProbeMatrix& matrix) {
  Joined open, unknown, closed;
  for (const auto& row : matrix.out_of_band) {
    if (row.cell == ProbeCell::closed) {
      closed.add("tundishd, and none of " + count_of(row.tried, "other"), row.node);
    } else if (row.cell == ProbeCell::open) {
      open.add("LEAK: it reaches " + some_of(row.open), row.node);
    } else {
      unknown.add("unknown: " + row.detail, row.node);
    }
  }
  const auto line = [](const std::string& text, const std::vector<std::string>& nodes) {
    return some_of(nodes) + " on the out-of-band network: " + text + "\n";
  };
  return open.render(line) + unknown.render(line) + closed.render(line);
}

std::string render_leaf(const ProbeMatrix& matrix) {
  Joined open, unknown, closed;
  for (const auto& row : matrix.leaf) {
    const std::string who = row.cluster + " on " + row.switch_name;
    if (row.cell == ProbeCell::closed) {
      closed.add("the gateway's ICMP, and none of " + count_of(row.tried, "other"), who);
    } else if (row.cell == ProbeCell::open) {
      open.add("LEAK: it answers: " + some_of(row.open), who);
    } else {
      unknown.add("unknown: " + or_dash(row.detail), who);
    }
  }
  const auto line = [](const std::string& text, const std::vector<std::string>& who) {
    return some_of(who) + ", the leaf itself: " + text + "\n";
  };
  return open.render(line) + unknown.render(line) + closed.render(line);
}

std::string tenant_of(const std::string& label) { return label.substr(0, label.find('/')); }

/// "between tenants", or what else the open ways lie between.
std::string between(const std::vector<ProbeOpenWay>& ways) {
  bool clusters = false;
  for (const auto& way : ways) {
    const bool labels =
        way.from.find('/') != std::string::npos && way.to.find('/') != std::string::npos;
    if (labels && tenant_of(way.from) != tenant_of(way.to)) return "between tenants";
    clusters = clusters || labels;
  }
  return clusters ? "between clusters of one tenant" : "out of tenants' networks";
}

std::string render_verdict(const ProbeMatrix& matrix) {
  if (matrix.isolated) return "isolated, as seen on the wire\n";
  if (matrix.open_ways.empty()) {
    return "isolation is not proved: " +
           (matrix.doubts.empty() ? "a cell is unknown" : join(matrix.doubts, "; ")) + "\n";
  }
  Joined named;
  for (const auto& way : matrix.open_ways) named.add(way.from + " to " + way.to, way.way);
  std::vector<std::string> parts;
  named.render([&](const std::string& ends, const std::vector<std::string>& ways) {
    parts.push_back(ends + " by " + join(ways, ", "));
    return std::string();
  });
  if (parts.size() > names_told) {
    const std::size_t more = parts.size() - names_told;
    parts.resize(names_told);
    parts.push_back("and " + std::to_string(more) + " more");
  }
  const std::size_t count = matrix.open_ways.size();
  return "LEAK: " + std::to_string(count) + (count == 1 ? " way is" : " ways are") + " open " +
         between(matrix.open_ways) + ": " + join(parts, "; ") + "\n";
}

/// "acme/train", with the nodes of each.
std::map<std::string, std::vector<std::string>> nodes_by_cluster(const ProbeMatrix& plan) {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& one : plan.senders) out[one.cluster].push_back(one.node);
  return out;
}

std::string left_out(const ProbeMatrix& matrix) {
  Joined lines;
  for (const auto& left : matrix.left_out) {
    const auto colon = left.find(": ");
    if (colon == std::string::npos || !left.starts_with("node ")) {
      lines.add("", left);
    } else {
      lines.add(left.substr(colon), left.substr(5, colon - 5));
    }
  }
  return lines.render([](const std::string& why, const std::vector<std::string>& nodes) {
    return "left out: " + some_of(nodes) + why + "\n";
  });
}

}  // namespace

std::string age_text(std::int64_t ms) {
  if (ms < 0) return "never read";
  return std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 / 100) + " s ago";
}

std::string render_probe_plan(const ProbeMatrix& plan) {
  std::vector<Cells> rows;
  for (const auto& one : plan.senders) {
    rows.push_back({one.node, one.cluster, one.interface, or_dash(one.address),
                    std::to_string(one.targets), std::to_string(one.out_of_band),
                    std::to_string(one.exports), std::to_string(one.services)});
  }
  return render_table({"NODE", "CLUSTER", "PORT", "ADDRESS", "SENDS TO", "OUT OF BAND", "EXPORTS",
                       "SERVICES"},
                      rows) +
         left_out(plan) +
         "dry run: each would send marked frames of seven kinds to every other port; nothing was "
         "sent\n";
}

std::string announce_probe(const ProbeMatrix& plan) {
  if (plan.senders.empty()) return "no node takes part";
  auto clusters = nodes_by_cluster(plan);
  clusters.erase(std::string(outside_label));
  return count_of(static_cast<int>(plan.senders.size()), "port") + " of " +
         count_of(static_cast<int>(clusters.size()), "cluster") +
         " send and listen for 4 s, then try storage and the out-of-band network";
}

std::string render_matrix(const ProbeMatrix& matrix) {
  return render_pairs(matrix) + render_partitions(matrix) + render_storage(matrix) +
         render_services(matrix) + render_leaf(matrix) + render_out_of_band(matrix) +
         left_out(matrix) +
         render_verdict(matrix);
}

int probe_exit(const ProbeMatrix& matrix) {
  if (matrix.isolated) return exit_done;
  return matrix.verdict == ProbeVerdict::leak ? exit_refused : exit_unknown;
}

}  // namespace tundish::edge::cli
