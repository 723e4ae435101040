#pragma once
// What an update of the catalogue would change, before it is taken.
#include <string>
#include <vector>

#include "model/incident.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish {

struct CatalogueChange {
  int code = 0;
  std::string before;
  std::string after;
  std::vector<std::string> incidents;
  void fields(Fields& f) {
    f(1, "code", code, "XID");
    f(2, "before", before, "action, and whether it costs the node; -: not known");
    f(3, "after", after, "the same by the new catalogue");
    f(4, "incidents", incidents, "incidents whose first action would have been another");
  }
};

/// XIDs whose action, loss of the device or harmlessness changes, sorted. An incident counts when
/// the worst of its hardware witnesses is judged otherwise: the line's own words (RST, recovery
/// action) beat both catalogues and then change nothing.
std::vector<CatalogueChange> diff_catalogues(const XidCatalogue& before, const XidCatalogue& after,
                                             const std::vector<Incident>& incidents);

}  // namespace tundish
