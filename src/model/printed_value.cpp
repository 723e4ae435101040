#include "model/printed_value.hpp"

namespace tundish {

std::int64_t printed_value(const Limit& limit, const Nameplate& plate) {
  if (limit.unit == LimitUnit::gflops) {
    return limit.name == "bf16" ? plate.bf16_gflops : plate.fp32_gflops;
  }
  if (limit.unit == LimitUnit::watt) return plate.power_w;
  if (limit.unit == LimitUnit::mib) return plate.memory_mib;
  if (limit.unit != LimitUnit::mbyte_per_s) return 0;
  if (limit.name == "hbm") return plate.memory_mbyte_per_s;
  if (limit.name == "nvlink") return plate.nvlink_mbyte_per_s;
  // MB/s of a lane, generations 1 to 6. Source: PCI Express 6.0, encoding of each generation;
  // checked 2026-11
  constexpr std::int64_t lane[] = {0, 250, 500, 985, 1969, 3938, 7563};
  if (limit.name == "copy" && plate.pcie_gen >= 1 && plate.pcie_gen <= 6) {
    return lane[plate.pcie_gen] * plate.pcie_width;
  }
  return 0;
}

}  // namespace tundish
