// network: desired and observed side by side, the exact difference, proof on the wire.
#include "model/network.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "base/quote.hpp"
#include "base/text.hpp"
#include "control/network/audit.hpp"
#include "control/network/difference.hpp"
#include "control/network/freshness.hpp"
#include "control/network/intent.hpp"
#include "control/network/isolation.hpp"
#include "control/network/port_tables.hpp"
#include "control/network/probe.hpp"
#include "control/network/probe_partition.hpp"
#include "control/network/reconcile_switch.hpp"
#include "control/network/storage.hpp"
#include "edge/api/contract_network.hpp"
#include "edge/api/handlers.hpp"
#include "edge/api/partition_rows.hpp"
#include "model/firewall.hpp"
#include "model/ops/common.hpp"
#include "model/prefix.hpp"

namespace tundish::edge::api {
namespace {

namespace net_control = control::network;

std::string text_of(const VrfState& vrf) {
  std::string out = "vni " + std::to_string(vrf.l3vni) + " rd " + vrf.rd + " import " +
                    join(vrf.import_targets, ",") + " export " + join(vrf.export_targets, ",");
  for (const auto& leak : vrf.leaks) {
    out += " leak " + leak.from_vrf + " " + join(leak.prefixes, ",");
  }
  for (const auto& route : vrf.routes) out += " route " + route.prefix + " via " + route.via;
  return out;
}

std::string text_of(const SegmentState& segment) {
  return "vlan " + std::to_string(segment.vlan) + " vni " + std::to_string(segment.l2vni) +
         " gateway " + (segment.gateway.empty() ? "-" : segment.gateway) + " mtu " +
         std::to_string(segment.mtu) + " rd " + segment.rd + " import " +
         join(segment.import_targets, ",") + " export " + join(segment.export_targets, ",") +
         (segment.acl_in.empty() ? "" : " list " + segment.acl_in);
}

std::string text_of(const SwitchPortState& port) {
  switch (port.mode) {
    case PortMode::quarantine: return "quarantine";
    case PortMode::access: return "vlan " + std::to_string(port.vlan);
    case PortMode::routed: return "routed in " + port.vrf + " " + port.address;
  }
  return "";
}

std::string text_of(const AclState& acl) {
  std::string out;
  for (const auto& rule : acl.rules) {
    out += (out.empty() ? "" : "; ") +
           std::string(rule.action == AclAction::permit ? "permit " : "deny ") + rule.protocol +
           " " + (rule.source.empty() ? "any" : rule.source) + " to " +
           (rule.destination.empty() ? "any" : rule.destination);
    if (rule.port_from != 0) out += " port " + std::to_string(rule.port_from);
  }
  return out;
}

/// Builds the rows of one switch. `seen` may be nullptr: never read.
class Rows {
 public:
  Rows(std::string object, const control::SwitchObserved* seen, Instant now)
      : object_(std::move(object)), seen_(seen) {
    const bool read = seen && seen->at.is_set() && seen->reading.has_config;
    if (read) age_ms_ = (now - seen->at).ms();
    fresh_ = read && now - seen->at < net_control::stale_after;
  }

  template <class T>
  void add(const std::string& item, const T* wanted, const T* observed) {
    if (!wanted && !observed) return;
    NetworkRow row{object_,
                   item,
                   wanted ? text_of(*wanted) : "",
                   observed ? text_of(*observed) : "",
                   NetworkRowState::unknown,
                   age_ms_};
    if (fresh_) {
      if (!wanted) {
        row.state = NetworkRowState::foreign;
      } else if (!observed) {
        row.state = NetworkRowState::missing;
      } else {
        row.state = row.wanted == row.observed ? NetworkRowState::same : NetworkRowState::differs;
      }
    }
    rows.push_back(std::move(row));
  }
  const SwitchState* own() const {
    return seen_ && seen_->reading.has_config ? &seen_->reading.seen.own : nullptr;
  }

  std::vector<NetworkRow> rows;

