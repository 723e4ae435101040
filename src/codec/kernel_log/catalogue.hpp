#pragma once
// catalog/xid.yaml and catalog/sxid.yaml -> XidCatalogue.
#include <string_view>

#include "base/result.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish {

struct CatalogueText {
  std::string_view text;
  std::string_view file;  ///< for messages
};

/// One table: rows with `also` become one entry per code, sorted. Refuses doubled codes, unknown
/// fields and words, and rows that contradict themselves.
Result<XidTable> load_xid_table(CatalogueText source);

/// Both tables; refuses joins and cancels that name no row.
Result<XidCatalogue> load_xid_catalogue(CatalogueText xid, CatalogueText sxid);

}  // namespace tundish
