#include <set>

#include "families/checks/active_parts/findings.hpp"

namespace tundish::checks {
namespace {

/// No link of a node carries more; NVLink 5 has 1.8 TB/s per GPU. Source: nameplates.yaml.
constexpr double most_gbyte_per_s = 20'000;
/// What is asked of it, and must be answered for every GPU.
constexpr std::string_view to_gpu = "host_to_device_memcpy_ce";
constexpr std::string_view from_gpu = "device_to_host_memcpy_ce";
constexpr std::string_view peers = "device_to_device_memcpy_read_ce";

bool is_believable(const tools::CopyMatrix& matrix) {
  for (const auto& row : matrix.gbyte_per_s) {
    for (const auto& rate : row) {
      if (rate && (*rate < 0 || *rate > most_gbyte_per_s)) return false;
    }
  }
  return true;
}

/// GPUs without any rate, by name. A copy has a column for each, the peers' matrix a row.
std::string unmeasured(const CheckSample& sample, const tools::CopyMatrix& matrix) {
  std::set<std::size_t> seen;
  for (std::size_t row = 0; row < matrix.gbyte_per_s.size(); ++row) {
    for (std::size_t column = 0; column < matrix.gbyte_per_s[row].size(); ++column) {
      if (matrix.gbyte_per_s[row][column]) seen.insert(matrix.name == peers ? row : column);
    }
  }
  std::string out;
  for (std::size_t gpu = 0; gpu < gpus_of(sample); ++gpu) {
    if (seen.contains(gpu)) continue;
    out += (out.empty() ? "" : ", ") + gpu_name(sample, static_cast<std::int64_t>(gpu));
  }
  return out;
}

/// One row, a column for each GPU.
void read_copies(const CheckSample& sample, const tools::CopyMatrix& matrix, const char* what,
                 ActiveFindings& found) {
  for (const auto& row : matrix.gbyte_per_s) {
    for (std::size_t gpu = 0; gpu < row.size(); ++gpu) {
      if (!row[gpu]) continue;
      found.floor("copy", gpu_name(sample, static_cast<std::int64_t>(gpu)), mbytes_of(*row[gpu]),
                  what);
    }
  }
}

/// A slow pair tells of two GPUs; the one that is slow with most of its peers is named.
void read_peers(const CheckSample& sample, const tools::CopyMatrix& matrix,
                ActiveFindings& found) {
  const auto& rows = matrix.gbyte_per_s;
  for (std::size_t from = 0; from < rows.size(); ++from) {
    std::vector<double> rates;
    for (const auto& rate : rows[from]) {
      if (rate) rates.push_back(*rate);
    }
    if (rates.empty()) continue;
    std::sort(rates.begin(), rates.end());
    const std::string name = gpu_name(sample, static_cast<std::int64_t>(from));
    found.floor("peer", name, mbytes_of(rates[rates.size() / 2]), "median read from its peers");
  }
}

void read_case(const CheckSample& sample, const ToolRun& run, const tools::CopyMatrix& matrix,
               ActiveFindings& found) {
  if (matrix.status != "Passed") {
    // One GPU has no peer; several must have been measured.
    const bool alone = matrix.status == "Waived" && matrix.name == peers && gpus_of(sample) == 1;
    if (alone) return found.note(matrix.name + " was waived");
    return found.broken(run, matrix.name + ": " + matrix.status + " " + matrix.error);
  }
  if (!is_believable(matrix)) return found.broken(run, matrix.name + " has rates of no link");
  if (const auto missing = unmeasured(sample, matrix); !missing.empty()) {
    found.broken(run, matrix.name + " has no rate of " + missing);
  }
  if (matrix.name == to_gpu) {
    read_copies(sample, matrix, "copy to the GPU", found);
  } else if (matrix.name == from_gpu) {
    read_copies(sample, matrix, "copy from the GPU", found);
  } else if (matrix.name == peers) {
    read_peers(sample, matrix, found);
  }
}

void read_run(const CheckSample& sample, const ToolRun& run, ActiveFindings& found) {
  const auto cases = tools::parse_nvbandwidth(run.out);
  if (!cases) return found.broken(run, cases.error().message());
  if (run.exit_code != 0) found.broken(run, "it ended with a fault");
  for (const std::string_view asked : {to_gpu, from_gpu, peers}) {
    const bool told = std::any_of(cases->begin(), cases->end(),
                                  [&](const auto& matrix) { return matrix.name == asked; });
    if (!told) found.broken(run, "it does not tell of " + std::string(asked));
  }
  for (const auto& matrix : *cases) read_case(sample, run, matrix, found);
}

Verdicts judge(const CheckSample& sample) {
  ActiveFindings found(sample, "nvbandwidth");
  for (const ToolRun* run : found.runs()) {
    if (found.is_readable(*run)) read_run(sample, *run, found);
  }
  if (gpus_of(sample) == 0) found.unseen("how many GPUs the node has is not known");
  return found.take("copies between memory, GPUs and their peers are as fast as they must be");
}

}  // namespace

extern const Check nvbandwidth;
const Check nvbandwidth{
    "nvbandwidth",
    "Copies from memory to every GPU, back, and between GPUs are as fast as the model's limits.",
    "nvbandwidth -j, host_to_device, device_to_host and device_to_device by copy engine; limits "
    "of Azure/azurehpc-health-checks; facts/health.md section 3",
    "about a minute, PCIe and NVLink are busy",
    {"active", "limits", "nameplate"},
    judge,
    Resource::pcie,
    Locality::symptom,
    hours(24),
    Gate::advisory,
    CheckKind::active,
    Tier::light};

}  // namespace tundish::checks
