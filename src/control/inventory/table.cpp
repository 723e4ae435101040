#include "control/inventory/table.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tundish::control::inventory {
namespace {

using Words = std::vector<std::string>;

constexpr SheetKind all_kinds[] = {SheetKind::skus, SheetKind::racks, SheetKind::devices,
                                   SheetKind::interfaces, SheetKind::cables};

/// Headings of every sheet that NetBox exports beside ours; they are taken and not used.
/// Source: facts/cloud.md section 5, and the import forms of NetBox 4.
Words with_common(Words columns) {
  const Words common = {"id",       "tenant", "tags",       "comments",     "description",
                        "status",   "owner",  "created",    "last_updated", "display",
                        "url",      "slug",   "contacts",   "label",        "manufacturer",
                        "location", "weight", "weight_unit"};
  columns.insert(columns.end(), common.begin(), common.end());
  return columns;
}

const Words& ignored_columns(SheetKind kind) {
  static const Words skus = with_common({});
  static const Words devices = with_common(
      {"asset_tag", "platform", "latitude", "longitude", "parent", "device_bay", "airflow",
       "cluster", "vc_position", "vc_priority", "virtual_chassis", "primary_ip4", "primary_ip6",
       "primary_ip", "config_template", "local_context_data", "part_number"});
  static const Words interfaces = with_common({"type",
                                               "speed",
                                               "mode",
                                               "untagged_vlan",
                                               "tagged_vlans",
                                               "vrf",
                                               "lag",
                                               "bridge",
                                               "enabled",
                                               "mark_connected",
                                               "mtu",
                                               "duplex",
                                               "wwn",
                                               "rf_role",
                                               "rf_channel",
                                               "poe_mode",
                                               "poe_type",
                                               "tx_power",
                                               "vdcs",
                                               "qinq_svlan",
                                               "parent",
                                               "connected",
                                               "cable",
                                               "site",
                                               "rf_channel_frequency",
                                               "rf_channel_width",
                                               "vlan_translation_policy",
                                               "module"});
  static const Words cables = with_common({"type", "color", "length", "length_unit", "profile"});
  static const Words racks =
      with_common({"facility_id", "role", "width", "type", "serial", "asset_tag", "desc_units",
                   "outer_width", "outer_depth", "outer_unit", "mounting_depth", "airflow",
                   "starting_unit", "max_weight", "form_factor"});
  switch (kind) {
    case SheetKind::devices: return devices;
    case SheetKind::interfaces: return interfaces;
    case SheetKind::cables: return cables;
    case SheetKind::racks: return racks;
    case SheetKind::skus: return skus;
  }
  return skus;
}

const Words& required_columns(SheetKind kind) {
  static const Words skus = {"name"};
  static const Words racks = {"site", "name"};
  static const Words devices = {"name", "role", "site"};
  static const Words interfaces = {"device", "name"};
  static const Words cables = {"side_a_device", "side_a_name", "side_b_device", "side_b_name"};
  switch (kind) {
    case SheetKind::skus: return skus;
    case SheetKind::racks: return racks;
    case SheetKind::devices: return devices;
    case SheetKind::interfaces: return interfaces;
    case SheetKind::cables: return cables;
  }
  return skus;
}

/// Other names of a heading, as NetBox versions and operators write them.
std::string our_name(SheetKind kind, const std::string& heading) {
  std::string name = to_lower(tidy_cell(heading));
  if (const auto unit = name.find(" ("); unit != name.npos && name.ends_with(')')) {
    name.resize(unit);  // NetBox writes "Speed (Kbps)"
  }
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  static const std::map<std::string, std::string> devices = {
      {"device_role", "role"},   {"sku", "device_type"},      {"oob_ip", "bmc_address"},
      {"bmc_ip", "bmc_address"}, {"serial_number", "serial"}, {"mgmt_url", "management_url"}};
  static const std::map<std::string, std::string> interfaces = {
      {"mac", "mac_address"}, {"primary_mac_address", "mac_address"}};
  static const std::map<std::string, std::string> skus = {
      {"device_type", "name"}, {"sku", "name"}, {"model", "name"}};
  const auto* aliases = kind == SheetKind::devices      ? &devices
                        : kind == SheetKind::interfaces ? &interfaces
                        : kind == SheetKind::skus       ? &skus
                                                        : nullptr;
  if (!aliases) return name;
  const auto it = aliases->find(name);
  return it == aliases->end() ? name : it->second;
}

bool contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// How many headings fit the kind; those that only this kind has weigh more.
int fit(SheetKind kind, const Sheet& sheet) {
  int score = 0;
  for (const auto& heading : sheet.header) {
    const std::string name = our_name(kind, heading);
    if (!contains(columns_of(kind), name)) continue;
    score += 2;
    if (contains(required_columns(kind), name)) ++score;
  }
  return score;
}

std::optional<SheetKind> kind_of(const Sheet& sheet) {
  std::optional<SheetKind> best;
  int best_score = 3;  // a single heading tells nothing
  for (const SheetKind kind : all_kinds) {
    const int score = fit(kind, sheet);
    if (score > best_score) best = kind, best_score = score;
  }
  return best;
}

ImportProblem about_file(const Sheet& sheet, std::string what, std::string remedy) {
  return {sheet.file, 0, "", "", std::move(what), std::move(remedy)};
}

void map_columns(SheetTable& table, Findings& findings) {
  const Sheet& sheet = *table.sheet;
  Words ignored;
  for (std::size_t i = 0; i < sheet.header.size(); ++i) {
    const std::string heading = tidy_cell(sheet.header[i]);
    const std::string name = our_name(table.kind, heading);
    ImportProblem problem{sheet.file, sheet.header_row, heading, heading, "", ""};
    if (name.empty()) {
      problem.what = "column " + std::to_string(i + 1) + " has no heading";
      problem.remedy = "name it or delete the column";
    } else if (table.columns.contains(name)) {
      problem.what = "the heading stands twice (column " + std::to_string(table.columns[name] + 1) +
                     " and " + std::to_string(i + 1) + ")";
      problem.remedy = "keep one of them";
    } else if (contains(columns_of(table.kind), name)) {
      table.columns[name] = i;
    } else if (contains(ignored_columns(table.kind), name) || name.starts_with("cf_")) {
      ignored.push_back(heading);
    } else {
      problem.what = "unknown heading in a sheet of " + kind_name(table.kind);
      std::string near = findings.is_full() ? "" : nearest(name, columns_of(table.kind));
      if (near.empty() && !findings.is_full()) near = nearest(name, ignored_columns(table.kind));
      problem.remedy = near.empty() ? "delete the column" : "did you mean " + near + "?";
    }
    if (!problem.what.empty()) findings.add(std::move(problem));
  }
  if (!ignored.empty()) {
    findings.add(
        ImportNotice{sheet.file, sheet.header_row, "taken and not used: " + join(ignored, ", ")});
  }
  for (const auto& name : required_columns(table.kind)) {
    if (table.columns.contains(name)) continue;
    findings.add(ImportProblem{sheet.file, sheet.header_row, name, "",
                               "a sheet of " + kind_name(table.kind) + " needs this heading",
                               "add the column"});
  }
}

}  // namespace

