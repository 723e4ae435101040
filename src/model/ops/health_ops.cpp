#include "model/ops/health_ops.hpp"

#include <algorithm>
#include <tuple>

#include "model/ops/common.hpp"

namespace tundish {
namespace {

std::string about(const NodeId& node) { return "node/" + node.str(); }

bool is_older(const Node& node, const HealthReport& report) {
  const auto& status = node.status;
  if (!status.boot_id.empty() && report.boot_id != status.boot_id) return true;
  // Changes of what is not stored mean nothing: the first report of a boot is a complete one.
  if (status.verdicts_boot != report.boot_id) return !report.complete;
  return report.seq <= status.verdicts_seq;
}

const Verdict* find_same(const std::vector<Verdict>& in, const Verdict& verdict) {
  const auto it = std::find_if(in.begin(), in.end(),
                               [&](const Verdict& v) { return is_about_same(v, verdict); });
  return it == in.end() ? nullptr : &*it;
}

/// A node's word for a part that it may speak of; a check without a name is nobody's.
bool is_usable(const Verdict& verdict) {
  return !verdict.check.empty() && verdict.check.size() <= 64;
}

/// Evidence moves all the time; what is stored changes with state and reason only.
bool says_same(const Verdict& a, const Verdict& b) {
  return a.state == b.state && a.reason == b.reason;
}

std::vector<Verdict> merged(const Node& node, const HealthReport& report, Instant now) {
  const bool same_boot = node.status.verdicts_boot == report.boot_id;
  const std::vector<Verdict> before = same_boot ? node.status.verdicts : std::vector<Verdict>{};
  std::vector<Verdict> out;
  if (!report.complete) {
    for (const auto& known : before) {
      if (!find_same(report.verdicts, known)) out.push_back(known);
    }
  }
  for (const auto& told : report.verdicts) {
    if (!is_usable(told) || told.state == VerdictState::ok || find_same(out, told)) continue;
    const Verdict* known = find_same(before, told);
    if (known && says_same(*known, told)) {
      out.push_back(*known);
      continue;
    }
    Verdict verdict = told;
    verdict.since = known && known->state == told.state ? known->since : now;
    out.push_back(std::move(verdict));
  }
  // What a list without end would push out is the least bad.
  std::stable_sort(out.begin(), out.end(), [](const Verdict& a, const Verdict& b) {
    const auto rank = [](const Verdict& v) {
      return v.state == VerdictState::fail ? 0 : v.state == VerdictState::warn ? 1 : 2;
    };
    return std::tuple(rank(a), a.check, a.device, a.source) <
           std::tuple(rank(b), b.check, b.device, b.source);
  });
  if (out.size() > most_verdicts) out.resize(most_verdicts);
  return out;
}

bool is_equal(const std::vector<Verdict>& a, const std::vector<Verdict>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Verdict& x, const Verdict& y) {
    return is_about_same(x, y) && says_same(x, y);
  });
}

bool has_pressure_news(const Node& node, const HealthReport& report) {
  if (!report.pressure) return false;
  return !node.status.pressure || crosses_mark(*node.status.pressure, *report.pressure);
}

}  // namespace

HealthReport health_report_of(const AgentSync& sync) {
  HealthReport out;
  out.boot_id = sync.boot_id;
  out.seq = sync.verdicts_seq;
  out.complete = sync.verdicts_complete;
  out.verdicts = sync.verdicts;
  out.pressure = sync.pressure;
  return out;
}

bool is_news(const Node& node, const HealthReport& report) {
  if (report.seq == 0 || is_older(node, report)) return false;
  if (has_pressure_news(node, report)) return true;
  if (node.status.verdicts_boot != report.boot_id) return true;
  return !is_equal(node.status.verdicts, merged(node, report, Instant{}));
}

OperationPtr record_verdicts(NodeId id, HealthReport report) {
  return make_operation("record_verdicts", about(id),
                        [id, report = std::move(report)](Txn& txn) -> Result<> {
                          Node node = TRY(get_object(txn, id));
                          if (!is_news(node, report)) return {};
                          auto verdicts = merged(node, report, txn.now());
                          auto& status = node.status;
                          if (has_pressure_news(node, report)) status.pressure = report.pressure;
                          status.verdicts = std::move(verdicts);
                          status.verdicts_boot = report.boot_id;
                          status.verdicts_seq = report.seq;
                          txn.put(std::move(node));
                          return {};
                        });
}

namespace {

std::vector<Verdict> kept_of_bmc(const Node& node, const std::vector<Verdict>& told, Instant now) {
  std::vector<Verdict> out;
  for (const auto& one : told) {
    const bool takes = out.size() < most_verdicts && !find_same(out, one);
    if (!is_usable(one) || one.state == VerdictState::ok || !takes) continue;
    const Verdict* known = find_same(node.status.bmc_verdicts, one);
    out.push_back(known && says_same(*known, one) ? *known : one);
    if (known && says_same(*known, one)) continue;
    out.back().since = known && known->state == one.state ? known->since : now;
  }
  return out;
}

}  // namespace

bool is_bmc_news(const Node& node, const std::vector<Verdict>& verdicts) {
  return !is_equal(node.status.bmc_verdicts, kept_of_bmc(node, verdicts, Instant{}));
}

OperationPtr record_bmc_verdicts(NodeId id, std::vector<Verdict> verdicts) {
  return make_operation("record_bmc_verdicts", about(id),
                        [id, verdicts = std::move(verdicts)](Txn& txn) -> Result<> {
                          Node node = TRY(get_object(txn, id));
                          if (!is_bmc_news(node, verdicts)) return {};
                          node.status.bmc_verdicts = kept_of_bmc(node, verdicts, txn.now());
                          txn.put(std::move(node));
                          return {};
                        });
}

std::vector<Verdict> verdicts_at(const Node& node, Instant heard_at, Instant now) {
  const auto& status = node.status;
  const bool silent = !heard_at.is_set() || now - heard_at > verdicts_age_limit;
  const bool other_boot = status.verdicts_boot.empty() || status.verdicts_boot != status.boot_id;
  std::vector<Verdict> out = status.verdicts;
  const auto with_bmc = [&] {
    out.insert(out.end(), status.bmc_verdicts.begin(), status.bmc_verdicts.end());
    return std::move(out);
  };
  if (!silent && !other_boot) return with_bmc();
  // Also where nothing bad was said before: nobody has looked.
  Verdict blind;
  blind.check = "passive_checks";
  blind.reason = silent ? "the agent is silent" : "nothing was judged in this boot yet";
  blind.at = now;
  for (auto& verdict : out) {
    verdict.evidence = "before: " + verdict.reason;
    verdict.reason = silent ? "the agent is silent" : "said in an earlier boot";
    verdict.state = VerdictState::unknown;
  }
  out.push_back(std::move(blind));
  return with_bmc();
}

}  // namespace tundish
