#include "base/text.hpp"
#include "runtime/agent/verbs.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

CheckSample gather_sample(const Expectation& expect, const VerbTools& tools) {
  CheckSample sample;
  sample.expect = expect;
  if (auto gpus = tools.gatherer.gpus()) {
    sample.gpus = std::move(*gpus);
  } else {
    sample.gpus_fault = gpus.error().message();
  }
  if (auto hcas = tools.gatherer.hcas()) {
    sample.hcas = std::move(*hcas);
  } else {
    sample.hcas_fault = hcas.error().message();
  }
  sample.now = tools.now();
  sample.hardware = read_hardware(tools.config.sys_dir, sample.gpus ? &*sample.gpus : nullptr,
                                  sample.now);
  if (const auto boot = process::read_file(tools.config.boot_id_file)) {
    tools.events.fill(sample, std::string(trim(*boot)));
  } else {
    sample.events_fault = "the boot cannot be told: " + boot.error().message();
  }
  // What must be mounted is tundishd's to say: a node that lost its mounts in a reboot after it
  // left its cluster is not broken.
  sample.mounts = tools.gatherer.mounts(expect.exports);
  return sample;
}

}  // namespace

Result<VerbNote> verb_run_checks(const VerbCall& call, const VerbTools& tools) {
  if (!call.run_checks) return make_error(Code::invalid, "run_checks has no arguments");
  const CheckSample sample = gather_sample(call.run_checks->expect, tools);
  VerbNote note;
  note.verdicts = tools.judge(sample, call.run_checks->checks);
  return note;
}

}  // namespace tundish::agent
