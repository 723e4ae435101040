#include "families/switches/driver_nxos.hpp"

#include "base/text.hpp"
#include "families/switches/driver_lldp.hpp"

namespace tundish::switches {
namespace {

constexpr const char* checkpoint = "tundish";

Error command_error(const JsonValue& error, const std::string& command) {
  std::string said(trim(error.at("data").at("msg").as_text().value_or("")));
  if (said.empty()) said = error.at("message").as_text().value_or("an error without a message");
  return make_error(Code::unavailable, "\"" + command + "\" failed: " + said);
}

/// One row is an object, several are a list.
std::vector<JsonValue> rows_of(const JsonValue& body, const std::string& table,
                               const std::string& row) {
  const JsonValue rows = body.at(table).at(row);
  if (rows.kind() == JsonValue::Kind::object) return {rows};
  return rows.items();
}

void read_facts(const JsonValue& status, const JsonValue& lldp, SwitchFacts& facts) {
  for (const auto& port : rows_of(status.at("body"), "TABLE_interface", "ROW_interface")) {
    if (port.at("state").as_text() == "connected") {
      facts.ports_up.push_back(port.at("interface").as_text().value_or(""));
    }
  }
  for (const auto& far : rows_of(lldp.at("body"), "TABLE_nbor_detail", "ROW_nbor_detail")) {
    PortNeighbour out;
    out.port = far.at("l_port_id").as_text().value_or("");
    if (out.port.starts_with("Eth") && !out.port.starts_with("Ethernet")) {
      out.port = "Ethernet" + out.port.substr(3);
    }
    out.device = far.at("sys_name").as_text().value_or("");
    out.device_port = far.at("port_id").as_text().value_or("");
    out.device_mac = plain_mac(out.device_port);
    facts.neighbours.push_back(std::move(out));
  }
}

}  // namespace

void NxosTransport::call(const SwitchRef& ref, const std::vector<Command>& commands, Duration limit,
                         ResultsDone done) {
  HttpRequest request;
  request.method = "POST";
  request.url = ref.management_url + "/ins";
  request.headers["content-type"] = "application/json-rpc";
  int id = 0;
  for (const auto& command : commands) {
    request.body += (id == 0 ? "[" : ",");
    request.body += "{\"jsonrpc\":\"2.0\",\"method\":\"" + command.method +
                    "\",\"params\":{\"cmd\":" + json_text(command.text) +
                    ",\"version\":1},\"id\":" + std::to_string(++id) +
                    ",\"rollback\":\"stop-on-error\"}";
  }
  request.body += "]";
  call_json(wire_, login_, std::move(request), limit,
            [done = std::move(done), commands](const Result<JsonValue>& answer) {
              if (!answer) return done(answer.error());
              // A single command's answer is no list.
              auto items = answer->kind() == JsonValue::Kind::object
                               ? std::vector<JsonValue>{*answer}
                               : answer->items();
              std::vector<JsonValue> results;
              for (std::size_t at = 0; at < items.size(); ++at) {
                const std::string text = at < commands.size() ? commands[at].text : "";
                if (!items[at].at("error").is_absent()) {
                  return done(command_error(items[at].at("error"), text));
                }
                results.push_back(items[at].at("result"));
              }
              if (results.size() == commands.size()) return done(std::move(results));
              done(make_error(Code::unavailable, "NX-API answered fewer commands than it got"));
            });
}

void NxosTransport::fetch(const SwitchRef& ref, Duration limit, FetchDone done) {
  call(ref,
       {{"cli_ascii", "show running-config"},
        {"cli", "show interface status"},
        {"cli", "show lldp neighbors detail"}},
       limit, [done = std::move(done)](const Result<std::vector<JsonValue>>& results) {
         if (!results) return done(results.error());
         SwitchFetched out;
         out.files = {{"running-config", (*results)[0].at("msg").as_text().value_or("")}};
         if (trim(out.files[0].text).empty()) {
           return done(make_error(Code::unavailable, "its running-config is empty"));
         }
         read_facts((*results)[1], (*results)[2], out.facts);
         done(std::move(out));
       });
}

void NxosTransport::run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode,
                        Duration limit, Done done) {
  // The old one may not be there; a name cannot be used twice.
  call(ref, {{"cli_ascii", std::string("no checkpoint ") + checkpoint}}, limit,
       [this, ref, steps, limit, done](const Result<std::vector<JsonValue>>&) {
         call(ref, {{"cli_ascii", std::string("checkpoint ") + checkpoint}}, limit,
              [this, ref, steps, limit, done](const Result<std::vector<JsonValue>>& set) {
                if (!set) return done(set.error());
                change(ref, steps, limit, done);
              });
       });
}

void NxosTransport::change(const SwitchRef& ref, const std::vector<SwitchStep>& steps,
                           Duration limit, const Done& done) {
  std::vector<Command> commands = {{"cli_ascii", "configure terminal"}};
  for (auto& line : command_lines(steps)) commands.push_back({"cli_ascii", std::move(line)});
  call(ref, commands, limit, [done](const Result<std::vector<JsonValue>>& results) {
    done(results ? Result<>{} : results.error());
  });
}

void NxosTransport::confirm(const SwitchRef& ref, const SwitchState&, Duration limit, Done done) {
  call(ref, {{"cli_ascii", "copy running-config startup-config"}}, limit,
       [done = std::move(done)](const Result<std::vector<JsonValue>>& results) {
         done(results ? Result<>{} : Error(results.error()).wrap("works but is not saved"));
       });
}

}  // namespace tundish::switches
