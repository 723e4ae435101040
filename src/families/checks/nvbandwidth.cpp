#include "families/checks/active_parts/findings.hpp"

namespace tundish::checks {
namespace {

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
    const bool alone = matrix.status == "Waived";  // one GPU has no peer
    if (alone) return found.note(matrix.name + " was waived");
    return found.broken(run, matrix.name + ": " + matrix.status + " " + matrix.error);
  }
  if (matrix.gbyte_per_s.empty()) return found.broken(run, matrix.name + " has no rates");
  if (matrix.name == "host_to_device_memcpy_ce") {
    read_copies(sample, matrix, "copy to the GPU", found);
  } else if (matrix.name == "device_to_host_memcpy_ce") {
    read_copies(sample, matrix, "copy from the GPU", found);
  } else if (matrix.name == "device_to_device_memcpy_read_ce") {
    read_peers(sample, matrix, found);
  }
}

Verdicts judge(const CheckSample& sample) {
  ActiveFindings found(sample, "nvbandwidth");
  for (const ToolRun* run : found.runs()) {
    if (!found.is_readable(*run)) continue;
    const auto cases = tools::parse_nvbandwidth(run->out);
    if (!cases) {
      found.broken(*run, cases.error().message());
      continue;
    }
    if (run->exit_code != 0) found.broken(*run, "it ended with a fault");
    for (const auto& matrix : *cases) read_case(sample, *run, matrix, found);
  }
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
