#include "codec/limits.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "codec/yaml.hpp"

namespace tundish {
namespace {

struct Source {
  std::string_view text;
  std::string_view file;
};

Error refuse(const Source& source, std::size_t index, std::string_view key,
             const std::string& why) {
  return make_error(Code::invalid, std::string(source.file) + ":" +
                                       std::to_string(line_of_item(source.text, index, key)) +
                                       ": " + why);
}

Result<> check_edition(const Source& source, const std::string& edition) {
  const bool dated =
      edition.size() == 7 && edition[4] == '-' && parse_integer(edition.substr(0, 4));
  if (dated) return {};
  return make_error(Code::invalid,
                    std::string(source.file) + ":1: edition is no date like 2026-08");
}

bool is_word(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

Result<> check_plate(const Source& source, std::size_t i, const Nameplate& row) {
  if (!is_word(row.model)) return refuse(source, i, "model", "model is no name in snake_case");
  if (row.source.empty()) return refuse(source, i, "model", row.model + " has no source");
  for (const std::int64_t value :
       {row.memory_mib, row.memory_mbyte_per_s, row.bf16_gflops, row.fp32_gflops, row.power_w,
        row.nvlink_mbyte_per_s, std::int64_t{row.nvlinks}, std::int64_t{row.pcie_gen},
        std::int64_t{row.pcie_width}}) {
    if (value < 0) return refuse(source, i, "model", row.model + " has a number below zero");
  }
  return {};
}

bool is_driver(const std::string& text) {
  if (text.empty()) return true;
  for (const auto& part : split(text, '.')) {
    if (!parse_integer(part) || part.size() > 6) return false;
  }
  return true;
}

Result<> check_limit(const Source& source, std::size_t i, const Limit& row,
                     const Nameplates& nameplates) {
  if (!is_word(row.check)) return refuse(source, i, "check", "check is no name in snake_case");
  if (!is_word(row.name)) return refuse(source, i, "name", "name is no name in snake_case");
  if (row.source.empty()) return refuse(source, i, "check", row.check + " has no source");
  if (row.verdict != VerdictState::warn && row.verdict != VerdictState::fail) {
    return refuse(source, i, "verdict", "a limit says warn or fail");
  }
  if (row.value < 0) return refuse(source, i, "value", "value is below zero");
  if (!row.gpu_model.empty() && !nameplates.find(row.gpu_model)) {
    return refuse(source, i, "gpu_model", "no nameplate is called " + row.gpu_model);
  }
  if (!is_driver(row.since_driver)) {
    return refuse(source, i, "since_driver", row.since_driver + " is no driver branch");
  }
  if (!is_driver(row.until_driver)) {
    return refuse(source, i, "until_driver", row.until_driver + " is no driver branch");
  }
  const bool both = !row.since_driver.empty() && !row.until_driver.empty();
  if (both && compare_driver(row.since_driver, row.until_driver) > 0) {
    return refuse(source, i, "until_driver", "the driver range ends before it begins");
  }
  return {};
}

bool holds_for(const Limit& row, std::string_view model, std::string_view driver) {
  if (!row.gpu_model.empty() && row.gpu_model != model) return false;
  if (row.since_driver.empty() && row.until_driver.empty()) return true;
  if (driver.empty()) return false;
  return (row.since_driver.empty() || compare_driver(driver, row.since_driver) >= 0) &&
         (row.until_driver.empty() || compare_driver(driver, row.until_driver) <= 0);
}

int rank_of(const Limit& row) {
  const bool ranged = !row.since_driver.empty() || !row.until_driver.empty();
  return (row.gpu_model.empty() ? 0 : 2) + (ranged ? 1 : 0);
}

}  // namespace

int compare_driver(std::string_view version, std::string_view branch) {
  const auto have = split(version, '.');
  const auto wanted = split(branch, '.');
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto b = parse_integer(wanted[i]);
    const auto a = i < have.size() ? parse_integer(have[i]) : std::optional<std::int64_t>(0);
    if (!a || !b) return -1;
    if (*a != *b) return *a < *b ? -1 : 1;
  }
  return 0;
}

int line_of_item(std::string_view text, std::size_t index, std::string_view key) {
  int number = 0;
  int found = 1;
  std::size_t items = 0;
  std::size_t indent = std::string_view::npos;
  for (const auto& line : split(text, '\n')) {
    ++number;
    const std::size_t dash = line.find_first_not_of(' ');
    if (dash == std::string::npos) continue;
    const bool item = line.compare(dash, 2, "- ") == 0;
    if (item && indent == std::string_view::npos) indent = dash;
    if (item && dash == indent) {
      if (++items > index + 1) break;
      if (items == index + 1) found = number;
    }
    if (items != index + 1) continue;
    std::string_view rest = trim(line);
    if (item && dash == indent) rest = trim(rest.substr(1));
    if (!key.empty() && rest.starts_with(std::string(key) + ":")) return number;
  }
  return found;
}

Result<Nameplates> load_nameplates(std::string_view text, std::string_view file) {
  Nameplates out;
  TRY_VOID(parse_yaml(text, out, file));
  const Source source{text, file};
  TRY_VOID(check_edition(source, out.edition));
  std::map<std::string, std::string> models;
  std::map<std::string, std::string> products;
  for (std::size_t i = 0; i < out.models.size(); ++i) {
    const Nameplate& row = out.models[i];
    TRY_VOID(check_plate(source, i, row));
    if (!models.emplace(row.model, row.model).second) {
      return refuse(source, i, "model", row.model + " is there twice");
    }
    for (const auto& product : row.product_names) {
      if (products.emplace(product, row.model).second) continue;
      return refuse(source, i, "product_names",
                    "\"" + product + "\" is " + products[product] + " already");
    }
  }
  return out;
}

Result<Thresholds> load_thresholds(std::string_view text, std::string_view file,
                                   const Nameplates& nameplates) {
  Thresholds out;
  TRY_VOID(parse_yaml(text, out, file));
  const Source source{text, file};
  TRY_VOID(check_edition(source, out.edition));
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, int, int>;
  std::map<Key, std::size_t> seen;
  for (std::size_t i = 0; i < out.limits.size(); ++i) {
    const Limit& row = out.limits[i];
    TRY_VOID(check_limit(source, i, row, nameplates));
    const Key key{row.check,
                  row.name,
                  row.gpu_model,
                  row.since_driver,
                  row.until_driver,
                  static_cast<int>(row.verdict),
                  static_cast<int>(row.side)};
    const auto [first, fresh] = seen.emplace(key, i);
    if (fresh) continue;
    return refuse(source, i, "check",
                  row.check + "." + row.name + " is there twice; first in line " +
                      std::to_string(line_of_item(text, first->second, "check")));
  }
  return out;
}

std::vector<Limit> limits_for(const Thresholds& thresholds, std::string_view model,
                              std::string_view driver) {
  std::map<std::pair<std::string, std::string>, int> best;
  for (const auto& row : thresholds.limits) {
    if (!holds_for(row, model, driver)) continue;
    int& rank = best.try_emplace({row.check, row.name}, 0).first->second;
    rank = std::max(rank, rank_of(row));
  }
  std::vector<Limit> out;
  for (const auto& row : thresholds.limits) {
    if (!holds_for(row, model, driver)) continue;
    if (rank_of(row) == best[{row.check, row.name}]) out.push_back(row);
  }
  return out;
}

}  // namespace tundish
