#pragma once
// From what checks say at every look to what is worth telling: bad news after as many looks as the
// check asks for, and then only what changed.
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/verdict.hpp"

namespace tundish::agent {

/// What the agent's loop must know of a check that lives in another room.
struct PassiveCheck {
  std::string name;
  std::vector<std::string> needs;
  Duration every;
  int looks = 1;
  Resource watches = Resource::unknown;
  Locality locality = Locality::symptom;
};

class ToldVerdicts {
 public:
  /// All verdicts of one check at one look; devices that are not named any more are ok. Returns
  /// what changed.
  std::vector<Verdict> take(const PassiveCheck& check, const std::vector<Verdict>& verdicts,
                            Instant now);
  /// Everything that is not ok, as last told.
  std::vector<Verdict> all() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  ///< check, device, source
  struct Entry {
    Verdict told;      ///< state ok: nothing bad was told
    int in_a_row = 0;  ///< looks that said something bad
  };
  std::map<Key, Entry> entries_;
};

}  // namespace tundish::agent
