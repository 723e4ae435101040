#include "codec/kernel_log/catalogue_diff.hpp"

#include <algorithm>
#include <set>

namespace tundish {
namespace {

std::string text_of(const XidEntry& row) {
  std::string out(enum_names(row.action)[static_cast<std::size_t>(row.action)]);
  if (row.device_lost) out += ", device lost";
  if (row.decoy) out += ", costs no node";
  return out;
}

std::string text_of(const XidCatalogue& catalogue, int code) {
  const XidEntry* row = catalogue.find(code);
  return row ? text_of(*row) : "-";
}

bool is_judged_otherwise(const XidCatalogue& before, const XidCatalogue& after,
                         const Incident& incident, int code) {
  return std::any_of(incident.witnesses.begin(), incident.witnesses.end(), [&](const Witness& w) {
    const bool mine = w.kind == WitnessKind::event && w.event.kind == KernelEventKind::xid &&
                      w.event.code == code && !w.event.follow_up;
    return mine && text_of(before.classify(w.event)) != text_of(after.classify(w.event));
  });
}

}  // namespace

std::vector<CatalogueChange> diff_catalogues(const XidCatalogue& before, const XidCatalogue& after,
                                             const std::vector<Incident>& incidents) {
  std::set<int> codes;
  for (const auto* catalogue : {&before, &after}) {
    for (const auto& row : catalogue->xid.entries) codes.insert(row.code);
  }
  std::vector<CatalogueChange> out;
  for (const int code : codes) {
    CatalogueChange change{code, text_of(before, code), text_of(after, code), {}};
    if (change.before == change.after) continue;
    for (const auto& incident : incidents) {
      if (is_judged_otherwise(before, after, incident, code)) {
        change.incidents.push_back(incident.meta.name.empty() ? incident.id.str()
                                                              : incident.meta.name);
      }
    }
    out.push_back(std::move(change));
  }
  return out;
}

}  // namespace tundish
