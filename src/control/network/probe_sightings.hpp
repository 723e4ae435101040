#pragma once
// Who was seen by whom in one run of a probe. Shared by the files that judge it.
#include <map>
#include <set>
#include <string>

#include "control/network/probe.hpp"

namespace tundish::control::network {

struct Sightings {
  std::map<ProbeWay, std::set<std::pair<std::string, std::string>>> by_way;  ///< sender, listener
  /// Positive controls within the own cluster. That a frame of one kind came through says nothing
  /// of another kind.
  std::map<ProbeWay, std::set<std::string>> was_heard, heard_own;

  bool passed(ProbeWay way, const ProbeParticipant& sender,
              const ProbeParticipant& listener) const {
    const auto found = by_way.find(way);
    return found != by_way.end() && found->second.contains({sender.id, listener.id});
  }
  bool was_heard_by_own(ProbeWay way, const ProbeParticipant& sender) const {
    const auto found = was_heard.find(way);
    return found != was_heard.end() && found->second.contains(sender.id);
  }
  bool heard_its_own(ProbeWay way, const ProbeParticipant& listener) const {
    const auto found = heard_own.find(way);
    return found != heard_own.end() && found->second.contains(listener.id);
  }
};

}  // namespace tundish::control::network
