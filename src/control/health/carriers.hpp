#pragma once
// Changes of a link's carrier are counted for a day: whose they were, and which of them are new.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "control/health/evidence.hpp"
#include "control/view.hpp"

namespace tundish::control::health {

/// So begins the sentence of a check that counts them. It is another sentence after each change, so
/// that the verdict's time is that of the last one.
inline constexpr std::string_view carrier_words = "changes of its carrier";

/// When switches were away, and when incidents of single links ended.
class Carriers {
 public:
  explicit Carriers(const View& view);
  /// Takes out what counts changes that were the switch's, or belong to an incident that is over.
  /// What came after that is a new sighting: it begins with the change.
  void drop_explained(const Node& node, std::vector<Sighting>& list) const;

 private:
  struct Away {
    Instant from, until;
  };
  bool explain(const Node& node, Sighting& sighting) const;
  void add_incidents(const Registry& reg);
  void add_switches(const View& view);

  std::map<std::string, std::vector<Away>> switches_;  ///< by name
  std::map<std::string, Instant> links_;               ///< leaf1/swp3: when its last incident ended
};

}  // namespace tundish::control::health