 private:
  std::string object_;
  const control::SwitchObserved* seen_;
  std::int64_t age_ms_ = -1;
  bool fresh_ = false;
};

void add_switch_rows(const Network& network, const SwitchState& wanted, Rows& rows) {
  const SwitchState nothing;
  const SwitchState& own = rows.own() ? *rows.own() : nothing;
  const std::string vrf = vrf_name(network.status.vrf_id);
  rows.add("VRF " + vrf, find_vrf(wanted, vrf), find_vrf(own, vrf));
  for (const auto& segment : network.status.segments) {
    const auto by_vni = [&](const SwitchState& state) -> const SegmentState* {
      for (const auto& one : state.segments) {
        if (one.l2vni == segment.vni) return &one;
      }
      return nullptr;
    };
    const SegmentState* there = by_vni(wanted);
    const SegmentState* here = by_vni(own);
    rows.add("segment " + segment.name, there, here);
    for (const auto& port : wanted.ports) {
      const bool ours = there && port.mode == PortMode::access && port.vlan == there->vlan;
      const SwitchPortState* found = find_port(own, port.name);
      const bool shown =
          here && found && found->mode == PortMode::access && found->vlan == here->vlan;
      if (ours || shown) rows.add("port " + port.name, &port, found);
    }
  }
  const std::string acl = acl_name(network.status.vrf_id);
  rows.add("list " + acl, find_acl(wanted, acl), find_acl(own, acl));
}

const control::SwitchObserved* seen_switch(const control::View& view, const std::string& name) {
  const auto found = view.seen.switches.find(name);
  return found == view.seen.switches.end() ? nullptr : &found->second;
}

/// The storage's rows: an address that is granted and not wanted is as bad as one that is not.
void add_export_rows(const control::View& view, const Network& network,
                     std::vector<NetworkRow>& out) {
  const auto seen = view.seen.storage.find(network.status.fabric);
  const bool read = seen != view.seen.storage.end() && seen->second.at.is_set();
  const bool fresh = net_control::fresh_storage(view, network.status.fabric) != nullptr;
  for (const auto& row : net_control::export_rows(view, network)) {
    NetworkRow one{net_control::storage_name(network.status.fabric),
                   row.item,
                   row.wanted,
                   row.observed,
                   NetworkRowState::unknown,
                   -1};
    if (read) one.age_ms = (view.now - seen->second.at).ms();
    if (fresh && row.known == net_control::RowKnown::yes) {
      one.state = row.wanted == row.observed ? NetworkRowState::same
                  : row.wanted.empty()       ? NetworkRowState::foreign
                  : row.observed.empty()     ? NetworkRowState::missing
                                             : NetworkRowState::differs;
    }
    out.push_back(std::move(one));
  }
}

std::vector<NetworkRow> rows_of(const control::View& view, const Network& network) {
  std::vector<NetworkRow> out;
  const auto intent = net_control::intent_of(view, network.status.fabric);
  for (const auto& numbers : network.status.switches) {
    Rows rows(numbers.switch_name, seen_switch(view, numbers.switch_name), view.now);
    const auto wanted = net_control::plan_switch(intent, numbers.switch_name);
    if (wanted) {
      add_switch_rows(network, *wanted, rows);
    } else {
      // Of a switch that was not read nothing can be said, its own lacks included.
      const Switch* device = view.reg.find_named<Switch>(numbers.switch_name);
      const std::string unseen = device ? net_control::unseen_reason(view, *device) : "";
      const std::string why = unseen.empty() ? wanted.error().message() : "unreachable: " + unseen;
      rows.rows.push_back({numbers.switch_name, "all", "", why, NetworkRowState::unknown, -1});
    }
    out.insert(out.end(), rows.rows.begin(), rows.rows.end());
  }
  add_export_rows(view, network, out);
  for (auto& row : partition_rows(view, network)) out.push_back(std::move(row));
  for (const auto& sync : network.status.sync) {
    if (sync.technology != FabricTechnology::nvlink) continue;
    NetworkRow row;
    row.object = sync.object;
    row.item = "NVLink partition " + std::to_string(network.status.nvlink_partition);
    row.wanted = "version " + std::to_string(network.meta.version);
    row.observed = sync.reason;
    row.state = sync.state == SyncState::synced    ? NetworkRowState::same
                : sync.state == SyncState::unknown ? NetworkRowState::unknown
                                                   : NetworkRowState::differs;
    if (sync.observed_at.is_set()) row.age_ms = (view.now - sync.observed_at).ms();
    out.push_back(std::move(row));
  }
  return out;
}

/// What the controllers see amiss beside the rows: a line that nobody understood, or a part that
/// was not read. The rows speak of what is known only.
std::vector<std::string> reasons_of(const control::View& view, const Network& network) {
  std::vector<std::string> out;
  const auto add = [&](const NetworkSync& sync) {
    if (sync.state == SyncState::synced) return;
    const auto names = enum_names(sync.state);
    out.push_back(sync.object + ": " + std::string(names[static_cast<std::size_t>(sync.state)]) +
                  (sync.reason.empty() ? "" : ": " + sync.reason));
  };
  const auto tell = [&](const auto& verdict) {
    const auto found = verdict.sync.find(network.id);
    if (found != verdict.sync.end()) add(found->second);
  };
  const auto intent = net_control::intent_of(view, network.status.fabric);
  // Also one where it has no part, when somebody else uses its numbers there.
  std::set<std::string> places;
  for (const auto& numbers : network.status.switches) places.insert(numbers.switch_name);
  for (const auto& sync : network.status.sync) places.insert(sync.object);
  for (const auto& name : places) {
    const Switch* device = view.reg.find_named<Switch>(name);
    if (device) tell(net_control::reconcile_switch(view, intent, *device));
  }
  for (const auto& name : {network.status.partition_fabric, network.status.nvlink_fabric}) {
    const Fabric* fabric = name.empty() ? nullptr : view.reg.find_named<Fabric>(name);
    if (!fabric) continue;
    tell(net_control::reconcile_fabric(view, net_control::intent_of(view, name), *fabric));
  }
  if (const auto storage = net_control::storage_sync(view, network)) add(*storage);
  return out;
}

/// A tenant learns whether its network is in step, and nothing of switches, racks and others.
void hide_fabric(const Identity& who, NetworkReport& report) {
  if (who.tenant.empty()) return;
  report.rows.clear();
  for (auto& reason : report.reasons) reason = "a part of the fabric: the operator sees which";
  const auto same = std::unique(report.reasons.begin(), report.reasons.end());
  report.reasons.erase(same, report.reasons.end());
}

/// The network may be in step and yet be joined with another one: what joins them can be elsewhere.
/// Its tenant is told that it is, and which incident of his says so.
void tell_joined(const Registry& reg, const Network& network, NetworkReport& report) {
  for (const auto& id : reg.incidents_on({})) {
    const Incident* incident = reg.find(id);
    const bool joins = incident && incident->state == IncidentState::open && incident->blamed &&
                       incident->blamed->rule == net_control::isolation_rule;
    if (!joins) continue;
    const auto& hit = incident->allocations;
    if (std::find(hit.begin(), hit.end(), network.allocation) == hit.end()) continue;
    report.in_step = false;
    report.reasons.push_back("it was seen joined with what is not its own: tundish incident show " +
                             id.str());
  }
}

/// A description carries no state: as long as nothing else changes, nobody writes it.
void keep_descriptions(const SwitchState& seen, SwitchState& wanted) {
  for (auto& port : wanted.ports) {
    const SwitchPortState* there = find_port(seen, port.name);
    if (!there) continue;
    SwitchPortState renamed = port;
    renamed.description = there->description;
    if (renamed == *there) port = renamed;
  }
  for (auto& vrf : wanted.vrfs) {
    const VrfState* there = find_vrf(seen, vrf.name);
    if (!there) continue;
    VrfState renamed = vrf;
    renamed.description = there->description;
    if (renamed == *there) vrf = renamed;
  }
}

/// What is there, merged with what is wanted, as steps; and the audit of the outcome.
void plan_one(Backend& b, const net_control::Intent& intent, const Switch& device,
              NetworkPlan& plan, net_control::SwitchesSeen& outcome) {
  const auto view = b.parts.manager.view();
  const control::SwitchObserved* seen = seen_switch(view, device.meta.name);
  const bool fresh =
      seen && seen->reading.has_config && view.now - seen->at < net_control::stale_after;
  if (!fresh || !b.parts.plan_switch) {
    plan.unknown.push_back("switch " + device.meta.name +
                           (fresh ? " has no driver that renders" : " was not read lately"));
    return;
  }
  auto wanted = net_control::plan_switch(intent, device.meta.name);
  if (!wanted) {
    plan.unknown.push_back(wanted.error().message());
    return;
  }
  keep_descriptions(seen->reading.seen.own, *wanted);
  const auto planned = b.parts.plan_switch(device, seen->reading.seen.own, *wanted);
  if (!planned) {
    plan.findings.push_back(planned.error().message());
    return;
  }
  for (const auto& step : planned->steps) plan.steps.push_back(step);
  for (const auto& file : planned->files) plan.files.push_back(file);
  SwitchSeen after = seen->reading.seen;
  after.own = planned->read_back;
  outcome[device.meta.name] = std::move(after);
}

/// The partitions' difference of a fabric whose manager takes no text.
void plan_fabric(const control::View& view, const Fabric& fabric, NetworkPlan& plan) {
  const std::string& name = fabric.meta.name;
  const auto seen = view.seen.fabrics.find(name);
  const bool fresh = seen != view.seen.fabrics.end() && seen->second.at.is_set() &&
                     view.now - seen->second.at <= net_control::stale_after;
  if (fabric.spec.management_url.empty()) {
    plan.unknown.push_back("fabric " + name + " has no management_url: nobody drives it");
  } else if (!fresh) {
    plan.unknown.push_back("fabric " + name + " was not read lately");
  } else {
    const auto intent = net_control::intent_of(view, name);
    const auto wanted = net_control::plan_fabric(intent, name);
    for (const auto& one : net_control::differences(intent, wanted, seen->second.seen.own)) {
      plan.steps.push_back(
          {name, net_control::name_guids(intent, one.what), fabric.spec.driver, ""});
    }
    for (const auto& line : seen->second.seen.unclear) {
      plan.findings.push_back(name + ": not understood: " + line);
    }
  }
}

/// Of the one that was asked for; without a name the EVPN fabric that there is. The name "access"
/// serves where nobody declared one.
Result<std::string> choose_fabric(const Backend& b, const std::string& asked) {
  std::set<std::string> known, driven;
  for (const auto& [id, fabric] : b.reg().all<Fabric>()) {
    known.insert(fabric.meta.name);
    if (fabric.spec.technology == FabricTechnology::evpn) driven.insert(fabric.meta.name);
  }
  for (const auto& [id, device] : b.reg().all<Switch>()) {
    known.insert(net_control::fabric_of(device));
    driven.insert(net_control::fabric_of(device));
  }
  if (asked.empty() && driven.size() == 1) return *driven.begin();
  const std::string name = asked.empty() ? "access" : asked;
  if (known.contains(name)) return name;
  return make_error(Code::not_found, "fabric " + shorten(name) + " does not exist")
      .about("fabric/" + shorten(name))
      .with_remedy(known.empty()
                       ? "declare one in fabrics_file of tundishd.yaml"
                       : "there are: " + join({known.begin(), known.end()}, ", "));
}

/// What nodes are told to connect to: a plain name, four numbers, a port; nothing that a shell or a
/// resolver could make something else of.
Result<ProbeService> parse_service(const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return make_error(Code::invalid,
                      "service " + in_quotes(text) + " is not NAME=ADDRESS:PORT: " + why)
        .with_remedy("write a name, an IPv4 address and a TCP port: web=203.0.113.10:443");
  };
  const auto equals = text.find('=');
  const auto colon = text.rfind(':');
  if (equals == std::string::npos) return wrong("it has no =");
  if (colon == std::string::npos || colon < equals) return wrong("it has no port");
  const auto port = parse_integer(text.substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) return wrong("its port is no number from 1 to 65535");
  const std::string name = text.substr(0, equals);
  const std::string address = text.substr(equals + 1, colon - equals - 1);
  if (!require_valid_name("service", name)) return wrong("its name is none");
  const auto prefix = parse_prefix(address + "/32");
  if (!prefix || address.find('/') != std::string::npos) {
    return wrong("its address is no IPv4 address");
  }
  return ProbeService{name, address, static_cast<int>(*port)};
}

Result<std::vector<ProbeService>> parse_services(const std::vector<std::string>& texts) {
  std::vector<ProbeService> out;
  for (const auto& text : texts) out.push_back(TRY(parse_service(text)));
  return out;
}

Result<std::vector<ClusterId>> find_clusters(Backend& b, const Call& call,
                                             const std::vector<std::string>& names) {
  std::vector<ClusterId> out;
  for (const auto& name : names) {
    const ClusterId id = TRY((get_visible<Cluster>(b, call, name))).id;
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  }
  if (!names.empty()) return out;
  for (const auto& [id, cluster] : b.reg().all<Cluster>()) {
    if (cluster.status.phase != ClusterPhase::deleting) out.push_back(id);
  }
  return out;
}

/// A run in progress: the answers come one by one, the last one ends it.
struct ProbeRun {
  net_control::ProbePlan plan;
  std::map<std::string, net_control::ProbeAnswer> answers;
  std::vector<ClusterId> clusters;
  net_control::PathAnswers paths;
  std::size_t waiting = 0;
  Respond respond;
};

void finish_probe(Backend& b, const ProbeRun& run) {
  auto matrix = net_control::judge_probe(b.reg(), run.plan, run.answers);
  net_control::judge_partitions(b.parts.manager.view(), run.clusters, run.paths, matrix);
  run.respond(Answer{200, render_json(matrix)});
}

/// The subnet managers are asked while the nodes send and listen.
void ask_paths(Backend& b, const std::shared_ptr<ProbeRun>& run) {
  for (auto& [name, asked] : net_control::plan_paths(b.parts.manager.view(), run->clusters)) {
    const Fabric* fabric = b.reg().find_named<Fabric>(name);
    if (!fabric) continue;
    ++run->waiting;
    b.parts.manager.find_paths(
        {name, fabric->spec.management_url, fabric->spec.partitions}, std::move(asked),
        [&b, run, fabric_name = name](Result<std::vector<FabricPath>> answer) {
          run->paths.insert_or_assign(fabric_name, std::move(answer));
          if (--run->waiting == 0) finish_probe(b, *run);
        });
  }
}

control::Action probe_action(const net_control::ProbeParticipant& one) {
  control::Action action;
  action.key = "probe/" + one.probe.token + "/" + one.id;
  action.name = "probe_network";
  action.action_class = ActionClass::look;
  action.node = one.node;
  action.cluster = one.cluster;
  action.group = action.key;
  action.limit = milliseconds(one.probe.listen_ms) + seconds(20);
  VerbCall verb;
  verb.verb = Verb::probe_network;
  verb.net_probe = one.probe;
  action.act = control::VerbAct{std::move(verb)};
  return action;
}

net_control::ProbeAnswer read_answer(const Result<VerbResult>& result) {
  net_control::ProbeAnswer answer;
  if (!result || !result->ok) {
    answer.fault = result ? result->what : result.error().message();
    return answer;
  }
  const auto parsed = parse_json(result->text, answer.seen);
  answer.answered = parsed.has_value();
  if (!parsed) answer.fault = parsed.error().message();
  return answer;
}

}  // namespace

