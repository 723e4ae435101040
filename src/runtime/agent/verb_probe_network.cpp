#include <thread>

#include "codec/json.hpp"
#include "runtime/agent/cluster_network.hpp"
#include "runtime/agent/export_probe.hpp"
#include "runtime/agent/net_probe.hpp"
#include "runtime/agent/net_reach.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {
namespace {

constexpr std::size_t most_out_of_band = 2048;
constexpr std::size_t most_leaf = 64;

/// The out-of-band port is the node's own, wherever the tenant's port lies.
std::vector<ProbeServiceSeen> probe_out_of_band(const NetProbe& probe, const AgentConfig& config) {
  if (probe.out_of_band.empty()) return {};
  std::vector<ProbeService> all = controller_services(config.api);
  all.insert(all.end(), probe.out_of_band.begin(), probe.out_of_band.end());
  return reach_services(all, {config.oob_interface, milliseconds(probe.listen_ms)});
}

}  // namespace

Result<VerbNote> verb_probe_network(const VerbCall& call, const VerbTools& tools) {
  if (!call.net_probe) return make_error(Code::invalid, "probe_network has no arguments");
  const NetProbe& probe = *call.net_probe;
  if (probe.out_of_band.size() > most_out_of_band) {
    return make_error(Code::invalid, "a probe tries at most " + std::to_string(most_out_of_band) +
                                         " addresses on the out-of-band port");
  }
  if (probe.leaf.size() > most_leaf) {
    return make_error(Code::invalid, "a probe tries at most " + std::to_string(most_leaf) +
                                         " addresses and ports of its leaf");
  }
  NetProbeSeen seen;
  std::vector<ProbeServiceSeen> beside;
  std::vector<ProbeExportSeen> exports;
  std::thread other([&] {
    beside = probe_out_of_band(probe, tools.config);
    exports = probe_exports(probe, tools.paths);
  });
  const auto done = run_in_network(network_of_interface(probe.interface), [&]() -> Result<> {
    // A thread lives in the network namespace of the one that made it.
    std::vector<ProbeServiceSeen> leaf;
    std::thread leaf_calls([&] {
      leaf = reach_services(probe.leaf, {probe.interface, milliseconds(probe.listen_ms)});
    });
    auto ran = run_probe(probe);
    leaf_calls.join();
    seen = TRY(std::move(ran));
    seen.leaf = std::move(leaf);
    return {};
  });
  other.join();
  if (!done) return done.error();
  seen.out_of_band = std::move(beside);
  seen.exports = std::move(exports);
  VerbNote note;
  note.text = render_json(seen);
  return note;
}

}  // namespace tundish::agent
