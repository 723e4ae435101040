#pragma once
// Links and bridges in the lab's root network: the cables of the data centre.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/topology.hpp"

namespace tundish::lab {

enum class LinkState { down, up };

/// One `ip` process for many lines: starting one for each would cost most of the start of a lab.
Result<> run_ip_batch(const std::string& lines);
/// In the network namespace that `network` is the file of.
Result<> run_ip_batch_in(const std::string& network, const std::string& lines);

/// The out-of-band bridge with the addresses of tundishd, BMCs and switches; and the filter that
/// keeps nodes (which a tenant may own) away from BMCs and switches.
Result<> make_oob_network(const LabSpec& spec);
/// Creates the node's cables into the network namespace of `pid`: out-of-band, and, in a flat
/// fabric, those of its ports.
Result<> plug_oob(const LabNode& node, int pid);
Result<> plug_ports(const LabNode& node, int pid);
/// Removes them; the kernel alone would take its time after the node's death.
void unplug_oob(const LabPaths& paths, const LabNode& node);
void unplug_ports(const LabPaths& paths, const LabNode& node);
Result<> set_link(const std::string& interface, LinkState state);

struct PortView {
  bool present = false;  ///< a cable with a powered node at its end
  LinkState link = LinkState::down;
  std::string segment;  ///< read from the bridge it is in; empty when in none
};
/// What the kernel shows, never what was asked for.
PortView observe_port(const LabPaths& paths, const std::string& peer);
/// Empty: quarantine, which is no bridge and no link.
Result<> set_segment(const LabPaths& paths, const std::string& peer, const std::string& segment);
/// Removes bridges of segments that no port is in.
void remove_empty_bridges(const LabPaths& paths);

}  // namespace tundish::lab
