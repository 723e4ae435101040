#include "families/switches/driver_frr.hpp"

#include "families/switches/driver_frr_live.hpp"
#include "families/switches/driver_frr_scripts.hpp"

namespace tundish::switches {

void FrrTransport::call(const SwitchRef& ref, std::string program, Duration limit,
                        std::vector<std::string> steps, OutDone done) {
  exec_.start({ref.management_url, {"sh", "-s"}, std::move(program)}, limit,
              [steps = std::move(steps), done = std::move(done)](const Result<ExecOutput>& output) {
                done(shell_outcome(output, steps));
              });
}

void FrrTransport::fetch(const SwitchRef& ref, Duration limit, FetchDone done) {
  call(ref, frr_read_program(limit), limit, {},
       [kernel = kernel_, done = std::move(done)](const Result<std::string>& answer) {
         if (!answer) return done(answer.error());
         const auto sections = parse_frr_sections(*answer);
         if (!sections) return done(sections.error());
         done(read_frr_sections(*sections, kernel));
       });
}

void FrrTransport::run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode mode,
                       Duration limit, Done done) {
  std::vector<std::string> names;
  for (const auto& step : steps) names.push_back(step.what);
  call(ref, frr_run_program(steps, mode, limit), limit, std::move(names),
       [done = std::move(done)](const Result<std::string>& answer) {
         done(answer ? Result<>{} : answer.error());
       });
}

void FrrTransport::confirm(const SwitchRef& ref, const SwitchState& now, Duration limit,
                           Done done) {
  SwitchState nothing;
  nothing.asn = now.asn;
  nothing.router_id = now.router_id;
  nothing.vtep_address = now.vtep_address;
  nothing.anycast_mac = now.anycast_mac;
  const auto steps = frr_parts::steps_for(kernel_, nothing, now);
  if (!steps) return done(steps.error());
  call(ref, frr_save_program(*steps, limit), limit, {},
       [done = std::move(done)](const Result<std::string>& answer) {
         done(answer ? Result<>{} : Error(answer.error()).wrap("works but is not saved"));
       });
}

void FrrTransport::resume(const SwitchRef& ref, Duration limit, Done done) {
  call(ref, frr_resume_program(limit), limit, {},
       [done = std::move(done)](const Result<std::string>& answer) {
         done(answer ? Result<>{} : answer.error());
       });
}

}  // namespace tundish::switches
