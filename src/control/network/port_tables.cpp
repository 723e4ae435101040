#include "control/network/port_tables.hpp"

#include <algorithm>
#include <cstdio>

namespace tundish::control::network {
namespace {

constexpr std::size_t guid_length = 18;

bool is_own(const FabricOwnership& ownership, int pkey) {
  return pkey >= ownership.pkey_from && pkey <= ownership.pkey_to;
}

const FabricPort* find_port(const FabricObserved& seen, const std::string& guid) {
  for (const auto& port : seen.ports) {
    if (port.guid == guid) return &port;
  }
  return nullptr;
}

std::string owner_of(const Intent& intent, const std::string& guid) {
  const auto device = intent.guids.find(guid);
  return device == intent.guids.end() ? "not in the inventory" : device->second.node;
}

class Finder {
 public:
  Finder(const Intent& intent, const FabricOwnership& ownership, const FabricObserved& seen)
      : intent_(intent), ownership_(ownership), seen_(seen) {}

  PortFindings run(const std::string& fabric) {
    for (const auto& port : seen_.ports) {
      if (port.has_table) add_strangers(port);
    }
    add_foreign();
    for (std::size_t i = 0; i < intent_.networks.size(); ++i) {
      const auto& network = intent_.networks[i];
      if (network.partition_fabric != fabric) continue;
      for (const auto& guid : network.guids) add_doubts(static_cast<int>(i), guid);
    }
    return std::move(out_);
  }

 private:
  /// Partitions of ours that the port carries and must not.
  void add_strangers(const FabricPort& port) {
    for (const auto& entry : port.pkeys) {
      if (!is_own(ownership_, entry.pkey)) continue;
      Difference found;
      found.there = true;
      const auto owner = intent_.by_pkey.find(entry.pkey);
      const bool known = owner != intent_.by_pkey.end();
      if (known) {
        const auto& network = intent_.networks[static_cast<std::size_t>(owner->second)];
        if (network.guids.contains(port.guid)) continue;
        found.networks.insert(owner->second);
        found.what = " of " + network.label;
      }
      const auto device = intent_.guids.find(port.guid);
      if (device != intent_.guids.end() && device->second.network != nobody) {
        found.networks.insert(device->second.network);
      }
      found.what = "port " + port.guid + " carries PKey " + pkey_text(entry.pkey) + found.what +
                   " and must not";
      out_.differences.push_back(std::move(found));
    }
  }

  /// Keys that nobody gave them: whoever wrote such a partition joins its members, whatever the
  /// range of the key. Members that are all limited do not hear each other.
  void add_foreign() {
    struct Carriers {
      std::map<int, std::vector<std::string>> ports;  ///< by network
      bool some_full = false;
    };
    std::map<int, Carriers> keys;
    for (const auto& port : seen_.ports) {
      const auto device = intent_.guids.find(port.guid);
      if (device == intent_.guids.end() || device->second.network == nobody) continue;
      for (const auto& entry : port.has_table ? port.pkeys : std::vector<PkeyObserved>{}) {
        if (entry.pkey == default_pkey || is_own(ownership_, entry.pkey)) continue;
        Carriers& carriers = keys[entry.pkey];
        carriers.ports[device->second.network].push_back(port.guid);
        carriers.some_full = carriers.some_full || entry.membership == IbMembership::full;
      }
    }
    for (const auto& [pkey, carriers] : keys) {
      Difference all;
      std::vector<std::string> told;
      for (const auto& [index, ports] : carriers.ports) {
        if (!carriers.some_full) add_foreign(pkey, {index}, ports);
        all.networks.insert(index);
        told.insert(told.end(), ports.begin(), ports.end());
      }
      if (carriers.some_full) add_foreign(pkey, all.networks, told);
    }
  }

  void add_foreign(int pkey, const std::set<int>& networks, std::vector<std::string> ports) {
    constexpr std::size_t most = 4;
    std::sort(ports.begin(), ports.end());
    std::string text = "PKey " + pkey_text(pkey) + " that is none of ours is on";
    for (std::size_t i = 0; i < ports.size() && i < most; ++i) {
      text += (i == 0 ? " port " : ", port ") + ports[i];
    }
    if (ports.size() > most) text += " and " + std::to_string(ports.size() - most) + " more";
    out_.differences.push_back({text, networks, true});
  }

