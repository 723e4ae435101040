#include "model/blame.hpp"

#include <algorithm>

namespace tundish {

std::string subject_text(const Blame& blame) {
  switch (blame.subject_kind) {
    case SubjectKind::node: return "node " + blame.object;
    case SubjectKind::network_switch:
      if (blame.object.starts_with("fabric ")) return blame.object;  // of partitions
      return (blame.part == Resource::link ? "link at " : "switch ") + blame.object;
    case SubjectKind::storage: return "storage server " + blame.object;
    case SubjectKind::domain: return "NVLink domain " + blame.object;
    case SubjectKind::job: return "job " + blame.object;
    case SubjectKind::engine: return "the engine of " + blame.object;
    case SubjectKind::rack: return "rack " + blame.object;
    case SubjectKind::site: return "site " + blame.object;
  }
  return blame.object;
}

std::string blame_sentence(const Blame& blame) {
  std::string out = subject_text(blame);
  if (blame.subject_kind == SubjectKind::node) {
    std::string part(enum_names(blame.part)[static_cast<std::size_t>(blame.part)]);
    std::replace(part.begin(), part.end(), '_', ' ');
    out = part + " of " + out;
  }
  out += " (" + std::to_string(blame.confidence) + " %)";
  if (!blame.evidence.empty() && !blame.evidence.front().says.empty()) {
    out += ": " + blame.evidence.front().says;
  }
  return out;
}

}  // namespace tundish
