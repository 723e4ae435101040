#include "edge/cli/blame_text.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string part_word(Resource part) { return spaced(word(part)); }

std::string indent(const std::string& table) {
  std::string out;
  for (const auto& one : split(table, '\n')) out += one.empty() ? "" : "  " + one + "\n";
  return out;
}

std::string render_evidence(const Blame& blame) {
  if (blame.evidence.empty()) return "";
  std::vector<Cells> rows;
  for (const auto& line : blame.evidence) {
    rows.push_back({line.weight > 0 ? std::to_string(line.weight) : "-",
                    render_local_clock(line.at), or_dash(line.node), part_word(line.part),
                    or_dash(spaced(line.what)), or_dash(line.says)});
  }
  return "\nevidence\n" +
         indent(render_table({"WEIGHT", "SINCE", "NODE", "ON", "WHAT", "SAYS"}, rows));
}

std::string render_cleared(const Blame& blame) {
  if (blame.cleared.empty()) return "";
  std::vector<Cells> rows;
  for (const auto& one : blame.cleared) {
    rows.push_back({part_word(one.part), or_dash(one.object), or_dash(one.why)});
  }
  return "\ncleared\n" + indent(render_table({"PART", "WHICH", "WHY"}, rows));
}

}  // namespace

bool is_about_gpu(const Incident& incident) {
  if (!incident.blamed) return true;
  switch (incident.blamed->part) {
    case Resource::gpu:
    case Resource::gpu_memory:
    case Resource::nvlink:
    case Resource::pcie: return true;
    default: return false;
  }
}

std::string render_subject(const Incident& incident) {
  if (incident.blamed && !incident.blamed->object.empty()) return subject_text(*incident.blamed);
  if (!incident.subject.empty()) {
    return spaced(word(incident.subject_kind)) + " " + incident.subject;
  }
  if (!incident.blamed) return "a shared part";
  // A copy without names: of a part that is nobody's alone its kind is told, and no more.
  if (incident.blamed->subject_kind == SubjectKind::node) return "a node";
  if (incident.blamed->part == Resource::identity) return "a part of the network";
  return "a shared " + part_word(incident.blamed->part);
}

std::string render_blamed(const Incident& incident) {
  if (!incident.blamed) return "";
  const Blame& blame = *incident.blamed;
  const bool of_node = blame.subject_kind == SubjectKind::node;
  const std::string device = incident.device.empty() ? "" : " " + incident.device;
  std::string out = "\nblamed\n  " + (of_node ? part_word(blame.part) + device + " of " : "") +
                    render_subject(incident) + ", " + std::to_string(blame.confidence) +
                    " % sure (" + spaced(blame.rule) + ")\n";
  out += render_evidence(blame) + render_cleared(blame);
  if (blame.would_change.empty()) return out;
  out += "\nwould change that\n";
  for (const auto& one : blame.would_change) out += "  " + one + "\n";
  return out;
}

}  // namespace tundish::edge::cli
