#include "edge/cli/incident_text.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "edge/cli/blame_text.hpp"

namespace tundish::edge::cli {
namespace {

constexpr std::size_t label_width = 14;

std::string line(const std::string& label, const std::string& text) {
  if (text.empty()) return "";
  const std::size_t gap = label.size() < label_width ? label_width - label.size() : 1;
  return "  " + label + std::string(gap, ' ') + text + "\n";
}

std::string indent(const std::string& table) {
  std::string out;
  for (const auto& one : split(table, '\n')) out += one.empty() ? "" : "  " + one + "\n";
  return out;
}

std::string since_detection(const Incident& incident, Instant at) {
  if (!at.is_set() || !incident.detected_at.is_set()) return "-";
  const Duration d = at - incident.detected_at;
  return d.us < 0 ? "-" + render_duration({-d.us}) : "+" + render_duration(d);
}

bool is_act(const TimelineEntry& entry) { return !entry.key.empty(); }

const TimelineEntry* find_entry(const Incident& incident, std::string_view what) {
  const auto found = std::find_if(incident.timeline.begin(), incident.timeline.end(),
                                  [&](const TimelineEntry& e) { return e.what == what; });
  return found == incident.timeline.end() ? nullptr : &*found;
}

std::string render_header(const Incident& incident, const IncidentNames& names) {
  const std::string id = name_of(incident);
  std::string state = word(incident.state);
  if (incident.held) state += ", held by a person";
  std::string out = "incident " + id + "   " + incident.fault + "   " + state + "\n";
  out += line("node", incident.node_name.empty() ? name_in(names.nodes, incident.node.str())
                                                 : incident.node_name);
  if (incident.node.empty()) {
    out += line("about", render_subject(incident));
    out += line("nodes hit", std::to_string(incident.affected.size()) + ", none is out for it");
  } else if (is_about_gpu(incident)) {
    out += line("device", incident.device.empty() ? "unknown" : "GPU " + incident.device);
  } else {
    out += line("device", incident.device);
  }
  if (!incident.allocation.empty()) {
    out += line("cluster", name_in(names.clusters_by_allocation, incident.allocation.str()));
  }
  const std::string repair = incident.action.empty() ? "" : "first repair " + incident.action;
  const std::string lost = incident.device_lost ? "device lost" : "";
  out += line("catalogue",
              join(repair.empty() || lost.empty() ? std::vector<std::string>{repair + lost}
                                                  : std::vector<std::string>{lost, repair},
                   ", "));
  if (incident.drill) out += line("drill", "yes: injected on purpose");
  out += line("detected", render_local(incident.detected_at));
  if (incident.opened_at.is_set()) {
    out += line("opened", render_local(incident.opened_at) + " (" +
                              since_detection(incident, incident.opened_at) + ")");
  }
  if (incident.resolved_at.is_set()) {
    const bool waits = incident.state == IncidentState::rma;
    out += line(waits ? "RMA since" : "ended", render_local(incident.resolved_at) + " (" +
                                                   since_detection(incident, incident.resolved_at) +
                                                   ")");
  }
  return out;
}

std::string render_witness(const Incident& incident) {
  if (incident.witnesses.empty()) {
    // Checks opened it, or a tenant reads it, who is not told of witnesses.
    const bool by_checks = incident.fault.starts_with("checks failed");
    if (incident.blamed || incident.blame.empty()) return "";
    return line("witness", by_checks ? incident.fault : "none on record");
  }
  const Witness& first = incident.witnesses.front();
  std::string out = line("witness", word(first.provenance) + " (" + first.source + ", boot " +
                                        or_dash(first.boot_id.substr(0, 8)) + ", record " +
                                        std::to_string(first.seq) + ")");
  if (!incident.hardware_witness) {
    out += line("", "nothing but user space saw it: no reset and no RMA follows from it");
  }
  out += line("raw line", first.event.text.empty() ? first.reason : first.event.text);
  const std::int64_t more =
      static_cast<std::int64_t>(incident.witnesses.size()) - 1 + incident.witnesses_dropped;
  if (more > 0) out += line("", "and " + std::to_string(more) + " more");
  return out;
}

/// Wall time of an entry: what is still running has none yet.
std::string wall(const TimelineEntry& entry) {
  if (!is_act(entry)) return "-";
  return entry.until.is_set() ? render_duration(entry.until - entry.at) : "runs";
}

std::string render_timeline(const Incident& incident) {
  std::vector<Cells> rows;
  for (const auto& entry : incident.timeline) {
    rows.push_back({render_local_clock(entry.at), since_detection(incident, entry.at), entry.what,
                    is_act(entry) ? word(entry.outcome) : "-",
                    entry.acting.us > 0 ? render_duration(entry.acting) : "-", wall(entry),
                    word(entry.owner), entry.detail});
  }
  return "\ntimeline\n" +
         indent(render_table(
             {"AT", "SINCE", "WHAT", "OUTCOME", "ACTING", "WALL", "OWNER", "DETAIL"}, rows));
}

std::string render_jobs(const Incident& incident) {
  if (incident.jobs.empty()) return "";
  std::vector<Cells> rows;
  for (const auto& job : incident.jobs) {
    const bool is_back = job.running_again_at.is_set();
    rows.push_back({job.job, or_dash(job.nodes_before), or_dash(job.nodes_after),
                    std::to_string(job.restarts),
                    is_back ? since_detection(incident, job.running_again_at) : "not yet"});
  }
  return "\njobs hit\n" +
         indent(render_table({"JOB", "NODES BEFORE", "NODES AFTER", "RESTARTS", "RUNNING AGAIN"},
                             rows));
}

std::string render_short(const Incident& incident) {
  Instant since = incident.member_short_since, until = incident.member_restored_at;
  if (!since.is_set()) {
    const TimelineEntry* claimed = find_entry(incident, "claimed");
    if (claimed && !incident.allocation.empty()) since = claimed->at;
  }
  if (!until.is_set()) {
    const TimelineEntry* whole = find_entry(incident, "allocation whole again");
    if (whole) until = whole->at;
  }
  if (!since.is_set()) return "";
  if (!until.is_set()) return line("member short", "since " + render_local(since) + ", still");
  return line("member short", render_duration(until - since) + " (" + render_local_clock(since) +
                                  " to " + render_local_clock(until) + ")");
}

std::string render_times(const Incident& incident, const IncidentNames& names) {
  Duration acting, waited;
  for (const auto& entry : incident.timeline) {
    acting = acting + entry.acting;
    if (is_act(entry) && entry.until.is_set()) {
      waited = waited + (entry.until - entry.at) - entry.acting;
    }
  }
  std::string out = render_short(incident);
  if (!incident.replacement.empty()) {
    out += line("replaced by", name_in(names.nodes, incident.replacement.str()));
  }
  if (acting.us > 0) {
    out += line("time", render_duration(acting) + " in the control plane, " +
                            render_duration(waited) + " waited for nodes and jobs");
  }
  return out.empty() ? "" : "\ntenant and time\n" + out;
}

std::string render_verdicts(const Incident& incident) {
  if (incident.verdicts.empty()) return "";
  std::vector<Cells> rows;
  for (const auto& verdict : incident.verdicts) {
    rows.push_back(
        {verdict.check, word(verdict.state), or_dash(verdict.reason), or_dash(verdict.evidence)});
  }
  return "\nrevalidation\n" +
         indent(render_table({"CHECK", "VERDICT", "REASON", "EVIDENCE"}, rows));
}

}  // namespace

std::string render_waiting(const Incident& incident) {
  if (incident.state == IncidentState::rma) {
    return "the vendor, without an end of its own: when the part is replaced, "
           "`tundish incident close " +
           name_of(incident) + "`; if the board was changed, `tundish node confirm` as well";
  }
  if (incident.state != IncidentState::open) return "";
  if (incident.node.empty()) {
    return "the symptom to end, 30 s without it; no node is out of service for it";
  }
  if (incident.held) {
    return "a person: `tundish incident resume " + name_of(incident) + "` goes on";
  }
  for (auto entry = incident.timeline.rbegin(); entry != incident.timeline.rend(); ++entry) {
    if (entry->outcome == StepOutcome::proposed) {
      return "approval of " + entry->what + ": see `tundish proposal list`";
    }
    if (entry->outcome == StepOutcome::refused) {
      return "leave for " + entry->what + (entry->detail.empty() ? "" : ": " + entry->detail);
    }
    if (is_act(*entry) && entry->outcome == StepOutcome::running) {
      return entry->what + " to end" + (entry->detail.empty() ? "" : ": " + entry->detail);
    }
    if (is_act(*entry)) break;
  }
  if (incident.policy_state.empty()) return "the policy's first step";
  return "the policy, in state " + incident.policy_state + " since " +
         render_local(incident.policy_since);
}

std::string render_incident(const Incident& incident, const IncidentNames& names) {
  std::string out = render_header(incident, names) + render_witness(incident) +
                    line("blame", incident.blame) + line("waits for", render_waiting(incident));
  out += render_blamed(incident);
  out += render_timeline(incident) + render_jobs(incident) + render_times(incident, names) +
         render_verdicts(incident);
  return out;
}

std::string render_incident_line(const Incident& incident, const IncidentNames& names) {
  const std::string about =
      incident.node.empty() ? render_subject(incident) : name_in(names.nodes, incident.node.str());
  std::string out =
      name_of(incident) + "  " + about + "  " + incident.fault + "  " + word(incident.state);
  if (incident.timeline.empty()) return out;
  const TimelineEntry& last = incident.timeline.back();
  out += "  " + since_detection(incident, last.at) + " " + last.what;
  if (is_act(last)) out += " " + word(last.outcome);
  return last.detail.empty() ? out : out + ": " + last.detail;
}

}  // namespace tundish::edge::cli
