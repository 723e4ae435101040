#include "edge/api/tenant_blame.hpp"

#include <algorithm>
#include <set>

namespace tundish::edge::api {
namespace {

constexpr std::size_t longest_word = 40;

/// The name of a check or "xid 79": a closed alphabet, so that nothing else can ride along.
bool is_plain_word(const std::string& text) {
  return text.size() <= longest_word && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ' ';
         });
}

/// 0000:3b:00, with or without a function.
bool is_pci_address(const std::string& text) {
  return !text.empty() && text.size() <= 16 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.';
  });
}

std::set<std::string> own_nodes(const Registry& view, const Identity& who,
                                const Incident& incident) {
  std::set<std::string> out;
  const auto add = [&](const NodeId& id) {
    const Node* node = view.find(id);
    if (node && is_visible(view, who, *node)) out.insert(node->meta.name);
  };
  add(incident.node);
  // As add_names(): one that served it is no stranger after it was replaced.
  const Node* left = view.find(incident.node);
  if (left && (!incident.jobs.empty() || !incident.replacement.empty())) {
    out.insert(left->meta.name);
  }
  for (const auto& id : incident.affected) add(id);
  return out;
}

/// Jobs and engines are the tenant's own when nobody else is hit; all else that is shared is not.
bool is_own_subject(const Incident& incident, const std::set<std::string>& nodes) {
  switch (incident.subject_kind) {
    case SubjectKind::node: {
      const auto& object = incident.blamed ? incident.blamed->object : incident.subject;
      return nodes.contains(incident.subject.empty() ? object : incident.subject) &&
             (object.empty() || nodes.contains(object));
    }
    case SubjectKind::job:
    case SubjectKind::engine: return true;
    default: return false;
  }
}

Blame own_blame(const Blame& all, const std::set<std::string>& nodes, bool keeps_object) {
  Blame out;
  out.part = all.part;
  out.subject_kind = all.subject_kind;
  out.confidence = all.confidence;
  if (is_plain_word(all.rule)) out.rule = all.rule;
  if (keeps_object) out.object = all.object;
  for (const auto& line : all.evidence) {
    if (line.node.empty() || !nodes.contains(line.node)) continue;
    BlameEvidence own;
    own.at = line.at;
    own.node = line.node;
    own.part = line.part;
    own.weight = line.weight;
    if (is_plain_word(line.what)) own.what = line.what;
    out.evidence.push_back(std::move(own));
  }
  std::set<Resource> cleared;
  for (const auto& one : all.cleared) cleared.insert(one.part);
  for (const Resource part : cleared) out.cleared.push_back({part, "", ""});
  return out;
}

}  // namespace

void keep_own_blame(const Registry& view, const Identity& who, Incident& incident) {
  if (who.tenant.empty()) return;
  const auto nodes = own_nodes(view, who, incident);
  bool only_own = true;
  std::erase_if(incident.allocations, [&](const AllocationId& id) {
    const Allocation* held = view.find(id);
    const bool own = held && held->meta.tenant == who.tenant;
    only_own = only_own && own;
    return !own;
  });
  std::erase_if(incident.affected, [&](const NodeId& id) {
    const Node* node = view.find(id);
    return !node || !is_visible(view, who, *node);
  });
  const bool keeps = only_own && is_own_subject(incident, nodes);
  if (!keeps) incident.subject.clear();
  if (!is_pci_address(incident.device)) incident.device.clear();
  if (incident.blamed) incident.blamed = own_blame(*incident.blamed, nodes, keeps);
}

}  // namespace tundish::edge::api