std::string kind_name(SheetKind kind) {
  return std::string(enum_names(kind)[static_cast<std::size_t>(kind)]);
}

const Words& columns_of(SheetKind kind) {
  static const Words skus = {"name", "gpu_model", "gres_type", "gpus",
                             "nics", "cpus",      "sockets",   "memory_mib"};
  static const Words racks = {"site", "name", "u_height"};
  static const Words devices = {"name",          "role",        "device_type",    "serial",
                                "site",          "rack",        "position",       "face",
                                "bmc_mac",       "bmc_address", "oob_address",    "leaf_group",
                                "nvlink_domain", "driver",      "management_url", "fabric",
                                "asn",           "router_id",   "vtep_address",   "failure_side"};
  static const Words interfaces = {"device",      "name", "role", "mgmt_only",
                                   "mac_address", "rail", "guid"};
  static const Words cables = {"side_a_site", "side_a_device", "side_a_type", "side_a_name",
                               "side_b_site", "side_b_device", "side_b_type", "side_b_name"};
  switch (kind) {
    case SheetKind::skus: return skus;
    case SheetKind::racks: return racks;
    case SheetKind::devices: return devices;
    case SheetKind::interfaces: return interfaces;
    case SheetKind::cables: return cables;
  }
  return skus;
}

void Findings::add(ImportProblem problem) {
  if (is_full()) {
    ++more_problems;
  } else {
    problems.push_back(std::move(problem));
  }
}

void Findings::add(ImportNotice notice) {
  if (notices.size() >= most_findings) {
    ++more_notices;
  } else {
    notices.push_back(std::move(notice));
  }
}

