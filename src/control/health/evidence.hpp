#pragma once
// What blame is asked on: what nodes showed lately, and what they share.
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "model/blame.hpp"
#include "model/node.hpp"

namespace tundish::control::health {

/// note: evidence only. warn: may be told, takes nothing out of service. fail: asks whose it is.
enum class Level { note, warn, fail };

/// Whose word it is. A line that a tenant's root can write says nothing of what nodes share.
enum class Trust { forgeable, hardware };

enum class Origin {
  verdict,  ///< of a check: it stands until the check says otherwise
  event     ///< of the kernel log: it is told within milliseconds
};

/// One thing that one node showed.
struct Sighting {
  NodeId node;
  Resource part = Resource::unknown;
  std::string what;     ///< "mount_hung", "xid 45"
  std::string device;   ///< interface, mount point, PCI address; empty: the node's
  std::string subject;  ///< server or switch that the sighting names
  Instant first;
  Instant last;
  Instant run_began;   ///< of the newest run of events; unset: `first`
  Instant counted_at;  ///< of a count of what was: when the last of it was; unset: it is so now
  Level level = Level::fail;
  Trust trust = Trust::hardware;
  Origin origin = Origin::verdict;
  Locality locality = Locality::symptom;
  bool starved = false;           ///< the check itself did not get to run
  bool answered = false;          ///< its incident is over: it may explain, and says nothing new
  bool of_switch_domain = false;  ///< its own words say that the whole NVLink domain is meant
  int code = 0;
  int sxid = 0;
  int parent_code = 0;
  std::string says;
};

inline constexpr Instant never{std::numeric_limits<std::int64_t>::max()};

/// A part that several nodes hang on.
struct Shared {
  SubjectKind kind = SubjectKind::site;
  std::string name;
  Resource part = Resource::unknown;
  /// Node -> its devices that hang on it, for example interfaces; empty: the whole node.
  std::map<NodeId, std::set<std::string>> users;
  /// Clients of a storage that is cabled to it: when it is gone they wait, wherever they are.
  std::set<NodeId> clients;
  /// Users that say nothing of it yet, and from when on they do: what we did to them hides it.
  std::map<NodeId, Instant> speaks_at;
  Instant down_since;  ///< its own word, or its manager's, that it does not serve
  std::string down_says;
  Instant asked_at;  ///< when its management was last asked and answered; unset: nobody asks it
};

struct Place {
  std::string name;
  std::string rack;
  bool heard = false;   ///< lately: what it does not show is not there
  Instant heard_since;  ///< without a silence; what it showed before may be over
  bool out = false;     ///< out of service for a fault of its own
  bool shows_links = true;   ///< its ports are open to it: one that is down would be told
  bool uses_storage = true;  ///< a storage that does not answer would be told
  std::map<std::string, std::string> ports;  ///< interface -> leaf1/swp3
};

struct Topology {
  std::map<NodeId, Place> nodes;
  std::vector<Shared> shared;  ///< by kind and name
};

struct BlameTimes {
  Duration settle = seconds(5);     ///< a symptom waits so long for other witnesses
  Duration look = seconds(75);      ///< until then the checks of a node that is fine have looked
  Duration burst = seconds(5);      ///< events of one cause come within this time
  Duration slack = seconds(2);      ///< between the clock of a counter and that of the log
  Duration patience = seconds(15);  ///< of checks that starve
  Duration answer = seconds(30);    ///< until a switch that is gone is known not to answer
};

}  // namespace tundish::control::health
