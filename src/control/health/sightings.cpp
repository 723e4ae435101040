#include "control/health/sightings.hpp"

#include <algorithm>
#include <set>

#include "control/cluster/drained.hpp"
#include "control/health/carriers.hpp"
#include "control/health/gather.hpp"
#include "model/ops/incident_proof.hpp"
#include "model/ops/recent_events.hpp"

namespace tundish::control::health {
namespace {

/// Shares of time, 1/100 percent, from which a lack of CPU explains that others are late. PSI's
/// "some" is high on every busy node, and an agent that wakes up for a moment waits often.
constexpr std::int64_t strained_some = 4000;
constexpr std::int64_t strained_wait = 5000;
/// Pressure is told when it crosses a mark: when it began is known no better.
constexpr Duration pressure_age = seconds(30);

std::string percent(std::int64_t hundredths) { return std::to_string(hundredths / 100) + " %"; }

bool is_forgeable(Provenance provenance) { return provenance == Provenance::userspace; }

/// "mlx5_0/1" is port 1 of what the inventory calls mlx5_0.
std::string device_name(const Node& node, const std::string& device) {
  const std::string head = device.substr(0, device.find('/'));
  const bool is_port = std::any_of(node.spec.ports.begin(), node.spec.ports.end(),
                                   [&](const Port& port) { return port.name == head; });
  return is_port ? head : device;
}

Sighting sighting_on(const Node& node, Resource part, std::string what) {
  Sighting s;
  s.node = node.id;
  s.part = part;
  s.what = std::move(what);
  return s;
}

void add_strain(const Node& node, Instant first, Instant last, std::string says,
                std::vector<Sighting>& out) {
  Sighting s = sighting_on(node, Resource::cpu, "pressure");
  s.first = first;
  s.last = last;
  s.says = std::move(says);
  out.push_back(std::move(s));
}

Level level_of(VerdictState state) {
  if (state == VerdictState::fail) return Level::fail;
  return state == VerdictState::warn ? Level::warn : Level::note;
}

void add_verdict(const View& view, const Node& node, const Verdict& verdict,
                 std::vector<Sighting>& out) {
  const bool starved =
      verdict.state == VerdictState::unknown && verdict.reason.starts_with("starved");
  if (verdict.state == VerdictState::ok) return;
  if (verdict.state == VerdictState::unknown && !starved) return;
  Sighting s = sighting_on(node, verdict.watches, verdict.check);
  s.device = device_name(node, verdict.device);
  s.first = verdict.since.is_set() ? verdict.since : verdict.at;
  s.last = view.now;
  s.level = level_of(verdict.state);
  s.locality = starved ? Locality::symptom : verdict.locality;
  s.starved = starved;
  s.says = verdict.reason;
  if (s.part == Resource::storage_server) {  // a client's word of its server
    s.part = Resource::storage_client;
    s.subject = std::exchange(s.device, "");
  }
  if (s.part == Resource::link && verdict.reason.starts_with(carrier_words)) {
    s.counted_at = verdict.at;
  }
  // Errors that ports count are the adapter's until something behind or before it explains them.
  if (verdict.check == "ib_counters") s.part = Resource::nic;
  // Where NVLink reaches beyond the node, its managers speak for the domain.
  const bool wide = verdict.check == "imex" || verdict.check == "nvswitch_fabric";
  if (wide && shares_domain(view.reg, node.id)) {
    s.locality = Locality::symptom;
    s.of_switch_domain = s.level == Level::fail;
    s.part = Resource::nvlink;
  }
  if (starved) add_strain(node, s.first, s.last, verdict.check + " " + verdict.reason, out);
  out.push_back(std::move(s));
}

void add_pressure(const View& view, const Node& node, std::vector<Sighting>& out) {
  if (!node.status.pressure) return;
  const Pressure& p = *node.status.pressure;
  const Instant first = view.now - pressure_age;
  if (p.cpu_some && *p.cpu_some >= strained_some) {
    add_strain(node, first, view.now,
               "tasks waited " + percent(*p.cpu_some) + " of the time for a CPU", out);
  }
  if (p.run_queue_wait && *p.run_queue_wait >= strained_wait) {
    add_strain(node, first, view.now,
               "the agent itself waited " + percent(*p.run_queue_wait) + " of the time for a CPU",
               out);
  }
}

struct Kind {
  KernelEventKind kind;
  Resource part;
  Level level;
  std::string_view says;
};
constexpr Kind kinds[] = {
    {KernelEventKind::fallen_off_bus, Resource::gpu, Level::note, "the GPU fell off the bus"},
    {KernelEventKind::oom, Resource::memory, Level::fail, "the kernel ran out of memory"},
    {KernelEventKind::hung_task, Resource::process, Level::note, "tasks wait for over 120 s"},
    {KernelEventKind::soft_lockup, Resource::cpu, Level::fail, "a CPU did not schedule"},
    {KernelEventKind::hard_lockup, Resource::cpu, Level::fail, "a CPU is stuck"},
    {KernelEventKind::rcu_stall, Resource::cpu, Level::fail, "a CPU is stalled"},
    {KernelEventKind::io_error, Resource::disk, Level::note, "a disk reported an error"},
    {KernelEventKind::server_silent, Resource::storage_client, Level::warn,
     "the storage server does not answer"},
    {KernelEventKind::client_evicted, Resource::storage_client, Level::warn,
     "the storage server gave the client up"},
    {KernelEventKind::link_down, Resource::link, Level::note, "the link went down"},
    {KernelEventKind::nic_fault, Resource::nic, Level::note, "the adapter reported a fault"},
    {KernelEventKind::pcie_error, Resource::pcie, Level::note, "PCIe reported an error"}};

std::optional<Sighting> sighting_of(const Node& node, const RecentEvent& event) {
  Sighting s = sighting_on(node, Resource::unknown, "");
  s.device = event.device;
  s.first = event.first;
  s.last = event.last;
  s.run_began = event.run_began;
  s.origin = Origin::event;
  s.trust = is_forgeable(event.provenance) ? Trust::forgeable : Trust::hardware;
  s.level = event.deferred ? Level::fail : Level::note;
  s.parent_code = event.parent_code;
  const std::string times = event.count > 1 ? ", " + std::to_string(event.count) + " times" : "";
  if (event.kind == KernelEventKind::xid) {
    s.part = part_of_xid(event.code);
    s.code = event.code;
    s.what = "xid " + std::to_string(event.code);
    s.says = "the kernel reports " + s.what + times;
    constexpr int recover_imex =
        5;  // Source: NVML field 230, facts/health.md section 1; checked 2026-11
    s.of_switch_domain = event.recovery_action == recover_imex;
    return s;
  }
  if (event.kind == KernelEventKind::sxid) {
    s.part = Resource::nvswitch;
    s.sxid = event.code;
    s.what = "sxid " + std::to_string(event.code);
    s.says = "the kernel reports " + s.what + times;
    return s;
  }
  for (const auto& known : kinds) {
    if (known.kind != event.kind) continue;
    s.part = known.part;
    s.level = known.level;
    s.what = std::string(enum_names(event.kind)[static_cast<std::size_t>(event.kind)]);
    s.says = std::string(known.says) + times;
    const bool names_target = s.part == Resource::storage_client;
    (names_target ? s.subject : s.device) =
        event.subject.empty() ? s.device : device_name(node, event.subject);
    if (names_target) s.device.clear();
    return s;
  }
  return std::nullopt;
}

/// A server that answers again takes back what was said of it.
bool is_taken_back(const RecentEvent& event, const std::vector<RecentEvent>& all) {
  const auto is_end = [&](KernelEventKind begin, KernelEventKind end) {
    return event.kind == begin && std::any_of(all.begin(), all.end(), [&](const auto& other) {
             return other.kind == end && other.subject == event.subject && other.last >= event.last;
           });
  };
  return is_end(KernelEventKind::server_silent, KernelEventKind::server_back);
}

/// A GPU that fails after a repair that passed fails anew: what was told of it before, in whatever
/// boot, was answered and explains nothing of that.
void drop_mended(std::vector<Sighting>& list, Instant repaired) {
  std::vector<Sighting> fresh;
  std::copy_if(list.begin(), list.end(), std::back_inserter(fresh), [&](const Sighting& s) {
    return is_gpu_part(s.part) && s.origin == Origin::event && s.trust == Trust::hardware &&
           s.last > repaired;
  });
  std::erase_if(list, [&](const Sighting& s) {
    const Instant told = s.origin == Origin::event ? s.last : s.first;
    if (!is_gpu_part(s.part) || told > repaired) return false;
    return std::any_of(fresh.begin(), fresh.end(), [&](const Sighting& one) {
      return one.device == s.device || one.device.empty() || s.device.empty();
    });
  });
}

/// Measured while the node was not heard, and told afterwards: it may be no more than what cut the
/// node off. Until its checks have looked again; the time of the measurement is the node's own.
bool is_of_silence(const Verdict& verdict, Instant heard_since, Instant now) {
  return heard_since.is_set() && verdict.locality == Locality::symptom &&
         verdict.at < heard_since && verdict.since >= heard_since &&
         now < heard_since + BlameTimes{}.look;
}

Instant heard_without_break(const View& view, const NodeId& node) {
  const auto presence = view.seen.presence.find(node);
  return presence == view.seen.presence.end() ? Instant{} : presence->second.heard_since;
}

std::vector<Sighting> all_sightings(const View& view, const Node& node, Instant repaired) {
  std::vector<Sighting> out;
  // Of an agent that is silent nothing is known any more, neither good nor bad.
  if (is_present(view, node.id) && node.status.verdicts_boot == node.status.boot_id) {
    const Instant since = heard_without_break(view, node.id);
    for (const auto& verdict : node.status.verdicts) {
      if (!is_of_silence(verdict, since, view.now)) add_verdict(view, node, verdict, out);
    }
    add_pressure(view, node, out);
  }
  auto shown = bmc_sightings_of(view, node);  // the agent may be silent
  out.insert(out.end(), std::make_move_iterator(shown.begin()),
             std::make_move_iterator(shown.end()));
  const AgentCursor* cursor = view.reg.find(Id<AgentCursor>(node.id.str()));
  if (!cursor) return out;
  for (const auto& event : cursor->recent) {
    if (view.now - event.last > events_age_limit || is_taken_back(event, cursor->recent)) continue;
    // What still stands a look after a repair that passed does not come of what was before it.
    const bool mended = repaired.is_set() && event.last <= repaired;
    if (mended && view.now - repaired > BlameTimes{}.look) continue;
    auto s = sighting_of(node, event);
    if (!s) continue;
    s->answered = mended;
    // One that came again after the repair began with that.
    const bool again = repaired.is_set() && !mended && s->first <= repaired;
    if (again) s->first = std::max(s->first, std::min(event.run_began, event.last));
    out.push_back(std::move(*s));
  }
  if (repaired.is_set()) drop_mended(out, repaired);
  return out;
}

/// From when the link of a port says something. In quarantine it is down because we hold it there;
/// after a change of ours until the node has looked again.
Instant port_counts_at(const View& view, const Node& node, const Port& port) {
  const auto segment = seen_segment(view, port_of(view, node, port.name));
  if (segment && segment->empty()) return never;
  const auto changed = view.seen.port_changed.find({port.switch_name, port.switch_port});
  const bool touched = changed != view.seen.port_changed.end();
  return touched ? changed->second + BlameTimes{}.look : Instant{};
}

/// Of what a check says: all ports of the node that it may speak of.
Instant link_counts_at(const View& view, const Node& node, const std::string& device) {
  Instant out;
  for (const auto& port : node.spec.ports) {
    const bool meant = device.empty() || port.name == device;
    if (!meant || port.switch_name.empty()) continue;
    const Instant at = port_counts_at(view, node, port);
    if (at != never) {
      out = std::max(out, at);
    } else if (!device.empty()) {
      return never;
    }
  }
  return out;
}

/// Of a storage that the node is no client of, or that we take it away from: all nodes of a cluster
/// that is deleted at once, one that leaves when its jobs are over.
bool was_taken_away(const View& view, const Node& node, const Sighting& s) {
  const Allocation* held = view.reg.find(node.status.allocation);
  if (!held) return true;
  for (const auto& member : held->status.nodes) {
    if (member.node != node.id) continue;
    if (!member.joined) return true;  // unmounted, or not mounted yet
    const bool leaves = member.role == MemberRole::leaving;
    if (leaves && s.first >= member.since && is_drained(view, node)) return true;
  }
  const bool deleted = held->status.phase == AllocationPhase::releasing;
  return deleted && s.first >= held->status.phase_since;
}

/// From when a storage that does not answer counts against the node: its tenant's network was
/// changed by somebody on a leaf of the node or of the storage, as the manager notes.
Instant storage_counts_at(const View& view, const Node& node) {
  const Allocation* held = view.reg.find(node.status.allocation);
  const Network* network = held ? view.reg.find(held->status.network) : nullptr;
  if (!network) return {};
  std::set<std::string> on_way;
  for (const auto& port : node.spec.ports) on_way.insert(port.switch_name);
  const Fabric* fabric = view.reg.find_named<Fabric>(network->status.fabric);
  for (const auto& port : fabric ? fabric->spec.storage_ports : std::vector<StoragePort>{}) {
    on_way.insert(port.switch_name);
  }
  Instant out;
  for (const auto& sync : network->status.sync) {
    if (!on_way.contains(sync.object)) continue;
    const auto changed = view.seen.port_changed.find({sync.object, network->id.str()});
    const bool known = changed != view.seen.port_changed.end();
    if (sync.state == SyncState::drifted) out = view.now + BlameTimes{}.look;
    if (known) out = std::max(out, changed->second + BlameTimes{}.look);
  }
  return out;
}

/// It left its tenant and is reset, restarted and proved: its links come and go with that, and its
/// own proof looks at them.
bool is_under_repair(const View& view, const Node& node) {
  return node.status.allocation.empty() && !view.reg.incidents_on(node.id).empty();
}

}  // namespace

std::vector<Sighting> bmc_sightings_of(const View& view, const Node& node) {
  std::vector<Sighting> out;
  for (const auto& verdict : node.status.bmc_verdicts) add_verdict(view, node, verdict, out);
  return out;
}

Instant speaks_of_leaf(const View& view, const Node& node, const std::string& switch_name) {
  if (is_under_repair(view, node)) return never;
  Instant out = never;
  for (const auto& port : node.spec.ports) {
    if (port.switch_name == switch_name) out = std::min(out, port_counts_at(view, node, port));
  }
  return out;
}

NodeSightings sightings_of(const View& view, const Node& node, Instant repaired) {
  NodeSightings out{all_sightings(view, node, repaired), {}};
  const Instant since = heard_without_break(view, node.id);
  const auto& told = node.status.verdicts;
  const bool waits = std::any_of(told.begin(), told.end(), [&](const Verdict& verdict) {
    return is_of_silence(verdict, since, view.now);
  });
  if (waits) out.wake_at = since + BlameTimes{}.look;
  const bool ours = is_under_repair(view, node);
  std::erase_if(out.list, [&](const Sighting& s) {
    if (s.part == Resource::storage_client) {
      if (was_taken_away(view, node, s)) return true;
      const Instant counts_at = storage_counts_at(view, node);
      if (counts_at <= view.now) return false;
      if (!out.wake_at.is_set() || counts_at < out.wake_at) out.wake_at = counts_at;
      return true;
    }
    // We end the daemons of a cluster too, before the agent hears that none is expected.
    if (s.part == Resource::service && s.what == "services") return was_taken_away(view, node, s);
    if (s.part != Resource::link) return false;
    if (ours) return true;
    Instant counts_at = link_counts_at(view, node, s.device);
    if (counts_at == never) return true;
    // A port that our restart took down is told of as down until the next look at it.
    if (repaired.is_set() && s.first <= repaired) {
      counts_at = std::max(counts_at, repaired + BlameTimes{}.look);
    }
    // For as long as they are counted.
    if (s.counted_at.is_set() && s.counted_at <= counts_at) return true;
    if (counts_at <= view.now) return false;
    if (!out.wake_at.is_set() || counts_at < out.wake_at) out.wake_at = counts_at;
    return true;
  });
  return out;
}

}  // namespace tundish::control::health
