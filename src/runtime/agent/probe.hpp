#pragma once
// Looks at things that may never answer. Run as a child process of the agent; what it writes tells
// how far it came, so that a hang is evidence as well.
#include <string>
#include <vector>

#include "model/check_sample.hpp"

namespace tundish::agent {

struct HcaList {
  std::vector<HcaPort> ports;
  void fields(Fields& f) { f(1, "ports", ports, "every port of every HCA"); }
};

/// `args`: "gpus LIBRARY", "hcas SYS", "mount TARGET", "gpu_work PCI" or "pair PORT,PEER", which
/// is none: it serves a check over two nodes until that has ended. Lines on standard output:
/// "pid N", "step WORD" before each step, then "json {...}" or "error CODE text". Returns the exit
/// status.
int run_probe(const std::vector<std::string>& args);

/// The probes themselves, for tests without a child.
MountProbe use_mount(const std::string& target);
/// Of this process and no other, on this node or on another that shares the export: process numbers
/// of nodes are equal every day.
std::string probe_file_name();
Result<HcaList> list_hcas(const std::string& sys_dir);

}  // namespace tundish::agent
