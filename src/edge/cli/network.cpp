// network: list, show, plan, probe.
#include "model/network.hpp"

#include <fstream>
#include <ostream>

#include "base/text.hpp"
#include "control/network/probe.hpp"
#include "edge/api/contract_network.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

std::string age_of(std::int64_t ms) {
  if (ms < 0) return "never read";
  return std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 / 100) + " s ago";
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
    out += "  gateway " + report.access_address + " lets in " + join(report.access, ", ") + "\n";
  }
  if (report.firewall.empty()) out += "  firewall: deny ip@0.0.0.0/0 (no rule was ordered)\n";
  std::string last;
  for (const auto& row : report.rows) {
    if (row.object != last) out += "  " + row.object + "  (" + age_of(row.age_ms) + ")\n";
    last = row.object;
    out += "    " + sign_of(row.state) + " " + row.item + "  " + or_dash(row.wanted) + "\n";
    if (row.state != NetworkRowState::same) {
      out += "        " + word(row.state) + ": " +
             (row.observed.empty() ? "nothing was seen" : row.observed) + "\n";
    }
  }
  return out + (report.in_step ? "in step, as seen\n" : "NOT in step, or not seen lately\n");
}

std::string render_steps(const NetworkPlan& plan) {
  std::string out;
  std::string last;
  for (const auto& step : plan.steps) {
    if (step.object != last) out += "--- " + step.object + "\n";
    last = step.object;
    out += "# " + step.what + "  [" + step.file + "]\n" + step.text;
    if (!step.text.empty() && step.text.back() != '\n') out += "\n";
  }
  if (plan.steps.empty()) out += "no difference on the switches that were read\n";
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
      .with_remedy("give --out a folder that exists and may be written");
}

/// OBJECT.FILE for each text, and manifest.json that names them.
Result<> write_plan(const std::string& folder, const NetworkPlan& plan, const std::string& body) {
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
    context.note(std::to_string(got.files.size()) + " files and manifest.json are in " + folder);
  }
  const int shown = TRY(show_object<NetworkPlan>(context, body, render_steps));
  if (!got.findings.empty()) return exit_refused;
  return got.unknown.empty() ? shown : exit_unknown;
}

std::string render_partitions(const control::network::ProbeMatrix& matrix) {
  if (matrix.partitions.empty()) return "";
  std::vector<Cells> rows;
  std::string told;
  for (const auto& pair : matrix.partitions) {
    rows.push_back({pair.from, pair.to, pair.same ? "own" : "other", pair.fabric, word(pair.tables),
                    word(pair.paths), age_of(pair.age_ms),
                    pair.good   ? "good"
                    : pair.same ? "NOT REACHED"
                                : "NOT PROVED"});
    const std::string ends = pair.from + " to " + pair.to;
    if (!pair.good) {
      told += ends + ", PKey tables: " + word(pair.tables) + ": " + or_dash(pair.tables_detail) +
              "\n" + ends + ", path records: " + word(pair.paths) + ": " +
              or_dash(pair.paths_detail) + "\n";
    }
  }
  return render_table({"FROM", "TO", "WHOSE", "FABRIC", "PKEY TABLES", "PATH RECORDS",
                       "TABLES READ", "VERDICT"},
                      rows) +
         told;
}

std::string render_out_of_band(const control::network::ProbeMatrix& matrix) {
  std::string out;
  for (const auto& row : matrix.out_of_band) {
    out += row.node + " on the out-of-band network: ";
    if (row.cell == control::network::ProbeCell::closed) {
      out += "tundishd, and none of " + count_of(row.tried, "other") + "\n";
    } else {
      out += word(row.cell) + ": " + (row.open.empty() ? row.detail : join(row.open, ", ")) + "\n";
    }
  }
  return out;
}

std::string render_storage(const control::network::ProbeMatrix& matrix) {
  if (matrix.storage.empty()) return "";
  std::vector<Cells> rows;
  std::string told;
  for (const auto& row : matrix.storage) {
    rows.push_back({row.from, row.to, row.same ? "own" : "other", word(row.cell),
                    row.good   ? "good"
                    : row.same ? "NOT REACHED"
                               : "NOT PROVED"});
    if (!row.good) told += row.from + " to storage of " + row.to + ": " + row.detail + "\n";
  }
  return render_table({"FROM", "STORAGE EXPORT OF", "WHOSE", "CELL", "VERDICT"}, rows) + told;
}

