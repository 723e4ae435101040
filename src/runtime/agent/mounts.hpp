#pragma once
// The tenant's storage: what is mounted, what we mounted, and taking it away without touching it.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/verbs.hpp"

namespace tundish::agent {

struct MountPoint {
  std::string target;
  std::string type;
  std::string root;     ///< folder of the file system that is shown, for a bind mount
  std::string options;  ///< of the mount and of the file system, comma separated
};
/// /proc/self/mountinfo, in order of mounting. Source of the format: proc(5).
std::vector<MountPoint> parse_mounts(const std::string& mountinfo);
Result<std::vector<MountPoint>> load_mounts();
const MountPoint* find_mount(const std::vector<MountPoint>& mounts, const std::string& target);

/// What setup_node was told to mount, kept so that leaving and checks know it after a restart.
class ExportRecord {
 public:
  explicit ExportRecord(std::string state_dir) : path_(std::move(state_dir) + "/exports.json") {}
  Result<std::vector<ExportMount>> load() const;
  Result<> save(const std::vector<ExportMount>& exports) const;

 private:
  std::string path_;
};

/// Runs mount, umount or what serves a mount; an error holds its words.
Result<> run_tool(std::vector<std::string> argv, Duration limit);
/// Makes the folders of a mount point; none of them may be a link.
Result<> make_mount_point(const std::string& target);
/// Mounts what is not mounted yet. Targets are made; no part of one may be a link.
Result<> mount_export(const ExportMount& mount, Duration limit);
/// Unmounts whatever lies at or below the targets, deepest first; never removes a file in it.
Result<> unmount_exports(const std::vector<ExportMount>& exports, Duration limit);
/// Deletes a tree of the node's own disk; refuses when anything is mounted at or below it.
Result<> remove_tree(const std::string& path);

}  // namespace tundish::agent
