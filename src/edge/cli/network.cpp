// network: list, show, plan, probe.
#include "model/network.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>

#include "base/text.hpp"
#include "control/network/isolation.hpp"
#include "control/network/probe.hpp"
#include "edge/api/contract_network.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/probe_text.hpp"
#include "edge/cli/progress.hpp"
#include "edge/cli/simple_kind.hpp"
#include "model/incident.hpp"

namespace tundish::edge::cli {
namespace {

/// What a mark means, and what a row that is not as wanted says.
const char* const legend =
    "= as wanted, ! differs, - missing, + there and not wanted, ? not seen lately";

std::string fault_of(NetworkRowState state) {
  switch (state) {
    case NetworkRowState::same: return "as wanted";
    case NetworkRowState::differs: return "differs";
    case NetworkRowState::missing: return "missing";
    case NetworkRowState::foreign: return "there and not wanted";
    case NetworkRowState::unknown: return "unknown";
  }
  return "unknown";
}

std::string sign_of(NetworkRowState state) {
  switch (state) {
    case NetworkRowState::same: return "=";
    case NetworkRowState::differs: return "!";
    case NetworkRowState::missing: return "-";
    case NetworkRowState::foreign: return "+";
    case NetworkRowState::unknown: return "?";
  }
  return "?";
}

/// A tree: the network, its switches, and on each what is wanted beside what was seen.
std::string render_tree(const NetworkReport& report) {
  std::string out = report.tenant + "/" + report.network + "  " + report.vrf + "  VNI " +
                    std::to_string(report.l3vni) + "\n  segment " + report.segment + "  VNI " +
                    std::to_string(report.vni) + "  " + report.prefix + "  gateway " +
                    or_dash(report.gateway) + "\n";
  if (!report.partition.empty()) out += "  InfiniBand partition " + report.partition + "\n";
  for (const auto& rule : report.firewall) out += "  firewall: " + rule + "\n";
  if (!report.access_address.empty()) {
    out += "  gateway " + report.access_address + " lets in " +
           (report.access.empty() ? "nobody" : join(report.access, ", ")) + "\n";
  }
  if (report.firewall.empty()) out += "  firewall: deny ip@0.0.0.0/0 (no rule was ordered)\n";
  std::string last;
  for (const auto& row : report.rows) {
    if (row.object != last) out += "  " + row.object + "  (" + age_text(row.age_ms) + ")\n";
    last = row.object;
    out += "    " + sign_of(row.state) + " " + row.item + "  " + or_dash(row.wanted) + "\n";
    if (row.state != NetworkRowState::same) {
      out += "        " + fault_of(row.state) + ": " +
             (row.observed.empty() ? "nothing was seen" : row.observed) + "\n";
    }
  }
  if (!report.rows.empty()) out += std::string("  ") + legend + "\n";
  for (const auto& reason : report.reasons) out += "not in step: " + reason + "\n";
  return out + (report.in_step ? "in step, as seen\n" : "NOT in step, or not seen lately\n");
}

std::string render_steps(const NetworkPlan& plan) {
  std::string out;
  std::string last;
  for (const auto& step : plan.steps) {
    if (step.object != last) out += "--- " + step.object + "\n";
    last = step.object;
    out += "# " + step.what + (step.file.empty() ? "" : "  [" + step.file + "]") + "\n" + step.text;
    if (!step.text.empty() && step.text.back() != '\n') out += "\n";
  }
  if (plan.steps.empty() && plan.unknown.empty()) out += "no difference\n";
  if (plan.steps.empty() && !plan.unknown.empty()) out += "no difference on what was read\n";
  for (const auto& finding : plan.findings) out += "AUDIT: " + finding + "\n";
  for (const auto& unknown : plan.unknown) out += "UNKNOWN: " + unknown + "\n";
  return out;
}

Result<> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return {};
  return make_error(Code::invalid, "cannot write " + path)
      .with_remedy("give --out a folder that may be made and written");
}

/// One line for each switch, where the texts themselves went into a folder.
std::string render_summary(const NetworkPlan& plan) {
  std::map<std::string, std::pair<int, int>> counts;  // object -> steps, files
  for (const auto& step : plan.steps) ++counts[step.object].first;
  for (const auto& file : plan.files) ++counts[file.object].second;
  std::string out;
  for (const auto& [object, count] : counts) {
    out += object + ": " + (count.first == 0 ? "no difference" : count_of(count.first, "step")) +
           ", " + count_of(count.second, "file") + "\n";
  }
  for (const auto& finding : plan.findings) out += "AUDIT: " + finding + "\n";
  for (const auto& unknown : plan.unknown) out += "UNKNOWN: " + unknown + "\n";
  return out;
}

/// OBJECT.FILE for each text, and manifest.json that names them.
Result<> write_plan(const std::string& folder, const NetworkPlan& plan, const std::string& body) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return make_error(Code::invalid, "cannot make the folder " + folder + ": " + failed.message())
        .with_remedy("give --out a folder that may be made and written");
  }
  for (const auto& file : plan.files) {
    TRY_VOID(write_text(folder + "/" + file.object + "." + file.name, file.text));
  }
  return write_text(folder + "/manifest.json", indent_json(body));
}

