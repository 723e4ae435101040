#include "families/switches/driver_eos.hpp"

#include "base/text.hpp"
#include "families/switches/driver_lldp.hpp"

namespace tundish::switches {
namespace {

/// Long enough for a read-back and its repetitions. Form: hh:mm:ss.
constexpr const char* commit_timer = "commit timer 00:02:00";

/// "CLI command 3 of 5 'x' failed: invalid command", and what the parser said.
Error api_error(const JsonValue& error) {
  std::string text = error.at("message").as_text().value_or("an error without a message");
  for (const auto& entry : error.at("data").items()) {
    for (const auto& line : entry.at("errors").items()) {
      text += "; " + line.as_text().value_or("");
    }
  }
  return make_error(Code::unavailable, text);
}

void read_facts(const JsonValue& status, const JsonValue& lldp, SwitchFacts& facts) {
  for (const auto& [port, seen] : status.at("interfaceStatuses").members()) {
    if (seen.at("linkStatus").as_text() == "connected") facts.ports_up.push_back(port);
  }
  for (const auto& far : lldp.at("lldpNeighbors").items()) {
    facts.neighbours.push_back({far.at("port").as_text().value_or(""),
                                far.at("neighborDevice").as_text().value_or(""),
                                far.at("neighborPort").as_text().value_or(""),
                                plain_mac(far.at("neighborPort").as_text().value_or(""))});
  }
}

}  // namespace

void EosTransport::call(const SwitchRef& ref, const std::vector<std::string>& commands, Form form,
                        Duration limit, ResultsDone done) {
  std::string list;
  for (const auto& command : commands) list += (list.empty() ? "" : ",") + json_text(command);
  HttpRequest request;
  request.method = "POST";
  request.url = ref.management_url + "/command-api";
  request.body =
      "{\"jsonrpc\":\"2.0\",\"method\":\"runCmds\",\"params\":{\"version\":1,\"format\":\"" +
      std::string(form == Form::json ? "json" : "text") + "\",\"cmds\":[" + list +
      "]},\"id\":\"tundish\"}";
  call_json(wire_, login_, std::move(request), limit,
            [done = std::move(done), count = commands.size()](const Result<JsonValue>& answer) {
              if (!answer) return done(answer.error());
              if (!answer->at("error").is_absent()) return done(api_error(answer->at("error")));
              auto results = answer->at("result").items();
              if (results.size() == count) return done(std::move(results));
              done(make_error(Code::unavailable, "eAPI answered fewer commands than it was given"));
            });
}

void EosTransport::fetch(const SwitchRef& ref, Duration limit, FetchDone done) {
  call(ref, {"enable", "show running-config"}, Form::text, limit,
       [this, ref, limit, done](const Result<std::vector<JsonValue>>& config) {
         if (!config) return done(config.error());
         SwitchFetched out;
         out.files = {{"running-config", (*config)[1].at("output").as_text().value_or("")}};
         if (trim(out.files[0].text).empty()) {
           return done(make_error(Code::unavailable, "its running-config is empty"));
         }
         call(ref, {"show interfaces status", "show lldp neighbors"}, Form::json, limit,
              [out, done](const Result<std::vector<JsonValue>>& seen) mutable {
                if (!seen) return done(seen.error());
                read_facts((*seen)[0], (*seen)[1], out.facts);
                done(std::move(out));
              });
       });
}

void EosTransport::run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode,
                       Duration limit, Done done) {
  const std::string session = "tundish-" + std::to_string(scheduler_.now().us);
  std::vector<std::string> commands = {"enable"};
  const auto before = pending_.find(ref.name);
  if (before != pending_.end() && before->second.is_committed) {
    // What waits for its confirmation is what these steps start from.
    commands.push_back("configure session " + before->second.session + " commit");
  }
  commands.push_back("configure session " + session);
  for (auto& line : command_lines(steps)) commands.push_back(std::move(line));
  commands.push_back(commit_timer);
  pending_[ref.name] = {session};
  call(ref, commands, Form::json, limit,
       [this, ref, session, limit, done](const Result<std::vector<JsonValue>>& results) {
         if (results) {
           pending_[ref.name].is_committed = true;
           return done({});
         }
         if (results.error().code == Code::timeout) return done(results.error());
         pending_.erase(ref.name);
         abort(ref, session, limit, results.error(), done);
       });
}

/// Nothing of an aborted session was ever in force.
void EosTransport::abort(const SwitchRef& ref, const std::string& session, Duration limit,
                         Error why, const Done& done) {
  call(ref, {"enable", "configure session " + session + " abort"}, Form::json, limit,
       [why, done](const Result<std::vector<JsonValue>>&) { done(why); });
}

void EosTransport::confirm(const SwitchRef& ref, const SwitchState&, Duration limit, Done done) {
  std::vector<std::string> commands = {"enable"};
  const auto pending = pending_.find(ref.name);
  if (pending != pending_.end()) {
    commands.push_back("configure session " + pending->second.session + " commit");
    pending_.erase(pending);
  }
  commands.push_back("write memory");
  call(ref, commands, Form::json, limit,
       [done = std::move(done)](const Result<std::vector<JsonValue>>& results) {
         done(results ? Result<>{} : Error(results.error()).wrap("works but is not confirmed"));
       });
}

}  // namespace tundish::switches
