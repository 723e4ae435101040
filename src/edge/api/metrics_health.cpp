#include "edge/api/metrics_health.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "control/notice/classify.hpp"
#include "edge/api/fleet_counts.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::edge::api {
namespace {

template <class E>
std::string word(E value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

using Pairs = std::map<std::pair<std::string, std::string>, std::int64_t>;

void add_pairs(Exposition& out, std::string_view name, const std::array<std::string_view, 2>& keys,
               const Pairs& pairs) {
  for (const auto& [labels, count] : pairs) {
    out.labelled(name, {{keys[0], labels.first}, {keys[1], labels.second}}, count);
  }
}

void add_verdicts(const Registry& reg, Exposition& out) {
  Pairs pairs;
  for (const auto& [id, node] : reg.all<Node>()) {
    for (const auto* list : {&node.status.verdicts, &node.status.bmc_verdicts}) {
      for (const auto& verdict : *list) {
        if (verdict.state != VerdictState::ok) ++pairs[{verdict.check, word(verdict.state)}];
      }
    }
  }
  out.head("tundish_verdicts", "Nodes by check and verdict; what is ok is not counted");
  add_pairs(out, "tundish_verdicts", {"check", "state"}, pairs);
}

void add_incidents(const Registry& reg, Exposition& out) {
  std::array<std::int64_t, 9> open = {};
  std::int64_t drills = 0;
  for (const auto& [id, incident] : reg.all<Incident>()) {
    const bool is_open =
        incident.state == IncidentState::open || incident.state == IncidentState::rma;
    if (!is_open) continue;
    ++open[static_cast<std::size_t>(control::class_of(reg, incident))];
    drills += incident.drill ? 1 : 0;
  }
  out.head("tundish_incidents_open", "Open incidents by class of notice");
  const auto names = enum_names(NoticeClass{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.labelled("tundish_incidents_open", "class", names[i], open.at(i));
  }
  out.single("tundish_drills_open", "Open incidents that were injected on purpose", drills);
}

bool is_repair(const std::string& state) {
  return state == "reset" || state == "reboot" || state == "power_cycle" ||
         state == "power_off" || state == "revalidate" || state == "wipe";
}

void add_repairs(const Registry& reg, Exposition& out) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> acts;  // count, microseconds
  for (const auto& [id, incident] : reg.all<Incident>()) {
    for (const auto& entry : incident.timeline) {
      if (!is_repair(entry.what) || !entry.until.is_set()) continue;
      auto& [count, sum] = acts[entry.what];
      ++count;
      sum += (entry.until - entry.at).us;
    }
  }
  out.head("tundish_remediation_seconds", "Time in each step of remediation", "summary");
  for (const auto& [act, total] : acts) {
    out.seconds("tundish_remediation_seconds_sum", {{"act", act}}, total.second);
    out.labelled("tundish_remediation_seconds_count", "act", act, total.first);
  }
}

void add_claims(const Registry& reg, Exposition& out) {
  std::map<std::string, std::int64_t> holders = {
      {"incident", 0}, {"maintenance", 0}, {"person", 0}};
  for (const auto& [id, claim] : reg.all<Claim>()) {
    if (claim.state != ClaimState::active) continue;
    ++holders[claim.holder.substr(0, claim.holder.find(':'))];
  }
  out.head("tundish_claims_held", "Active claims by kind of holder");
  for (const auto& [holder, count] : holders) {
    out.labelled("tundish_claims_held", "holder", holder, count);
  }
}

/// What waits because enough is being reset, rebooted or power cycled already.
void add_brake(const Backend& b, Exposition& out) {
  std::int64_t braked = 0;
  for (const auto& [id, incident] : b.reg().all<Incident>()) {
    if (incident.state != IncidentState::open) continue;
    const std::string why = b.parts.manager.runner().waiting_reason(act_key(incident));
    braked += why.starts_with("brake") ? 1 : 0;
  }
  out.single("tundish_acts_braked", "Resets and power acts that the brake keeps waiting", braked);
}

void add_silent(const Backend& b, Exposition& out) {
  const auto view = b.parts.manager.view();
  std::int64_t silent = 0;
  for (const auto& [id, node] : b.reg().all<Node>()) {
    const bool expected = node.status.enrolled && node.status.phase != NodePhase::retired;
    silent += expected && !control::is_present(view, id) ? 1 : 0;
  }
  out.single("tundish_agents_silent", "Agents that were not heard lately: unknown, no fault",
             silent);
}

void add_people(const Registry& reg, Instant now, Exposition& out) {
  Pairs notices;
  std::int64_t given_up = 0;
  for (const auto& [id, notice] : reg.all<Notice>()) {
    ++notices[{word(notice.channel), word(notice.state)}];
    given_up += notice.given_up;
  }
  out.head("tundish_notices", "Notices by channel and state");
  add_pairs(out, "tundish_notices", {"channel", "state"}, notices);
  out.single("tundish_notices_given_up", "Deliveries that were given up after their last try",
             given_up);
  out.single("tundish_notices_untold", "Notices whose last delivery failed",
             count_untold(reg).notices);
  std::array<std::int64_t, 6> windows = {};
  std::int64_t overrun = 0;
  for (const auto& [id, window] : reg.all<Maintenance>()) {
    ++windows[static_cast<std::size_t>(window.state)];
    overrun += window.overrun_since.is_set() && !is_over(window) ? 1 : 0;
  }
  out.head("tundish_maintenance", "Maintenance windows by state");
  const auto states = enum_names(MaintenanceState{});
  for (std::size_t i = 0; i < states.size(); ++i) {
    out.labelled("tundish_maintenance", "state", states[i], windows.at(i));
  }
  out.single("tundish_maintenance_overrun", "Windows that are over while the work is not", overrun);
  std::int64_t waiting = 0;
  for (const auto& [id, proposal] : reg.all<Proposal>()) {
    waiting += proposal.state == ProposalState::waiting && proposal.expires_at > now ? 1 : 0;
  }
  out.single("tundish_proposals_waiting", "Acts that wait for a person", waiting);
  std::int64_t rmas = 0;
  for (const auto& [id, rma] : reg.all<Rma>()) rmas += rma.state == RmaState::open ? 1 : 0;
  out.single("tundish_rmas_open", "Nodes that wait for the vendor", rmas);
}

}  // namespace

void add_health_metrics(const Backend& b, Exposition& out) {
  add_verdicts(b.reg(), out);
  add_incidents(b.reg(), out);
  add_repairs(b.reg(), out);
  add_claims(b.reg(), out);
  add_brake(b, out);
  add_silent(b, out);
  add_people(b.reg(), b.now(), out);
}

}  // namespace tundish::edge::api
