#pragma once
// What our own GPU probe was asked to do and what it found. Rates are our kernels', not NVIDIA's
// benchmarks': compare them with the node's other GPUs and with the same GPU's earlier ones.
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

struct GpuWorkRequest {
  std::string pci;
  int memory_mib = 1024;
  int memory_passes = 2;
  int matrix_ms = 1000;
  void fields(Fields& f) {
    f(1, "pci", pci, "GPU by PCI address, in any spelling");
    f(2, "memory_mib", memory_mib, "memory to write and read back; less when less is free");
    f(3, "memory_passes", memory_passes, "times, each with other words");
    f(4, "matrix_ms", matrix_ms, "how long the matrix units are kept busy, in milliseconds");
  }
};

struct GpuWork {
  std::string pci;
  int capability = 0;
  int processors = 0;
  std::int64_t memory_mib = 0;
  std::int64_t memory_words_wrong = 0;
  std::int64_t matrix_sums_wrong = 0;
  std::vector<int> processors_wrong;
  std::int64_t memory_mbytes_per_s = 0;
  std::int64_t matrix_gflops = 0;
  std::int64_t to_gpu_mbytes_per_s = 0;
  std::int64_t from_gpu_mbytes_per_s = 0;
  Duration took;
  void fields(Fields& f) {
    f(1, "pci", pci, "GPU that worked");
    f(2, "capability", capability, "compute capability, 90 for 9.0");
    f(3, "processors", processors, "streaming multiprocessors");
    f(4, "memory_mib", memory_mib, "memory that was tested, MiB");
    f(5, "memory_words_wrong", memory_words_wrong, "32-bit words that did not come back");
    f(6, "matrix_sums_wrong", matrix_sums_wrong, "sums of products that were not exact");
    f(7, "processors_wrong", processors_wrong, "processors that computed or read wrong values");
    f(8, "memory_mbytes_per_s", memory_mbytes_per_s,
      "copy within its memory, read plus write, MB/s");
    f(9, "matrix_gflops", matrix_gflops, "half-precision matrix products by mma.sync, Gflop/s");
    f(10, "to_gpu_mbytes_per_s", to_gpu_mbytes_per_s, "from pinned memory of the node, MB/s");
    f(11, "from_gpu_mbytes_per_s", from_gpu_mbytes_per_s, "to pinned memory of the node, MB/s");
    f(12, "took", took, "microseconds in all");
  }
};

}  // namespace tundish
