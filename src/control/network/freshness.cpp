#include "control/network/freshness.hpp"

#include "control/network/reconcile_switch.hpp"
#include "control/network/storage.hpp"

namespace tundish::control::network {
namespace {

struct Look {
  Instant at;
  std::string fault;
};

template <class Map>
Look find_look(const Map& places, const std::string& name) {
  const auto found = places.find(name);
  return found == places.end() ? Look{} : Look{found->second.at, found->second.fault};
}

std::string reason_of(const View& view, const Look& look) {
  if (look.at.is_set() && view.now - look.at <= stale_after) return "";
  std::string why = look.at.is_set() ? "not read since " + render_utc(look.at)
                                     : "not read since tundishd began";
  if (!look.fault.empty()) why += ": " + look.fault;
  return why;
}

}  // namespace

std::string unseen_reason(const View& view, const Network& network, const NetworkSync& sync) {
  if (sync.object == storage_name(network.status.fabric)) {
    return reason_of(view, find_look(view.seen.storage, network.status.fabric));
  }
  return sync.technology == FabricTechnology::evpn
             ? reason_of(view, find_look(view.seen.switches, sync.object))
             : reason_of(view, find_look(view.seen.fabrics, sync.object));
}

std::string unseen_reason(const View& view, const Switch& device) {
  if (device.spec.management_url.empty()) return "";
  return reason_of(view, find_look(view.seen.switches, device.meta.name));
}

}  // namespace tundish::control::network
