#include "families/checks/active_parts/findings.hpp"

namespace tundish::checks {
namespace {

/// EILSEQ: what was read is not what was written. Source: fio 3.33 verify.c; checked 2026-11
constexpr int wrong_data = 84;

void read_jobs(const CheckSample& sample, const ToolRun& run,
               const std::vector<tools::FioJob>& jobs, ActiveFindings& found) {
  for (const auto& job : jobs) {
    if (job.error == wrong_data) {
      found.fail(run.device, "what was read is not what was written", job.name);
    } else if (job.error != 0) {
      found.broken(run, "job " + job.name + " ended with error " + std::to_string(job.error));
    }
    if (job.error != 0) continue;
    const bool judged = sample.fault_of("shared").empty();
    if (!judged) {
      found.note("rates are another machine's: not judged");
      continue;
    }
    if (job.write_bytes > 0) {
      found.floor("write", run.device, job.write_bytes_per_s / 1'000'000, "write");
    }
    if (job.read_bytes > 0) {
      found.floor("read", run.device, job.read_bytes_per_s / 1'000'000, "read");
    }
  }
}

Verdicts judge(const CheckSample& sample) {
  ActiveFindings found(sample, "fio");
  for (const ToolRun* run : found.runs()) {
    if (!found.is_readable(*run)) continue;
    const auto jobs = tools::parse_fio(run->out);
    if (!jobs) {
      found.broken(*run, jobs.error().message());
    } else {
      read_jobs(sample, *run, *jobs, found);
    }
  }
  return found.take("the local disk gives back what was written, as fast as it must");
}

}  // namespace

extern const Check fio;
const Check fio{
    "fio",
    "The local disk gives back what was written to it, at the rate of a sound drive.",
    "fio: 1 MiB blocks past the page cache, a checksum in each; no peer publishes a floor, ours "
    "is low; facts/health.md section 3",
    "about ten seconds and 1 GiB of the local disk",
    {"active", "limits"},
    judge,
    Resource::disk,
    Locality::symptom,
    hours(24),
    Gate::advisory,
    CheckKind::active,
    Tier::light};

}  // namespace tundish::checks
