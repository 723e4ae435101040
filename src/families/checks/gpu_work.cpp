#include "codec/json.hpp"
#include "families/checks/active_parts/findings.hpp"
#include "model/gpu_work.hpp"

namespace tundish::checks {
namespace {

std::string on_processors(const GpuWork& work) {
  std::string out;
  for (const int processor : work.processors_wrong) out += " " + std::to_string(processor);
  return out.empty() ? "" : "processors:" + out;
}

struct Rates {
  std::map<std::string, std::int64_t> matrix, memory, to_gpu, from_gpu;
};

void read(const GpuWork& work, ActiveFindings& found, Rates& rates) {
  if (work.matrix_sums_wrong > 0) {
    found.fail(work.pci,
               std::to_string(work.matrix_sums_wrong) + " sums of matrix products are wrong",
               on_processors(work));
  }
  if (work.memory_words_wrong > 0) {
    found.fail(work.pci,
               std::to_string(work.memory_words_wrong) + " words of its memory did not come back",
               on_processors(work));
  }
  rates.matrix[work.pci] = work.matrix_gflops;
  rates.memory[work.pci] = work.memory_mbytes_per_s;
  rates.to_gpu[work.pci] = work.to_gpu_mbytes_per_s;
  rates.from_gpu[work.pci] = work.from_gpu_mbytes_per_s;
}

Verdicts judge(const CheckSample& sample) {
  ActiveFindings found(sample, "gpu_work");
  Rates rates;
  bool all = true;
  for (const ToolRun* run : found.runs()) {
    // The driver's own word for memory that failed while it was used.
    if (run->err.find("CUDA_ERROR_ECC_UNCORRECTABLE") != std::string::npos) {
      found.fail(run->device, "an uncorrectable memory error came up while it worked", run->err);
      continue;
    }
    GpuWork work;
    if (!found.is_readable(*run)) {
      all = false;
    } else if (const auto parsed = parse_json(run->out, work, Unknown::keep_out); !parsed) {
      found.broken(*run, "its answer is not understood");
      all = false;
    } else if (work.pci.empty() || work.matrix_gflops <= 0 || work.memory_mib <= 0) {
      found.broken(*run, "its answer has no results");
      all = false;
    } else {
      read(work, found, rates);
    }
  }
  if (all && !rates.matrix.empty()) {
    found.compare("matrix_of_peers", rates.matrix, "matrix product, GFLOPS:");
    found.compare("memory_of_peers", rates.memory, "memory copy, MB/s:");
    found.compare("copy_of_peers", rates.to_gpu, "copy to the GPU, MB/s:");
    found.compare("copy_of_peers", rates.from_gpu, "copy from the GPU, MB/s:");
  }
  return found.take("every GPU computes and remembers rightly, as fast as its neighbours");
}

}  // namespace

extern const Check gpu_work;
const Check gpu_work{
    "gpu_work",
    "Every GPU computes matrix products and keeps words in its memory without a wrong result, "
    "and no GPU of the node is much slower than the others.",
    "our own kernels over the CUDA driver API (libcuda.so.1), results compared bit by bit; "
    "ClusterMAX silent-data-corruption test, facts/health.md sections 0 and 3",
    "one second and 1 GiB of memory per GPU, one GPU after the other",
    {"active", "limits"},
    judge,
    Resource::gpu,
    Locality::device_local,
    hours(24),
    Gate::advisory,
    CheckKind::active,
    Tier::light};

}  // namespace tundish::checks
