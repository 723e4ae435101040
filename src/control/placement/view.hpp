#pragma once
// The pool as one request sees it: exclusions applied, earlier picks of the same call taken.
#include <vector>

#include "control/placement/fleet.hpp"
#include "control/placement/request.hpp"

namespace tundish::control::placement {

/// The level at which nodes count as together.
enum class Scope { domain, leaf, pod };

bool excludes(const Request& request, const Slot& slot);

class View {
 public:
  explicit View(const Pool& pool);
  View(const Pool& pool, const Request& request);

  const Pool& pool() const { return *pool_; }
  const Tally& leaf(int index) const { return leaves_[static_cast<std::size_t>(index)]; }
  const Tally& domain(int index) const { return domains_[static_cast<std::size_t>(index)]; }
  int usable() const;
  int free() const;

  /// The slot stays free but this request may not use it.
  void block(int slot);
  /// The slot is no longer free.
  void take(const std::vector<int>& slots);
  /// Blocks every domain that does not share `scope` with one of `slots`. Domains without a
  /// name share no domain scope.
  void restrict_to(Scope scope, const std::vector<int>& slots);
  /// The first `count` usable slots of a domain.
  void append_usable(int domain, int count, std::vector<int>& slots) const;
  /// Number of the place of `slot` at that scope.
  int place_of(int slot, Scope scope) const;

 private:
  void block_all(int domain);

  const Pool* pool_;
  std::vector<char> usable_;  ///< may be 1 in a domain whose tally says 0 usable
  std::vector<Tally> leaves_;
  std::vector<Tally> domains_;
};

}  // namespace tundish::control::placement
