#pragma once
// Keeps a storm of equal lines from becoming a storm of witnesses, in bounded memory.
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/witness.hpp"

namespace tundish {

struct StormLimits {
  Duration window = seconds(1);
  std::size_t distinct = 256;  ///< lines told apart by their whole detail, per window
  std::size_t coarse = 256;    ///< beyond those: told apart by code, device and reset words
};

/// The first line of a kind passes at once, so a storm delays nothing; its repeats are counted and
/// told once per window. Nothing is dropped: the repeats of all witnesses add up to the lines read.
class StormFilter {
 public:
  explicit StormFilter(StormLimits limits = {}) : limits_(limits) {}

  /// True: pass the witness on. False: it was counted. Call drain() before with the same time.
  bool admit(const Witness& witness);
  /// Witnesses for what was counted, oldest first, once the window has ended.
  std::vector<Witness> drain(Instant now);
  std::vector<Witness> drain_all();
  /// Lowest sequence number that was counted and not told; -1: none.
  std::int64_t oldest_pending_seq() const;
  /// End of the running window while something waits for it.
  std::optional<Instant> due_at() const;

 private:
  struct Slot {
    std::optional<Witness> last;  ///< its repeat counts what is pending
    std::int64_t first_seq = -1;
    void count(const Witness& witness);
  };
  using Key = std::tuple<KernelEventKind, int, std::string, std::string, Provenance, ResetWord,
                         ResetWord, SeverityWord, int, std::size_t>;
  static Key key_of(const Witness& witness, std::size_t detail);

  StormLimits limits_;
  Instant window_start_;
  std::map<Key, Slot> exact_;
  std::map<Key, Slot> coarse_;
  Slot rest_;
};

}  // namespace tundish