  void add_doubts(int index, const std::string& guid) {
    const int pkey = intent_.networks[static_cast<std::size_t>(index)].pkey;
    const auto tell = [&](const std::string& what) {
      out_.doubts[index].push_back("port " + guid + " " + what);
    };
    switch (carries(seen_, guid, pkey)) {
      case Carries::yes:
        if (carries(seen_, guid, default_pkey) == Carries::yes && is_full(guid)) {
          tell("is a full member of the default partition");
        }
        return;
      case Carries::no: return tell("does not carry PKey " + pkey_text(pkey) + " yet");
      case Carries::silent: return tell("did not answer");
      case Carries::down: return tell("is down");
    }
  }

  bool is_full(const std::string& guid) const {
    const FabricPort* port = find_port(seen_, guid);
    return port && std::any_of(port->pkeys.begin(), port->pkeys.end(), [](const auto& entry) {
             return entry.pkey == default_pkey && entry.membership == IbMembership::full;
           });
  }

  const Intent& intent_;
  const FabricOwnership& ownership_;
  const FabricObserved& seen_;
  PortFindings out_;
};

}  // namespace

Carries carries(const FabricObserved& seen, const std::string& guid, int pkey) {
  const FabricPort* port = find_port(seen, guid);
  if (!port) return Carries::down;
  if (!port->has_table) return Carries::silent;
  const bool there = std::any_of(port->pkeys.begin(), port->pkeys.end(),
                                 [&](const PkeyObserved& one) { return one.pkey == pkey; });
  return there ? Carries::yes : Carries::no;
}

bool is_elsewhere(const FabricObserved& seen, const FabricOwnership& ownership,
                  const std::string& guid, int pkey) {
  const bool named = std::any_of(
      seen.seen.own.partitions.begin(), seen.seen.own.partitions.end(), [&](const auto& partition) {
        return partition.pkey != pkey &&
               std::any_of(partition.members.begin(), partition.members.end(),
                           [&](const IbMember& member) { return member.guid == guid; });
      });
  const FabricPort* port = find_port(seen, guid);
  return named ||
         (port && std::any_of(port->pkeys.begin(), port->pkeys.end(), [&](const auto& one) {
            return one.pkey != pkey && is_own(ownership, one.pkey);
          }));
}

std::string stranger_in(const FabricObserved& seen, const FabricOwnership& ownership,
                        const std::string& guid, int pkey) {
  for (const auto& partition : seen.seen.own.partitions) {
    const bool named = std::any_of(partition.members.begin(), partition.members.end(),
                                   [&](const IbMember& member) { return member.guid == guid; });
    if (named && partition.pkey != pkey) return "is still listed in partition " + partition.name;
  }
  const FabricPort* port = find_port(seen, guid);
  if (!port) return "";
  if (!port->has_table) return "did not answer";
  for (const auto& entry : port->pkeys) {
    if (entry.pkey == default_pkey && entry.membership == IbMembership::full) {
      return "is a full member of the default partition";
    }
    if (entry.pkey == pkey || entry.pkey == default_pkey) continue;
    return is_own(ownership, entry.pkey)
               ? "still carries PKey " + pkey_text(entry.pkey)
               : "carries PKey " + pkey_text(entry.pkey) + ", which is none of ours";
  }
  return "";
}

PortFindings look_at_ports(const Intent& intent, const std::string& fabric,
                           const FabricOwnership& ownership, const FabricObserved& seen) {
  if (!seen.has_tables) return {};
  return Finder(intent, ownership, seen).run(fabric);
}

std::string pkey_text(int pkey) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%04x", static_cast<unsigned>(pkey) & 0xffffU);
  return text;
}

std::string name_guids(const Intent& intent, const std::string& text) {
  std::string out;
  std::size_t from = 0;
  while (from < text.size()) {
    const auto at = text.find("0x", from);
    const auto end =
        at == std::string::npos ? at : text.find_first_not_of("0123456789abcdef", at + 2);
    const std::size_t stop = std::min(end, text.size());
    out += text.substr(from, stop - from);
    if (at != std::string::npos && stop - at == guid_length) {
      out += " (" + owner_of(intent, text.substr(at, guid_length)) + ")";
    }
    from = stop;
  }
  return out;
}

}  // namespace tundish::control::network
