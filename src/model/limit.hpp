#pragma once
// Limits of checks and what a GPU model is made of: data with sources, in catalog/.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.hpp"
#include "model/verdict.hpp"

namespace tundish {

enum class LimitUnit {
  count,
  per_second,
  per_minute,
  per_hour,
  per_day,
  percent,
  celsius,
  watt,
  mhz,
  mib,
  second,
  millisecond,
  microsecond,
  gbit_per_s,
  mbyte_per_s,
  gflops
};
inline std::span<const std::string_view> enum_names(LimitUnit) {
  static constexpr std::string_view names[] = {
      "count",       "per_second", "per_minute",  "per_hour", "per_day", "percent",
      "celsius",     "watt",       "mhz",         "mib",      "second",  "millisecond",
      "microsecond", "gbit_per_s", "mbyte_per_s", "gflops"};
  return names;
}

/// Which side of the value is bad.
enum class LimitBound { above, at_least, below };
inline std::span<const std::string_view> enum_names(LimitBound) {
  static constexpr std::string_view names[] = {"above", "at_least", "below"};
  return names;
}

struct Limit {
  std::string check;
  std::string name;
  std::int64_t value = 0;
  LimitUnit unit = LimitUnit::count;
  LimitBound side = LimitBound::above;
  VerdictState verdict = VerdictState::fail;
  std::string gpu_model;
  std::string since_driver;
  std::string until_driver;
  std::string source;
  std::string why;
  std::vector<std::string> columns = {};
  int column = -1;
  void fields(Fields& f) {
    f(1, "check", check, "check that asks for it");
    f(2, "name", name, "what is measured, as the check calls it");
    f(3, "value", value, "the limit");
    f(4, "unit", unit, "of the value");
    f(5, "side", side, "bad is above it, at_least it, or below it");
    f(6, "verdict", verdict, "warn or fail");
    f(7, "gpu_model", gpu_model, "name in nameplates.yaml; empty: every model");
    f(8, "since_driver", since_driver, "first driver branch that it holds for; empty: all");
    f(9, "until_driver", until_driver, "last driver branch that it holds for; empty: all");
    f(10, "source", source, "where the value comes from");
    f(11, "why", why, "reason of the choice where sources disagree");
    f(12, "columns", columns, "of another program's limit: what its query returns");
    f(13, "column", column, "and which of them it compares, from 0; -1: not from a query");
  }
  bool is_hit_by(std::int64_t measured) const {
    switch (side) {
      case LimitBound::above: return measured > value;
      case LimitBound::at_least: return measured >= value;
      case LimitBound::below: return measured < value;
    }
    return false;
  }
};

/// What the maker prints of a GPU model; 0: not known.
struct Nameplate {
  std::string model;
  std::vector<std::string> product_names;
  std::vector<std::string> pci_ids;
  std::int64_t memory_mib = 0;
  std::int64_t memory_mbyte_per_s = 0;
  std::int64_t bf16_gflops = 0;
  std::int64_t fp32_gflops = 0;
  std::int64_t power_w = 0;
  int nvlinks = 0;
  std::int64_t nvlink_mbyte_per_s = 0;
  int pcie_gen = 0;
  int pcie_width = 0;
  std::string source;
  void fields(Fields& f) {
    f(1, "model", model, "our name of it");
    f(2, "product_names", product_names, "as the driver calls it");
    f(3, "pci_ids", pci_ids, "PCI device ids, four hex digits");
    f(4, "memory_mib", memory_mib, "memory, MiB");
    f(5, "memory_mbyte_per_s", memory_mbyte_per_s, "memory bandwidth, 10^6 bytes per second");
    f(6, "bf16_gflops", bf16_gflops, "dense BF16 or FP16 tensor throughput, 10^9 per second");
    f(7, "power_w", power_w, "highest board power, watts");
    f(8, "nvlinks", nvlinks, "NVLink links per GPU");
    f(9, "nvlink_mbyte_per_s", nvlink_mbyte_per_s,
      "one link, one direction, 10^6 bytes per second");
    f(10, "pcie_gen", pcie_gen, "PCIe generation");
    f(11, "pcie_width", pcie_width, "PCIe lanes");
    f(12, "source", source, "where the values come from");
    f(13, "fp32_gflops", fp32_gflops,
      "dense FP32 throughput without tensor cores, 10^9 per second");
  }
};

struct Thresholds {
  std::string edition;
  std::vector<Limit> limits;
  void fields(Fields& f) {
    f(1, "edition", edition, "date of the sources, YYYY-MM");
    f(2, "limits", limits, "one row per limit; a row for a model beats the one for every model");
  }
};

struct Nameplates {
  std::string edition;
  std::vector<Nameplate> models;
  void fields(Fields& f) {
    f(1, "edition", edition, "date of the sources, YYYY-MM");
    f(2, "models", models, "one row per GPU model");
  }
  const Nameplate* find(std::string_view model) const {
    for (const auto& row : models) {
      if (row.model == model) return &row;
    }
    return nullptr;
  }
  /// By the name that the driver tells.
  const Nameplate* find_product(std::string_view product) const {
    for (const auto& row : models) {
      for (const auto& name : row.product_names) {
        if (name == product) return &row;
      }
    }
    return nullptr;
  }
};

}  // namespace tundish
