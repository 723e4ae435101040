#pragma once
// The virtual data centre as seen by whoever starts it: `tundish lab`, demos and tests.
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/control_model.hpp"
#include "lab/topology.hpp"

namespace tundish::lab {

struct LabFile {
  std::string content;
  int mode = 0644;
};
/// By path inside the lab's root; a node's own files lie below nodes/<n>/disk.
using LabFiles = std::map<std::string, LabFile>;

/// Starts a lab and waits until every node came up or failed to. `conflict` when it runs already.
Result<> lab_up(const LabSpec& spec, const LabFiles& files);

enum class KeepLogs { no, yes };
/// Idempotent, also after kill -9 of any part. With KeepLogs::yes only <root>/log stays.
Result<> lab_down(const LabSpec& spec, KeepLogs keep);
/// Host pid of process 1 of the lab; 0 when it does not run. Checks command line and start time.
int find_supervisor(const LabPaths& paths);

/// `not_found` when there is no such lab.
Result<LabStatus> lab_status(const LabPaths& paths);
/// One call of the control socket; returns the body of a 200.
struct LabCall {
  std::string method = "GET";
  std::string path;
  std::string body;
};
Result<std::string> call_lab(const LabPaths& paths, const LabCall& call);

struct LabExec {
  std::string node;
  std::vector<std::string> argv;
  int uid = 0;
};
/// Replaces this process by a program inside a node; returns only when that failed.
Error lab_enter(const LabPaths& paths, const LabExec& exec);

}  // namespace tundish::lab
