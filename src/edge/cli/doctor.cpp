// doctor: what stands between this person and a working cloud, line by line.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "edge/api/contract.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

using Lines = std::vector<DoctorLine>;

/// The Date header counts whole seconds, and an answer takes a moment.
constexpr Duration clock_slack = seconds(5);

std::string_view state_word(CheckState state) {
  switch (state) {
    case CheckState::ok: return "ok";
    case CheckState::warn: return "warn";
    case CheckState::fail: return "fail";
    case CheckState::unknown: return "unknown";
  }
  return "unknown";
}

DoctorLine look_at_clock(const Endpoint& endpoint, const Contact& contact) {
  if (endpoint.api.rfind("unix:", 0) == 0) {
    return {"clock", CheckState::ok, "tundishd's own", ""};
  }
  if (!contact.sent_at) {
    return {"clock", CheckState::unknown, "the API tells no time", ""};
  }
  const auto here = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const Duration off{here.count() - contact.sent_at->us};
  const Duration size{std::abs(off.us)};
  if (size <= clock_slack) return {"clock", CheckState::ok, "within seconds of tundishd's", ""};
  return {"clock", CheckState::warn,
          "this machine is " + render_duration(size) + (off.us > 0 ? " ahead of" : " behind") +
              " tundishd",
          "set both clocks by NTP; times in tables will look wrong until then"};
}

DoctorLine look_at_trust(const Endpoint& endpoint) {
  if (endpoint.api.rfind("https:", 0) == 0) {
    return {"tls", CheckState::ok,
            "certificate accepted by " +
                (endpoint.ca_file.empty() ? std::string("the system's store") : endpoint.ca_file),
            ""};
  }
  if (endpoint.api.rfind("unix:", 0) == 0) {
    return {"tls", CheckState::ok, "not needed: the API is a socket of this machine", ""};
  }
  return {"tls", CheckState::warn, "the token travels in the clear over " + endpoint.api,
          "give tundishd a certificate and use https, unless this is a lab"};
}

DoctorLine look_at_token(const Result<std::string>& status) {
  if (!status && status.error().code == Code::denied) {
    const std::string remedy = status.error().remedy;
    return {"token", CheckState::fail, status.error().what,
            remedy.empty() ? "give --token, TUNDISH_TOKEN or a context with a token file" : remedy};
  }
  if (!status) return {"token", CheckState::unknown, status.error().what, status.error().remedy};
  const auto report = parse_object<StatusReport>(*status);
  std::string detail = "works";
  if (report && !report->role.empty()) {
    detail += ", role " + report->role +
              (report->tenant.empty() ? ", the operator's side" : " of tenant " + report->tenant);
  }
  return {"token", CheckState::ok, detail, ""};
}

DoctorLine incidents_line(const StatusReport& status) {
  return {"incidents", status.incidents_open > 0 ? CheckState::warn : CheckState::ok,
          count_of(status.incidents_open, "incident") + " open",
          status.incidents_open > 0 ? "`tundish incident list`" : ""};
}

/// A tenant is told of its own: holds, proposals and history are the operator's.
void look_at_tenant(const StatusReport& status, Lines& lines) {
  const int short_of = status.clusters - status.clusters_active;
  lines.push_back({"clusters", short_of > 0 ? CheckState::warn : CheckState::ok,
                   std::to_string(status.clusters_active) + " of " +
                       count_of(status.clusters, "cluster") + " whole",
                   short_of > 0 ? "`tundish cluster list` shows which are not, and why" : ""});
  if (status.clusters == 0) lines.back().detail = "no clusters yet";
  lines.push_back(incidents_line(status));
}

void look_at_status(const StatusReport& status, Lines& lines) {
  const int silent = status.nodes - status.agents_heard;
  lines.push_back(
      {"agents", silent > 0 ? CheckState::warn : CheckState::ok,
       std::to_string(status.agents_heard) + " of " + count_of(status.nodes, "node") + " heard",
       silent > 0 ? "`tundish node list` shows which are silent; silence is unknown, "
                    "not a fault"
                  : ""});
  if (status.nodes == 0) lines.back().detail = "no nodes yet";
  if (!status.tenant.empty()) return look_at_tenant(status, lines);
  std::string holds;
  for (const auto& hold : status.holds) holds += (holds.empty() ? "" : "; ") + hold;
  lines.push_back({"holds", holds.empty() ? CheckState::ok : CheckState::warn,
                   holds.empty() ? "none" : holds,
                   holds.empty() ? "" : "automatic actions wait; `tundish hold release`"});
  lines.push_back({"proposals", status.proposals_waiting > 0 ? CheckState::warn : CheckState::ok,
                   count_of(status.proposals_waiting, "proposal") + " waiting",
                   status.proposals_waiting > 0 ? "`tundish proposal list`" : ""});
  lines.push_back(incidents_line(status));
  for (const auto& notice : status.notices) {
    lines.push_back({"notice", CheckState::warn, notice, ""});
  }
}

