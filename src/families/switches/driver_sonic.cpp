#include "families/switches/driver_sonic.hpp"

#include <algorithm>

#include "codec/json.hpp"
#include "families/switches/driver_lldp.hpp"
#include "families/switches/driver_sonic_scripts.hpp"
#include "families/switches/sonic_parts/sonic_parts.hpp"

namespace tundish::switches {
namespace {

/// In the other modes the container writes FRR's files anew from CONFIG_DB, which holds no targets.
/// Source: SONiC Configuration.md, docker_routing_config_mode; checked 2026-11.
Result<> keeps_frr(std::string_view config_db) {
  const JsonValue config = TRY(JsonValue::parse(config_db));
  const auto mode = config.at("DEVICE_METADATA")
                        .at("localhost")
                        .at("docker_routing_config_mode")
                        .as_text()
                        .value_or("separated");
  if (mode == "split" || mode == "split-unified") return {};
  return make_error(Code::conflict, "its docker_routing_config_mode is " + mode +
                                        ": it would forget route targets at the next start")
      .with_remedy("set it to split-unified, save and restart the bgp container");
}

void read_ports(const std::string& appl_db, SwitchFacts& facts) {
  constexpr std::string_view head = "PORT_TABLE:";
  const auto dump = JsonValue::parse(appl_db);
  if (!dump) return;
  for (const auto& [key, entry] : dump->members()) {
    if (!key.starts_with(head)) continue;
    if (entry.at("value").at("oper_status").as_text() != "up") continue;
    facts.ports_up.push_back(key.substr(head.size()));
  }
}

Result<SwitchFetched> read_sections(const std::vector<ShellSection>& sections) {
  const std::pair<const char*, const char*> files[] = {
      {"config", "config_db.json"},     {"conf", "frr.conf"},
      {"appl", "appl_db.json"},         {"asic", "asic_db.json"},
      {"counters", "counters_db.json"}, {"state", "state_db.json"}};
  SwitchFetched out;
  for (const auto& [kind, file] : files) {
    const auto found = std::find_if(sections.begin(), sections.end(),
                                    [kind = kind](const auto& one) { return one.kind == kind; });
    if (found == sections.end() || found->text.empty()) {
      return make_error(Code::unavailable, std::string("its answer has no ") + file);
    }
    out.files.push_back({file, found->text});
  }
  for (const auto& section : sections) {
    if (section.kind == "interrupted") out.is_interrupted = true;
    if (section.kind == "appl") read_ports(section.text, out.facts);
    if (section.kind == "lldp") read_lldp_json0(section.text, out.facts.neighbours);
  }
  std::ranges::sort(out.facts.ports_up);
  std::ranges::sort(out.facts.neighbours, {}, &PortNeighbour::port);
  return out;
}

}  // namespace

Result<std::vector<SwitchStep>> suit_sonic_steps(const std::vector<SwitchStep>& steps,
                                                 std::string config_db, StepMode mode) {
  std::vector<SwitchStep> out;
  for (const auto& step : steps) {
    if (step.file != "config_db.json") {
      out.push_back(step);
      continue;
    }
    const auto fitted = sonic_parts::fit_patch(step.text, config_db);
    if (!fitted && mode == StepMode::tolerant) continue;
    if (!fitted) return Error(fitted.error()).wrap(step.what);
    std::string after = TRY(sonic_parts::apply_patch(*fitted, config_db));
    const std::string keys = TRY(sonic_parts::applied_keys(config_db, after));
    config_db = std::move(after);
    if (*fitted == "[]\n") continue;
    out.push_back({step.what, step.file, *fitted});
    if (!keys.empty()) out.push_back({step.what, "applied", keys});
  }
  return out;
}

void SonicTransport::call(const SwitchRef& ref, std::string program, Duration limit,
                          std::vector<std::string> steps, OutDone done) {
  exec_.start({ref.management_url, {"sudo", "-n", "sh", "-s"}, std::move(program)}, limit,
              [steps = std::move(steps), done = std::move(done)](const Result<ExecOutput>& output) {
                done(shell_outcome(output, steps));
              });
}

void SonicTransport::fetch(const SwitchRef& ref, Duration limit, FetchDone done) {
  call(ref, sonic_read_program(limit), limit, {},
       [done = std::move(done)](const Result<std::string>& answer) {
         if (!answer) return done(answer.error());
         const auto sections = parse_shell_sections(*answer, "state");
         if (!sections) return done(sections.error());
         done(read_sections(*sections));
       });
}

void SonicTransport::run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode mode,
                         Duration limit, Done done) {
  call(ref, sonic_config_program(limit), limit, {},
       [this, ref, steps, mode, limit, done = std::move(done)](const Result<std::string>& answer) {
         if (!answer) return done(answer.error());
         const auto sections = parse_shell_sections(*answer, "config");
         if (!sections) return done(sections.error());
         const std::string& config_db = sections->front().text;
         if (const auto ready = keeps_frr(config_db); !ready) return done(ready.error());
         const auto suited = suit_sonic_steps(steps, config_db, mode);
         if (!suited) return done(suited.error());
         std::vector<std::string> names;
         for (const auto& step : *suited) names.push_back(step.what);
         call(ref, sonic_run_program(*suited, mode, limit), limit, std::move(names),
              [done](const Result<std::string>& ran) { done(ran ? Result<>{} : ran.error()); });
       });
}

void SonicTransport::confirm(const SwitchRef& ref, const SwitchState&, Duration limit, Done done) {
  call(ref, sonic_save_program(limit), limit, {},
       [done = std::move(done)](const Result<std::string>& answer) {
         done(answer ? Result<>{} : Error(answer.error()).wrap("works but is not saved"));
       });
}

void SonicTransport::resume(const SwitchRef& ref, Duration limit, Done done) {
  call(ref, sonic_resume_program(limit), limit, {},
       [done = std::move(done)](const Result<std::string>& answer) {
         done(answer ? Result<>{} : answer.error());
       });
}

}  // namespace tundish::switches
