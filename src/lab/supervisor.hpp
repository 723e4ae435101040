#pragma once
// The process that is a running lab.
#include <string>

namespace tundish::lab {

/// `tundish lab supervise --spec FILE`. Three processes:
///   keeper      outside; records process 1 of the lab, waits for it, removes its control groups
///   process 1   in new namespaces; reaps orphans; everything dies with it, also by kill -9
///   supervisor  its child: power, BMCs, switches, kernel log, tundishd, control socket
/// SIGTERM to process 1 (its pid is in run/supervisor.pid) is an orderly stop.
int supervise_main(const std::string& spec_file);

}  // namespace tundish::lab