std::vector<SheetTable> understand(const std::vector<Sheet>& sheets, Findings& findings) {
  std::vector<SheetTable> tables;
  for (const auto& sheet : sheets) {
    for (const auto& notice : sheet.notices) {
      findings.add(ImportNotice{sheet.file, notice.row,
                                "column " + std::to_string(notice.column) + ": " + notice.what});
    }
    if (!sheet.unreadable.empty()) {
      findings.add(about_file(sheet, sheet.unreadable, "save the sheet as \"CSV UTF-8\""));
    } else if (sheet.rows.empty()) {
      findings.add(
          about_file(sheet, "the file has no rows", "leave it out, or export the sheet again"));
    } else if (const auto kind = kind_of(sheet)) {
      tables.push_back({&sheet, *kind, {}});
    } else {
      findings.add(about_file(sheet, "the headings fit no kind of sheet",
                              "use NetBox's headings of devices, interfaces, cables or racks"));
    }
  }
  std::stable_sort(tables.begin(), tables.end(),
                   [](const auto& a, const auto& b) { return a.kind < b.kind; });
  for (std::size_t i = 0; i < tables.size(); ++i) {
    map_columns(tables[i], findings);
    if (i == 0 || tables[i - 1].kind != tables[i].kind) continue;
    findings.add(about_file(
        *tables[i].sheet,
        "a second sheet of " + kind_name(tables[i].kind) + ", beside " + tables[i - 1].sheet->file,
        "put the rows into one file, or import them one after the other"));
  }
  return tables;
}

std::string Cells::raw(const std::string& column, std::size_t index) const {
  const auto it = at_.table->columns.find(column);
  if (it == at_.table->columns.end()) return "";
  const auto& cells = at_.table->sheet->rows[index].cells;
  return it->second < cells.size() ? cells[it->second] : "";
}

std::string Cells::text(const std::string& column) const {
  return tidy_cell(raw(column, at_.index));
}

std::string Cells::above(const std::string& column) const {
  constexpr std::size_t rows_max = 200;  // merged cells span a rack, not a column of empty cells
  const std::size_t end = at_.index > rows_max ? at_.index - rows_max : 0;
  std::string value;
  for (std::size_t i = at_.index; i > end && value.empty(); --i) {
    value = tidy_cell(raw(column, i - 1));
  }
  return value;
}

std::string Cells::hint(std::string_view word,
                        const std::function<std::vector<std::string>()>& candidates) const {
  if (findings_.hint_work <= 0 || findings_.is_full()) return "";
  const auto names = candidates();
  findings_.hint_work -= static_cast<std::int64_t>(names.size()) + 1;
  return nearest(word, names);
}

void Cells::blame(const Blame& blame) const {
  if (findings_.is_full()) {
    ++findings_.more_problems;
    return;
  }
  const Sheet& sheet = *at_.table->sheet;
  const auto it = at_.table->columns.find(blame.column);
  const std::string heading =
      it == at_.table->columns.end() ? blame.column : tidy_cell(sheet.header[it->second]);
  findings_.add(ImportProblem{sheet.file, sheet.rows[at_.index].row, heading,
                              raw(blame.column, at_.index), blame.what, blame.remedy});
}

void Cells::note(std::string what) const {
  const Sheet& sheet = *at_.table->sheet;
  findings_.add(ImportNotice{sheet.file, sheet.rows[at_.index].row, std::move(what)});
}

std::string Cells::place() const {
  const Sheet& sheet = *at_.table->sheet;
  return sheet.file + " row " + std::to_string(sheet.rows[at_.index].row);
}

std::optional<std::int64_t> Cells::integer(const std::string& column,
                                           const IntegerRange& range) const {
  if (!has(column)) return std::nullopt;
  const std::string cell = text(column);
  if (cell.empty() || !refuse_error_mark(cell)) return std::nullopt;
  return settle(column, read_integer(cell, range));
}

std::optional<std::string> Cells::require(const std::string& column,
                                          Result<std::string> (*parse)(std::string_view)) const {
  if (!has(column)) return std::nullopt;  // noted once, at the heading
  const std::string cell = text(column);
  if (!cell.empty() && !refuse_error_mark(cell)) return std::nullopt;
  if (!cell.empty()) return settle(column, parse(cell));
  const std::string value = above(column);
  blame({column, "the cell is empty",
         value.empty() ? "fill it in"
                       : "fill it in; if cells were merged, the value above is " + value});
  return std::nullopt;
}

void Cells::check_row() const {
  const Sheet& sheet = *at_.table->sheet;
  const auto& cells = sheet.rows[at_.index].cells;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = tidy_cell(cells[i]);
    const bool used = std::any_of(at_.table->columns.begin(), at_.table->columns.end(),
                                  [&](const auto& column) { return column.second == i; });
    if (cell.empty() || (i < sheet.header.size() && !used)) continue;
    const int row = sheet.rows[at_.index].row;
    if (i >= sheet.header.size()) {
      findings_.add(
          ImportProblem{sheet.file, row, "", cells[i],
                        "cell " + std::to_string(i + 1) + " is to the right of the last heading",
                        "a separator within a value must be quoted"});
    } else if (const auto sound = refuse_error_mark(cell); !sound) {
      findings_.add(ImportProblem{sheet.file, row, tidy_cell(sheet.header[i]), cells[i],
                                  sound.error().what, sound.error().remedy});
    }
  }
}

}  // namespace tundish::control::inventory
