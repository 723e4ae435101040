#pragma once
// One seeded run: a fleet, tenants with jobs, everything that goes wrong, crashes of tundishd at
// any hook, and the shipped controllers in between.
#include <map>
#include <string>
#include <vector>

#include "model/policy.hpp"
#include "model/xid_catalogue.hpp"
#include "sim/bug.hpp"
#include "sim/fake_drivers.hpp"

namespace tundish::sim {

/// How often things that change nothing happen. Eased: as in production but for the idle rates.
enum class Pace { shipped, eased, lazy };

/// Which stories are told besides the random faults.
struct Stories {
  bool cut_agents = false;         ///< all agents away for ten minutes, a fault inside
  bool commit_faults = false;      ///< the store loses commits, or keeps them and says it did not
  bool controller_outage = false;  ///< slurmctld down for a minute
  bool person_drains = false;
  bool person_resumes = false;
  bool hold = false;    ///< set over a fault, released later
  bool advise = false;  ///< a rack at advise; a person approves after a while
  bool churn = false;   ///< a cluster is deleted and another one made
  bool joining_spare_fails = false;
  bool two_faults = false;  ///< on one node
  bool last_spare_fails = false;
  bool storage_outage = false;  ///< the server hangs all its clients for ten minutes
  bool leaf_outage = false;     ///< every link of the leaf is down for ten minutes
  bool forged_lines = false;    ///< programs that write the line of a lost GPU
  bool maintenance = false;     ///< a technician's window on one node, that is overrun
  bool slow_node = false;       ///< a tenant complains about a node of its job
  bool leak = false;            ///< a tray leaks: drops first, then it is wet
  bool idle_checks = false;     ///< idle nodes run active checks every hour, half of them at once
};

struct SimOptions {
  std::uint64_t seed = 1;
  int nodes = 12;
  int gpus = 8;
  int quota = 40;  ///< GPUs of each tenant
  bool domains = false;  ///< the nodes of a rack are trays of one NVLink domain
  Duration length = hours(2);
  Duration settle = hours(3);  ///< then nothing may be open
  int faults = 6;
  int sticky_per_mille = 150;
  int decoys = 10;
  int crashes = 4;  ///< at random hooks
  Stories stories;
  Trouble trouble = {20, 20, 20, milliseconds(300)};
  Pace pace = Pace::eased;
  bool scripted = false;  ///< the fixed story that visits every hook; nothing random
  std::string crash_at;   ///< a hook; with crash_nth: exactly there, nowhere else
  int crash_nth = 1;
  bool lawless = false;  ///< rules are not judged: a bad policy that is replayed breaks them
  bool tell = false;          ///< end_state tells every incident
  Bug bug = Bug::none;
  const XidCatalogue* catalogue = nullptr;
  const RemediationPolicy* policy = nullptr;
};

/// What CI runs for a seed, and `./dev sim SEED` replays.
SimOptions options_of_seed(std::uint64_t seed);

/// The fixed story, without chance and without crashes.
SimOptions script_options();

struct SimReport {
  std::vector<std::string> broken;   ///< empty: every rule held
  std::map<std::string, int> hooks;  ///< every hook that was passed, and how often
  std::string digest;                ///< equal for equal seeds
  std::int64_t events = 0;
  std::int64_t calls = 0;  ///< of drivers
  int crashes = 0;
  int incidents = 0, resolved = 0, rma = 0;
  Duration simulated;
  int nodes = 0;
  bool crash_hit = false;
  std::string end_state;  ///< what must not depend on crashes
};

SimReport run_simulation(const SimOptions& options);

}  // namespace tundish::sim