Result<Answer> report_network(Backend& b, const Call& call) {
  const Network network = TRY((get_visible<Network>(b, call, call.parts.at(0))));
  NetworkReport report;
  report.network = network.meta.name;
  const Tenant* tenant = b.reg().find(network.meta.tenant);
  report.tenant = tenant ? tenant->meta.name : network.meta.tenant.str();
  report.vrf = vrf_name(network.status.vrf_id);
  report.l3vni = network.status.l3vni;
  if (!network.status.segments.empty()) {
    const auto& segment = network.status.segments.front();
    report.segment = segment.name;
    report.prefix = segment.prefix;
    report.gateway = segment.gateway;
    report.vni = segment.vni;
  }
  if (network.status.pkey != 0) report.partition = partition_name(network.status.vrf_id);
  for (const auto& rule : network.spec.firewall) {
    report.firewall.push_back(render_firewall_rule(rule));
  }
  report.access_address = network.status.access_address;
  for (const auto& rule : network.spec.access) report.access.push_back(render_access_rule(rule));
  const auto view = b.parts.manager.view();
  report.rows = rows_of(view, network);
  report.reasons = reasons_of(view, network);
  report.in_step = !report.rows.empty() && report.reasons.empty() &&
                   std::all_of(report.rows.begin(), report.rows.end(), [](const NetworkRow& row) {
                     return row.state == NetworkRowState::same;
                   });
  hide_fabric(call.who, report);
  tell_joined(b.reg(), network, report);
  return Answer{200, render_json(report)};
}

