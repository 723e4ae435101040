#pragma once
// opensm on some node, reached by commands over Exec. A change goes: read the file; render and
// check; try it on the canary fabric; put it in place at once and whole; tell opensm; read the
// ports' own PKey tables. A dead driver leaves a whole, tried file at any step.
#include <map>
#include <string>
#include <vector>

#include "ports/drivers.hpp"
#include "ports/exec.hpp"
#include "ports/scheduler.hpp"

namespace tundish::families {

/// Where things are on the node that runs opensm.
struct OpensmSite {
  std::string file = "/etc/opensm/partitions.conf";
  std::string pid_file = {};       ///< empty: every opensm that runs there
  std::string canary_target = {};  ///< ssh://... of another node with opensm and ibsim; empty: same
  std::vector<std::string> tool_environment = {};  ///< VARIABLE=VALUE for infiniband-diags
  int canary_members = 16;
  Duration settle_limit = seconds(5);  ///< for the ports' tables to follow the file
};

class OpensmManager final : public FabricManager {
 public:
  OpensmManager(Exec& exec, Scheduler& scheduler, OpensmSite site = {});
  /// For the fabric of this name instead of the general one.
  void set_site(const std::string& fabric, OpensmSite site);

  void apply(const FabricRef& ref, const FabricState& desired, Duration limit, Done done) override;
  void read(const FabricRef& ref, Duration limit, ReadDone done) override;
  void find_paths(const FabricRef& ref, std::vector<FabricPath> asked, Duration limit,
                  PathsDone done) override;

 private:
  const OpensmSite& site_of(const std::string& fabric) const;

  Exec& exec_;
  Scheduler& scheduler_;
  OpensmSite site_;
  std::map<std::string, OpensmSite> sites_;
};

}  // namespace tundish::families
