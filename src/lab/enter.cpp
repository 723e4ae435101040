#include "lab/enter.hpp"

#include "lab/cgroups.hpp"

namespace tundish::lab {

std::vector<std::string> enter_argv(const LabSpec& spec, const EnterNode& enter) {
  // The shell joins the groups by its own pid and becomes nsenter; arguments are never parsed.
  std::string script;
  for (const auto& folder : node_groups(spec, enter.node)) {
    script += "echo $$ >" + folder + "/cgroup.procs 2>/dev/null; ";
  }
  script += "exec nsenter \"$@\"";
  std::vector<std::string> argv = {
      "sh", "-c", script, "sh", "-t", std::to_string(enter.pid),
      "-m", "-u", "-i",   "-n", "-p", "-C", "--wdns=/", "--",
      "/usr/bin/setpriv", "--bounding-set=-syslog,-sys_time,-sys_module,-sys_rawio,-mknod"};
  if (enter.uid != 0) {
    argv.push_back("--reuid=" + std::to_string(enter.uid));
    argv.push_back("--regid=" + std::to_string(enter.uid));
    argv.push_back("--clear-groups");
  }
  for (const std::string variable :
       {"env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG=C.UTF-8", "TERM=xterm"}) {
    argv.push_back(variable);
  }
  argv.push_back(enter.uid == 0 ? "HOME=/root" : "HOME=/tmp");
  argv.insert(argv.end(), enter.argv.begin(), enter.argv.end());
  return argv;
}

}  // namespace tundish::lab
