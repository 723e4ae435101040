#include "families/switches/driver_frr.hpp"

#include "base/text.hpp"
#include "families/switches/driver_frr_live.hpp"
#include "families/switches/driver_frr_scripts.hpp"

namespace tundish::switches {
namespace {

/// Numbers of steps begin behind this one, so that their names sort.
constexpr std::int64_t step_base = 1000;

/// "@failed 1003" and what the tool said.
Error step_error(const ExecOutput& output, const std::vector<std::string>& steps) {
  const auto end = output.out.find('\n');
  const auto number = parse_integer(trim(output.out.substr(7, end - 7))).value_or(0) - step_base;
  std::string what = "a step";
  if (number >= 1 && number <= static_cast<std::int64_t>(steps.size())) {
    what = "\"" + steps[static_cast<std::size_t>(number - 1)] + "\"";
  }
  const std::string said(trim(end == std::string::npos ? "" : output.out.substr(end + 1)));
  return make_error(Code::unavailable, what + " failed: " + said);
}

Result<std::string> outcome(const Result<ExecOutput>& output,
                            const std::vector<std::string>& steps) {
  if (!output) return output.error();
  if (output->rc == 0) return output->out;
  if (output->out.starts_with("@failed ")) return step_error(*output, steps);
  return make_error(Code::unavailable, output->err.empty() ? "exit " + std::to_string(output->rc)
                                                           : std::string(trim(output->err)));
}

}  // namespace

void FrrTransport::call(const SwitchRef& ref, std::string program, Duration limit,
                        std::vector<std::string> steps, OutDone done) {
  exec_.start({ref.management_url, {"sh", "-s"}, std::move(program)}, limit,
              [steps = std::move(steps), done = std::move(done)](const Result<ExecOutput>& output) {
                done(outcome(output, steps));
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