std::string render_matrix(const control::network::ProbeMatrix& matrix) {
  std::string out;
  std::vector<Cells> rows;
  for (const auto& pair : matrix.pairs) {
    Cells cells = {pair.from, pair.to, pair.same ? "own" : "other"};
    for (const auto& way : pair.ways) cells.push_back(word(way.cell));
    cells.push_back(pair.good ? "good" : pair.same ? "NOT REACHED" : "NOT PROVED");
    rows.push_back(std::move(cells));
  }
  Cells header = {"FROM", "TO", "WHOSE"};
  for (int way = 0; way < probe_ways; ++way) {
    std::string name = word(static_cast<ProbeWay>(way));
    for (auto& c : name) c = c == '_' ? ' ' : static_cast<char>(std::toupper(c));
    header.push_back(std::move(name));
  }
  header.push_back("VERDICT");
  out += render_table(header, rows);
  for (const auto& pair : matrix.pairs) {
    for (const auto& way : pair.ways) {
      const bool told = pair.same || way.cell == control::network::ProbeCell::closed;
      if (!told) {
        out += pair.from + " to " + pair.to + ", " + word(way.way) + ": " + word(way.cell) + ": " +
               way.detail + "\n";
      }
    }
  }
  out += render_partitions(matrix);
  out += render_storage(matrix);
  for (const auto& service : matrix.services) {
    out += service.cluster + " to " + service.service + ": " +
           std::to_string(service.reached.size()) + " reached, " +
           std::to_string(service.refused.size()) + " refused, " +
           std::to_string(service.silent.size()) + " silent\n";
  }
  out += render_out_of_band(matrix);
  for (const auto& left : matrix.left_out) out += "left out: " + left + "\n";
  return out + (matrix.isolated ? "isolated, as seen on the wire\n" : "isolation is NOT proved\n");
}

Result<int> probe(Context& context, const ProbeRequest& request) {
  context.note("every node sends and listens for 4 s");
  const auto body = TRY(context.change({"POST", "/v1/network-probe", render_json(request)}));
  if (!body) return exit_done;
  TRY(show_object<control::network::ProbeMatrix>(context, *body, render_matrix));
  const auto matrix = TRY(parse_object<control::network::ProbeMatrix>(*body));
  if (matrix.isolated) return exit_done;
  for (const auto& pair : matrix.pairs) {
    for (const auto& way : pair.ways) {
      if (!pair.same && way.cell == control::network::ProbeCell::open) return exit_refused;
    }
  }
  for (const auto& row : matrix.out_of_band) {
    if (row.cell == control::network::ProbeCell::open) return exit_refused;
  }
  for (const auto& row : matrix.storage) {
    if (!row.same && row.cell == control::network::ProbeCell::open) return exit_refused;
  }
  for (const auto& pair : matrix.partitions) {
    const bool open = pair.tables == control::network::ProbeCell::open ||
                      pair.paths == control::network::ProbeCell::open;
    if (!pair.same && open) return exit_refused;
  }
  return exit_unknown;
}

std::string worst_of(const Network& network) {
  if (network.status.sync.empty()) return "-";
  for (const SyncState bad : {SyncState::drifted, SyncState::unknown, SyncState::pending,
                              SyncState::applying, SyncState::planned}) {
    for (const auto& sync : network.status.sync) {
      if (sync.state == bad) return word(bad) + " on " + sync.object;
    }
  }
  return "synced";
}

}  // namespace

void add_network(Command root, Context& context) {
  Command noun = root.noun("network", "networks of clusters: desired, observed, proved");
  add_list<Network>(noun, context, {"networks", "network"}, [](const ApiClient& client) {
    const Names tenants = load_names<Tenant>(client, "tenants");
    return Listing<Network>{{"NAME", "TENANT", "VRF", "SEGMENT", "PREFIX", "PARTITION", "STATE"},
                            [tenants](const Network& network) -> Cells {
                              const auto& status = network.status;
                              return {
                                  name_of(network),
                                  name_in(tenants, network.meta.tenant.str()),
                                  vrf_name(status.vrf_id),
                                  status.segments.empty() ? "-" : status.segments.front().name,
                                  status.segments.empty() ? "-" : status.segments.front().prefix,
                                  status.pkey == 0 ? "-" : partition_name(status.vrf_id),
                                  worst_of(network)};
                            }};
  });
  Command show = noun.verb("show", "desired and observed side by side, with the age of each look");
  const auto name = std::make_shared<std::string>();
  show.take({"name", "name of the cluster, or id of the network", Need::required}, *name);
  show.run([&context, name]() -> Result<int> {
    const ApiClient client = TRY(context.connect());
    const std::string body = TRY(client.get(api_path({"networks", *name, "report"})));
    const auto report = TRY(parse_object<NetworkReport>(body));
    const int shown = TRY(show_object<NetworkReport>(context, body, render_tree));
    return report.in_step ? shown : exit_unknown;
  });
  Command plan_verb = noun.verb("plan", "the exact difference per switch; touches nothing");
  const auto fabric = std::make_shared<std::string>("access");
  const auto folder = std::make_shared<std::string>();
  plan_verb.take({"--fabric", "name of the fabric"}, *fabric);
  plan_verb.take({"--out", "folder for one file per switch and a manifest"}, *folder);
  plan_verb.run([&context, fabric, folder] { return plan(context, *fabric, *folder); });
  Command probe_verb = noun.verb("probe", "proves on the wire who reaches whom");
  const auto request = std::make_shared<ProbeRequest>();
  probe_verb.take({"cluster", "clusters; none: all"}, request->clusters);
  probe_verb.take({"--service", "NAME=ADDRESS:PORT that every node tries"}, request->services);
  probe_verb.run([&context, request] { return probe(context, *request); });
}

}  // namespace tundish::edge::cli