Result<int> plan(Context& context, const std::string& fabric, const std::string& folder) {
  const ApiClient client = TRY(context.connect());
  const std::string body = TRY(client.get("/v1/network-plan?fabric=" + escape_word(fabric)));
  const auto got = TRY(parse_object<NetworkPlan>(body));
  if (!folder.empty()) {
    TRY_VOID(write_plan(folder, got, body));
    context.note(count_of(static_cast<int>(got.files.size()), "file") +
                 " and manifest.json are in " + folder +
                 "; what works is steps[].text of the manifest, run in order");
  }
  const int shown = TRY(show_object<NetworkPlan>(context, body,
                                                 folder.empty() ? render_steps : render_summary));
  if (!got.findings.empty()) return exit_refused;
  return got.unknown.empty() ? shown : exit_unknown;
}

Result<int> probe(Context& context, const ProbeRequest& request) {
  const ApiChange change{"POST", "/v1/network-probe", render_json(request)};
  const ApiClient client = TRY(context.connect());
  const std::string planned = TRY(client.rehearse(change));
  if (context.settings().dry_run) {
    return show_object<control::network::ProbeMatrix>(context, planned, render_probe_plan);
  }
  const auto plan = TRY(parse_object<control::network::ProbeMatrix>(planned));
  context.note(announce_probe(plan));
  const auto body = TRY(with_progress(context, "still waits for the answers",
                                      [&] { return context.change(change); }));
  if (!body) return exit_done;
  TRY(show_object<control::network::ProbeMatrix>(context, *body, render_matrix));
  return probe_exit(TRY(parse_object<control::network::ProbeMatrix>(*body)));
}

std::string worst_of(const Network& network) {
  if (network.status.sync.empty()) return "-";
  for (const SyncState bad : {SyncState::drifted, SyncState::unknown, SyncState::pending,
                              SyncState::applying, SyncState::planned}) {
    for (const auto& sync : network.status.sync) {
      // A tenant is not told where.
      if (sync.state == bad) return word(bad) + (sync.object.empty() ? "" : " on " + sync.object);
    }
  }
  return "synced";
}

/// Open incidents that say of a cluster that it was seen joined with somebody, by its allocation;
/// nullopt: they could not be read.
std::optional<std::map<AllocationId, std::string>> load_joined(const ApiClient& client) {
  const auto incidents = get_objects<Incident>(client, api_path({"incidents"}));
  if (!incidents) return std::nullopt;
  std::map<AllocationId, std::string> out;
  for (const auto& incident : *incidents) {
    const bool joins = incident.state == IncidentState::open &&
                       incident.fault.starts_with(control::network::isolation_rule);
    if (!joins) continue;
    for (const auto& id : incident.allocations) out.emplace(id, name_of(incident));
  }
  return out;
}

}  // namespace

void add_network(Command root, Context& context) {
  Command noun = root.noun("network", "networks of clusters: desired, observed, proved");
  add_list<Network>(noun, context, {"networks", "network"}, [](const ApiClient& client) {
    const Names tenants = load_names<Tenant>(client, "tenants");
    const auto joined = load_joined(client);
    return Listing<Network>{{"NAME", "TENANT", "VRF", "SEGMENT", "PREFIX", "PARTITION", "STATE"},
                            [tenants, joined](const Network& network) -> Cells {
                              const auto& status = network.status;
                              std::string also = joined ? "" : ", joined: unknown";
                              if (joined && joined->contains(network.allocation)) {
                                also = ", joined: " + joined->at(network.allocation);
                              }
                              return {
                                  name_of(network),
                                  name_in(tenants, network.meta.tenant.str()),
                                  vrf_name(status.vrf_id),
                                  status.segments.empty() ? "-" : status.segments.front().name,
                                  status.segments.empty() ? "-" : status.segments.front().prefix,
                                  status.pkey == 0 ? "-" : partition_name(status.vrf_id),
                                  worst_of(network) + also};
                            }};
  });
  Command show = noun.verb("show",
                           "desired and observed side by side, with the age of each look; exit 4: "
                           "not in step, or not seen lately");
  const auto name = std::make_shared<std::string>();
  show.take({"name", "name of the cluster, or id of the network", Need::required}, *name);
  show.run([&context, name]() -> Result<int> {
    const ApiClient client = TRY(context.connect());
    const std::string body = TRY(client.get(api_path({"networks", *name, "report"})));
    const auto report = TRY(parse_object<NetworkReport>(body));
    const int shown = TRY(show_object<NetworkReport>(context, body, render_tree));
    return report.in_step ? shown : exit_unknown;
  });
  Command plan_verb =
      noun.verb("plan", "the exact difference per switch, or of a fabric's partitions; touches "
                        "nothing; exit 3: the result would be a breach, 4: not all was read");
  const auto fabric = std::make_shared<std::string>();
  const auto folder = std::make_shared<std::string>();
  plan_verb.take({"--fabric", "name of the fabric; without it the one that has switches"}, *fabric);
  plan_verb.take({"--out", "folder, made if need be, for the files of each switch and a manifest"},
                 *folder);
  plan_verb.run([&context, fabric, folder] { return plan(context, *fabric, *folder); });
  Command probe_verb = noun.verb(
      "probe", "proves on the wire who reaches whom; exit 3: a leak, 4: not proved");
  const auto request = std::make_shared<ProbeRequest>();
  probe_verb.take({"cluster", "clusters, two at least; none: all"}, request->clusters);
  probe_verb.take({"--service", "NAME=ADDRESS:PORT that every node tries"}, request->services);
  probe_verb.run([&context, request] { return probe(context, *request); });
}

}  // namespace tundish::edge::cli
