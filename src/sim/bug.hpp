#pragma once
#include <span>
#include <string_view>

namespace tundish::sim {

/// Planted faults, as a broken tundishd would have them: each must be found by the checkers within
/// the seeds that CI runs. `tundish-sim --bug N` plants number N.
enum class Bug {
  none,
  skip_quota,
  double_bind,
  early_reissue,
  clear_foreign_drain,
  stale_write_wins,
  no_permit,
  no_revalidation,
  skip_wipe,
  witness_twice,
  requeue_of_other_tenant,
  act_under_hold,
  reset_on_userspace_witness,
  half_a_gang,
  blame_ignores_shared_fate,
  act_in_window,
  lease_kept
};
inline std::span<const std::string_view> enum_names(Bug) {
  static constexpr std::string_view names[] = {"none",
                                               "skip_quota",
                                               "double_bind",
                                               "early_reissue",
                                               "clear_foreign_drain",
                                               "stale_write_wins",
                                               "no_permit",
                                               "no_revalidation",
                                               "skip_wipe",
                                               "witness_twice",
                                               "requeue_of_other_tenant",
                                               "act_under_hold",
                                               "reset_on_userspace_witness",
                                               "half_a_gang",
                                               "blame_ignores_shared_fate",
                                               "act_in_window",
                                               "lease_kept"};
  return names;
}

}  // namespace tundish::sim
