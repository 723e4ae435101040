// The bundle that goes to a vendor with a broken part: what was seen, tried and measured.
#include "edge/api/handlers.hpp"
#include "model/ops/rma_ops.hpp"

namespace tundish::edge::api {
namespace {

template <class E>
std::string word(E value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

/// "pid=7, name=x, " names a tenant's process; what follows is the driver's own. A name may hold
/// anything but the comma that ends it here, so one that looks like more ends the line.
std::string without_process(const KernelEvent& event) {
  const auto pid = event.text.find("pid=");
  if (pid == std::string::npos) return event.text;
  const auto name = event.text.find("name=", pid);
  if (name == std::string::npos) return event.text.substr(0, pid) + "(process left out)";
  const auto end = event.text.find(", ", name);
  const std::string rest = end == std::string::npos ? "" : event.text.substr(end);
  const bool plain = event.process.find_first_of(":)(") == std::string::npos &&
                     event.text.compare(name + 5, event.process.size(), event.process) == 0;
  return event.text.substr(0, pid) + "(process left out)" + (plain ? rest : "");
}

/// Entries whose details name a tenant's jobs, nodes or people's words are told without them.
bool has_plain_detail(const std::string& what) {
  for (const std::string_view known :
       {"detected", "claimed", "reset", "reboot", "power_cycle", "power_off", "revalidate",
        "last_look", "wipe", "rma", "returned", "choose", "isolate", "evacuate", "permit"}) {
    if (what == known) return true;
  }
  return false;
}

void add_witnesses(const Incident& incident, EvidenceBundle& out) {
  for (const auto& witness : incident.witnesses) {
    EvidenceWitness one;
    one.at = witness.observed_at;
    one.source = witness.source;
    one.provenance = word(witness.provenance);
    one.boot_id = witness.boot_id;
    one.seq = witness.seq;
    one.repeat = witness.repeat;
    one.device = witness.event.device;
    one.code = witness.event.code;
    one.text = without_process(witness.event);
    out.witnesses.push_back(std::move(one));
  }
  out.witnesses_dropped = incident.witnesses_dropped;
}

void add_timeline(const Incident& incident, EvidenceBundle& out) {
  const auto first =
      incident.witnesses.empty() ? std::string() : without_process(incident.witnesses[0].event);
  for (const auto& entry : incident.timeline) {
    EvidenceStep step;
    step.at = entry.at;
    step.until = entry.until;
    step.what = has_plain_detail(entry.what) || !entry.key.empty() ? entry.what : "note";
    step.outcome = word(entry.outcome);
    // The first line is in `detected` as it was written.
    if (entry.what == "detected") {
      step.detail = first;
    } else if (has_plain_detail(entry.what)) {
      step.detail = entry.detail;
    }
    out.timeline.push_back(std::move(step));
  }
}

EvidenceBundle make_bundle(const Backend& b, const Incident& incident, const Node& node) {
  const auto view = b.parts.manager.view();
  EvidenceBundle out;
  out.incident = incident.id.str();
  out.node = node.meta.name;
  out.fault = incident.fault;
  out.device = incident.device;
  out.state = word(incident.state);
  out.policy = view.policy.name;
  out.policy_version = view.policy.version;
  out.drill = incident.drill;
  out.hardware_witness = incident.hardware_witness;
  out.opened_at = incident.opened_at;
  out.made_at = b.now();
  const Rma* rma = find_rma(b.reg(), incident.id);
  for (const auto& part : rma ? rma->parts : parts_of(incident, node)) {
    out.parts.push_back({part.what, part.serial, part.uuid, part.model, part.place});
  }
  add_witnesses(incident, out);
  for (const auto& verdict : incident.verdicts) {
    out.verdicts.push_back(
        {verdict.at, verdict.check, word(verdict.state), verdict.reason, verdict.evidence});
  }
  add_timeline(incident, out);
  return out;
}

}  // namespace

Result<Later> post_bundle(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<ReasonRequest>(call));
  const Incident incident = TRY((get_matching<Incident>(b, call, call.parts.at(0))));
  const Node* node = b.reg().find(incident.node);
  if (!node) {
    return make_error(Code::conflict, "incident " + incident.meta.name + " is about no node")
        .about("incident/" + incident.meta.name)
        .with_remedy("only a node goes to a vendor");
  }
  BundleAnswer answer;
  answer.name = "evidence-" + incident.id.str() + ".json";
  answer.text = render_json(make_bundle(b, incident, *node), 2) + "\n";
  answer.sha256 = b.parts.hash_token(answer.text);
  TRY_VOID(
      b.perform(call, *record_bundle(incident.id, answer.sha256),
                "sha256 " + answer.sha256 + (asked.reason.empty() ? "" : ": " + asked.reason)));
  return Later([answer] { return Answer{200, render_json(answer)}; });
}

}  // namespace tundish::edge::api