DoctorLine look_at_history(const ApiClient& client) {
  const auto verdict = get_object<HistoryVerdict>(client, "/v1/history/verify");
  if (!verdict) {
    return {
        "history", CheckState::unknown, verdict.error().what,
        verdict.error().code == Code::denied ? "ask with an auditor's or operator's token" : ""};
  }
  if (!verdict->intact) {
    return {"history", CheckState::fail, verdict->fault,
            "stored history was changed; compare with `tundish history export` of a backup"};
  }
  return {"history", CheckState::ok, std::to_string(verdict->entries) + " entries, every hash fits",
          ""};
}

/// What an API that does not answer leaves behind: nothing is known, whatever else was found.
enum class Reach { answers, silent };

Reach reach_of(const Error& error) {
  const bool is_silent = error.code == Code::unavailable || error.code == Code::timeout;
  return is_silent ? Reach::silent : Reach::answers;
}

Reach look_at_api(Context& context, Lines& lines) {
  const auto client = context.connect();
  if (!client) {
    lines.push_back({"api", CheckState::fail, client.error().what, client.error().remedy});
    return reach_of(client.error());
  }
  const Endpoint& endpoint = client->endpoint();
  const auto contact = client->contact("/healthz");
  if (!contact) {
    lines.push_back({"api", CheckState::fail, contact.error().what, contact.error().remedy});
    return reach_of(contact.error());
  }
  const bool is_well = contact->status == 200;
  lines.push_back(
      {"api", is_well ? CheckState::ok : CheckState::fail,
       endpoint.api + (is_well ? " answers" : " answers " + std::to_string(contact->status)),
       is_well ? "" : "see tundishd's log"});
  lines.push_back(look_at_trust(endpoint));
  lines.push_back(look_at_clock(endpoint, *contact));
  const auto status = client->get("/v1/status");
  lines.push_back(look_at_token(status));
  if (!status) return reach_of(status.error());
  const auto report = parse_object<StatusReport>(*status);
  if (!report) {
    lines.push_back({"status", CheckState::unknown, report.error().what, ""});
    return Reach::answers;
  }
  look_at_status(*report, lines);
  if (report->tenant.empty()) lines.push_back(look_at_history(*client));
  return Reach::answers;
}

struct DoctorReport {
  std::string check, state, detail, remedy;
  void fields(Fields& f) {
    f(1, "check", check, "what was looked at");
    f(2, "state", state, "ok, warn, fail or unknown");
    f(3, "detail", detail, "what was seen");
    f(4, "remedy", remedy, "what to do");
  }
};

Result<int> examine(Context& context) {
  Lines lines;
  const Reach reach = look_at_api(context, lines);
  for (const auto& probe : context.doctor_probes) lines.push_back(probe());
  int code = exit_done;
  std::vector<std::string> items;
  std::string text;
  for (const auto& line : lines) {
    if (line.state == CheckState::fail) code = exit_refused;
    if (line.state == CheckState::unknown && code == exit_done) code = exit_unknown;
    const std::string state(state_word(line.state));
    items.push_back(render_json(DoctorReport{line.what, state, line.detail, line.remedy}));
    text += state + std::string(9 - state.size(), ' ') + line.what +
            std::string(line.what.size() < 11 ? 11 - line.what.size() : 1, ' ') + line.detail +
            "\n";
    if (!line.remedy.empty()) text += std::string(20, ' ') + "remedy: " + line.remedy + "\n";
  }
  if (reach == Reach::silent) code = exit_unknown;
  if (context.form() == OutputForm::table) {
    context.out() << text;
    return code;
  }
  TRY_VOID(show_items<DoctorReport>(context, items, {}));
  return code;
}

}  // namespace

void add_doctor(Command root, Context& context) {
  root.verb("doctor", "check API, token, clock, agents, history and lab").run([&context] {
    return examine(context);
  });
}

}  // namespace tundish::edge::cli