Result<Answer> plan_networks(Backend& b, const Call& call) {
  const std::string fabric = TRY(choose_fabric(b, call.query("fabric")));
  const auto view = b.parts.manager.view();
  NetworkPlan plan;
  const Fabric* declared = b.reg().find_named<Fabric>(fabric);
  if (declared && declared->spec.technology != FabricTechnology::evpn) {
    plan_fabric(view, *declared, plan);
    return Answer{200, render_json(plan)};
  }
  const auto intent = net_control::intent_of(view, fabric);
  net_control::SwitchesSeen outcome;
  bool any = false;
  for (const auto& [id, device] : b.reg().all<Switch>()) {
    if (net_control::fabric_of(device) != fabric) continue;
    any = true;
    plan_one(b, intent, device, plan, outcome);
  }
  if (!any) plan.unknown.push_back("no switch of fabric " + fabric + " is in the inventory");
  for (const auto& finding : net_control::audit(intent, outcome, {})) {
    plan.findings.push_back(finding.switch_name + ": " + finding.object + ": " + finding.what);
  }
  return Answer{200, render_json(plan)};
}

Result<Answer> list_switch_drivers(Backend& b, const Call&) {
  std::vector<AnyDescribed> items;
  for (const auto& info : b.parts.switch_drivers) items.push_back(describe_const(info));
  return Answer{200, render_json_list(items)};
}

void probe_networks(Backend& b, const Call& call, Respond respond) {
  const auto asked = parse_body<ProbeRequest>(call);
  if (!asked) return respond(asked.error());
  const auto services = parse_services(asked->services);
  if (!services) return respond(services.error());
  const auto clusters = find_clusters(b, call, asked->clusters);
  if (!clusters) return respond(clusters.error());
  auto run = std::make_shared<ProbeRun>();
  const std::string token = b.parts.random.hex(8);
  run->plan = net_control::plan_probe(b.parts.manager.view(), *clusters, token, *services);
  if (call.is_dry_run()) {
    return respond(Answer{200, render_json(net_control::rehearse_probe(b.reg(), run->plan))});
  }
  run->respond = std::move(respond);
  run->clusters = *clusters;
  run->waiting = run->plan.participants.size() + 1;  // ended by this call
  ask_paths(b, run);
  for (const auto& one : run->plan.participants) {
    b.parts.manager.order(probe_action(one),
                          [&b, run, id = one.id](const Result<VerbResult>& result) {
                            run->answers[id] = read_answer(result);
                            if (--run->waiting == 0) finish_probe(b, *run);
                          });
  }
  if (--run->waiting == 0) finish_probe(b, *run);
}

}  // namespace tundish::edge::api
