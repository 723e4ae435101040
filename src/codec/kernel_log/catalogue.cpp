#include "codec/kernel_log/catalogue.hpp"

#include <algorithm>
#include <string>

#include "codec/yaml.hpp"

namespace tundish {
namespace {

Error refuse(std::string_view file, int code, std::string why) {
  return make_error(Code::invalid,
                    std::string(file) + ": code " + std::to_string(code) + " " + std::move(why));
}

bool harmless(FaultAction action) {
  return action == FaultAction::none || action == FaultAction::app || action == FaultAction::trend;
}

/// A row that contradicts itself would be obeyed by half of its readers.
Result<> check_row(const XidEntry& row, std::string_view file) {
  if (row.code <= 0) return refuse(file, row.code, "is no code");
  if (row.name.empty()) return refuse(file, row.code, "has no name");
  if (row.source.empty()) return refuse(file, row.code, "has no source");
  if (row.decoy && row.device_lost) {
    return refuse(file, row.code, "is a decoy and takes the device");
  }
  if (row.decoy && !harmless(row.action)) {
    return refuse(file, row.code, "is a decoy whose action touches the node");
  }
  if (row.device_lost && harmless(row.action)) {
    return refuse(file, row.code, "takes the device and repairs nothing");
  }
  if (row.device_lost && row.why.empty()) {
    return refuse(file, row.code, "takes the device and does not say why");
  }
  return {};
}

Result<> check_references(const XidTable& table, const XidCatalogue& all, std::string_view file) {
  const auto has = [](const XidTable& in, int code) {
    return std::any_of(in.entries.begin(), in.entries.end(),
                       [&](const XidEntry& entry) { return entry.code == code; });
  };
  for (const XidEntry& entry : table.entries) {
    for (const int code : entry.cancels) {
      if (!has(table, code)) {
        return refuse(file, entry.code, "cancels " + std::to_string(code) + ", which has no row");
      }
    }
    for (const int code : entry.joins) {
      if (!has(all.xid, code)) {
        return refuse(file, entry.code, "joins XID " + std::to_string(code) + ", which has no row");
      }
    }
  }
  return {};
}

}  // namespace

Result<XidTable> load_xid_table(CatalogueText source) {
  XidTable written;
  TRY_VOID(parse_yaml(source.text, AnyDescribed(written), source.file));
  XidTable table;
  table.edition = written.edition;
  for (const XidEntry& row : written.entries) {
    TRY_VOID(check_row(row, source.file));
    std::vector<int> codes = row.also;
    codes.insert(codes.begin(), row.code);
    for (const int code : codes) {
      if (code <= 0) return refuse(source.file, code, "is no code");
      XidEntry entry = row;
      entry.code = code;
      entry.also.clear();
      table.entries.push_back(std::move(entry));
    }
  }
  std::sort(table.entries.begin(), table.entries.end(),
            [](const XidEntry& a, const XidEntry& b) { return a.code < b.code; });
  const auto twice =
      std::adjacent_find(table.entries.begin(), table.entries.end(),
                         [](const XidEntry& a, const XidEntry& b) { return a.code == b.code; });
  if (twice != table.entries.end()) return refuse(source.file, twice->code, "has two rows");
  return table;
}

Result<XidCatalogue> load_xid_catalogue(CatalogueText xid, CatalogueText sxid) {
  XidCatalogue catalogue;
  catalogue.xid = TRY(load_xid_table(xid));
  catalogue.sxid = TRY(load_xid_table(sxid));
  TRY_VOID(check_references(catalogue.xid, catalogue, xid.file));
  TRY_VOID(check_references(catalogue.sxid, catalogue, sxid.file));
  return catalogue;
}

}  // namespace tundish
